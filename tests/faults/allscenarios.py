"""Every scenario by its name."""

from tests.faults import hookscenarios, scenarios
from tests.faults.scenario import SCENARIOS

__all__ = ["SCENARIOS", "hookscenarios", "scenarios"]
