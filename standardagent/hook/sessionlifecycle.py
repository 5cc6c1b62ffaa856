"""Session lifecycle hooks: what the model should know of a Session that opens, and farewells."""

from dataclasses import dataclass
from typing import Protocol

from agentslot import Chain
from agentslot.session import (
    AgentId,
    ExtensionDescriptor,
    InvocationId,
    LifecyclePhase,
    MessageInput,
    OpenKind,
    SessionId,
    WorkspaceId,
)


@dataclass(frozen=True, slots=True)
class LifecycleScope:
    """Opening, explicit closing, or both."""

    phases: tuple[LifecyclePhase, ...] = (LifecyclePhase.OPEN, LifecyclePhase.CLOSE)

    def __post_init__(self) -> None:
        if not self.phases or len(set(self.phases)) != len(self.phases):
            msg = f"a scope names opening, closing or both, each once, not {self.phases!r}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class SessionLifecycleView:
    """A Session that opens or closes.

    Attributes:
        prepared_revision: revision of the commit that records the question.
        open_kind: how it came to be opened; None when it closes.
    """

    invocation_id: InvocationId
    session_id: SessionId
    agent: AgentId
    workspace: WorkspaceId
    prepared_revision: int
    phase: LifecyclePhase
    open_kind: OpenKind | None = None


@dataclass(frozen=True, slots=True)
class SessionLifecycleResult:
    """User messages for the first request of the next Run; none when the Session closes."""

    context: tuple[MessageInput, ...] = ()
    reason: str = ""


class SessionLifecycle(Protocol):
    """One link of the chain when a Session opens, or is closed by somebody.

    Stopping the application, a lost connection and a crash close nothing in this sense.
    """

    def descriptor(self) -> ExtensionDescriptor:
        """Which hook this is; asked once, at build time."""
        ...

    def scope(self) -> LifecycleScope:
        """Which phases it is asked about; asked once, at build time."""
        ...

    async def evaluate(self, view: SessionLifecycleView, /) -> SessionLifecycleResult:
        """Add context. A failure ends the chain and hinders neither opening nor closing.

        Raises:
            InvocationFailure: it cannot answer, for a reason that may be recorded.
        """
        ...


SESSION_LIFECYCLES = Chain[SessionLifecycle]("hook.session_lifecycle")
