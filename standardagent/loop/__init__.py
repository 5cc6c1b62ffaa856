"""The Loop slot: what drives a Run, and the loop that is used unless another is contributed."""

from agentslot.standardagent.loop.contract import (
    AGENT_LOOP,
    Action,
    AgentLoop,
    LoopState,
    Outcome,
    RunHandle,
)
from agentslot.standardagent.loop.standard import StandardLoop, StandardLoopModule

__all__ = [
    "AGENT_LOOP",
    "Action",
    "AgentLoop",
    "LoopState",
    "Outcome",
    "RunHandle",
    "StandardLoop",
    "StandardLoopModule",
]
