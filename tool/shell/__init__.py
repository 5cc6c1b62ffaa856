"""Running commands as bounded process groups."""

from agentslot.tool.shell.bash import Shell
from agentslot.tool.shell.environment import reduced_environment
from agentslot.tool.shell.output import RollingOutput, readable
from agentslot.tool.shell.process import Finished, Outcome, outcome_of, run_process

__all__ = [
    "Finished",
    "Outcome",
    "RollingOutput",
    "Shell",
    "outcome_of",
    "readable",
    "reduced_environment",
    "run_process",
]
