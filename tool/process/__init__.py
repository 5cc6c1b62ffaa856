"""Running a program as a bounded process group."""

from agentslot.tool.process.output import DEFAULT_CAPACITY, RollingOutput, readable
from agentslot.tool.process.run import Finished, Outcome, outcome_of, run_process
from agentslot.tool.process.spill import Spill
from agentslot.tool.process.variables import reduced_environment

__all__ = [
    "DEFAULT_CAPACITY",
    "Finished",
    "Outcome",
    "RollingOutput",
    "Spill",
    "outcome_of",
    "readable",
    "reduced_environment",
    "run_process",
]
