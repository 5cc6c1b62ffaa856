"""Every scenario by its name."""

from tests.faults import contextscenarios, hookscenarios, scenarios
from tests.faults.scenario import SCENARIOS

__all__ = ["SCENARIOS", "contextscenarios", "hookscenarios", "scenarios"]
