"""The contracts of context: a source adds to one request, a compactor shortens it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from agentslot import Chain, One
from agentslot.model import Transcript
from agentslot.session import (
    AgentId,
    MessageInput,
    ModelConfig,
    RunId,
    SessionId,
    StepId,
    WorkspaceId,
)


@dataclass(frozen=True, slots=True)
class ContextInput:
    """The request that is being prepared.

    Attributes:
        inputs: the conversation so far, with what earlier sources of the chain have added.
        limit_tokens: what fits, the model's window or the agent's own limit.
    """

    session_id: SessionId
    agent: AgentId
    workspace: WorkspaceId
    run_id: RunId
    step_id: StepId
    revision: int
    inputs: Transcript
    config: ModelConfig
    limit_tokens: int


class ContextSource(Protocol):
    """Adds messages to one step's request; they are recorded, and shown in that request alone."""

    @property
    def key(self) -> str:
        """Stable and unique in the chain; part of the record."""
        ...

    async def contribute(self, context: ContextInput, /) -> Sequence[MessageInput]:
        """What to show behind the conversation, as user messages; empty for nothing.

        An error fails the Run before anything is sent. When cancelled, let it pass.
        """
        ...


@dataclass(frozen=True, slots=True)
class Compaction:
    """A shorter view of a conversation: its end, and something in place of its beginning.

    Attributes:
        kept_from: index of the first element that stays; it must be a message, since a call or a
            result without what belongs to it is refused by every provider.
        instead: user messages shown in place of what is left out. If there are none, the first
            element that stays must be a user message.
    """

    kept_from: int
    instead: tuple[MessageInput, ...] = ()


class ContextCompactor(Protocol):
    """Shortens a request that does not fit. History itself is never touched."""

    async def compact(self, context: ContextInput, /) -> Compaction:
        """Choose what to leave out; asked once for a request that is over its limit."""
        ...


CONTEXT_SOURCES = Chain[ContextSource]("context.source")
CONTEXT_COMPACTOR = One[ContextCompactor]("context.compactor")
