"""The input gate: may this message be submitted?"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from agentslot import Chain
from agentslot.session import (
    AgentId,
    ClientMessageId,
    ExtensionDecision,
    ExtensionDescriptor,
    InvocationId,
    MessageId,
    MessageInput,
    SessionId,
    WorkspaceId,
)


class InputOperation(StrEnum):
    """What somebody wants to do with a message."""

    SEND = "send"
    STEER = "steer"
    EDIT_QUEUED = "edit_queued"


@dataclass(frozen=True, slots=True)
class InputGateView:
    """A message that is not submitted yet.

    Attributes:
        revision: revision of the commit that records the question.
        previous_input_digest: of an edit, the digest of the content that would be replaced.
    """

    invocation_id: InvocationId
    operation: InputOperation
    session_id: SessionId
    agent: AgentId
    workspace: WorkspaceId
    revision: int
    message_id: MessageId
    client_message_id: ClientMessageId | None
    input: MessageInput
    previous_input_digest: str = ""


@dataclass(frozen=True, slots=True)
class InputGateResult:
    """Accept, with messages of context for the model if need be, or reject with a reason."""

    decision: ExtensionDecision
    reason: str = ""
    context: tuple[MessageInput, ...] = ()

    @classmethod
    def accept(cls, *context: MessageInput, reason: str = "") -> "InputGateResult":
        """Let the message through, unchanged; the model sees the context beside it."""
        return cls(ExtensionDecision.ACCEPT, reason, context)

    @classmethod
    def reject(cls, reason: str) -> "InputGateResult":
        """Refuse the message; the caller reads why."""
        return cls(ExtensionDecision.REJECT, reason)


class InputGate(Protocol):
    """One link of the chain that Send, Steer and EditQueued pass. The first rejection ends it."""

    def descriptor(self) -> ExtensionDescriptor:
        """Which gate this is; asked once, at build time."""
        ...

    async def evaluate(self, view: InputGateView, /) -> InputGateResult:
        """Decide on one message. A failure rejects it.

        Raises:
            InvocationFailure: it cannot be decided, for a reason that may be recorded.
        """
        ...


INPUT_GATES = Chain[InputGate]("hook.input_gate")
