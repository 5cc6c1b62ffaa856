"""Where commands run: on the machine, behind bubblewrap, in containers, or in a place of yours."""

from agentslot.tool.environment.bubblewrap import BubblewrapEnvironment
from agentslot.tool.environment.container import ContainerEnvironment
from agentslot.tool.environment.contract import (
    ENVIRONMENTS,
    Boundary,
    ExecutionEnvironment,
    Launch,
)
from agentslot.tool.environment.local import LocalEnvironment
from agentslot.tool.environment.run import run_in
from agentslot.tool.environment.verify import Report, probe, verify

__all__ = [
    "ENVIRONMENTS",
    "Boundary",
    "BubblewrapEnvironment",
    "ContainerEnvironment",
    "ExecutionEnvironment",
    "Launch",
    "LocalEnvironment",
    "Report",
    "probe",
    "run_in",
    "verify",
]
