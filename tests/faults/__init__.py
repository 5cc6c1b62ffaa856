"""What survives when something fails."""

from tests.faults import hookscenarios

__all__ = ["hookscenarios"]  # enters its scenarios among the others
