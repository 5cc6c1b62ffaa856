"""The agent hook: a plain way to let a Run go on. Use a CompletionGate where it has to be sure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from agentslot import Chain
from agentslot.session import Message, MessageInput, ModelConfig, RunId, SessionId


@dataclass(frozen=True, slots=True)
class AgentHookView:
    """A Run that is about to complete.

    Attributes:
        messages: every message of the Session, oldest first.
    """

    session_id: SessionId
    run_id: RunId
    revision: int
    model_config: ModelConfig
    messages: Sequence[Message]


class AgentHook(Protocol):
    """One link of the chain before a natural completion, asked before the completion gates.

    Best effort: a hook that fails is passed over, and nothing is recorded of it. Do not install the
    same logic as a completion gate too. Only the budgets of the Run end a hook that never stops.
    """

    async def before_run_complete(self, view: AgentHookView, /) -> Sequence[MessageInput]:
        """User messages with which the Run goes on; none to let it complete."""
        ...


AGENT_HOOKS = Chain[AgentHook]("agent.hook")
