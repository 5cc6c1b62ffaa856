"""Every scenario by its name."""

from tests.faults import contextscenarios, goalscenarios, hookscenarios, scenarios
from tests.faults.scenario import SCENARIOS

__all__ = ["SCENARIOS", "contextscenarios", "goalscenarios", "hookscenarios", "scenarios"]
