"""What is heard of a message: that it is durable, that a Run has started, what became of it."""

from dataclasses import dataclass
from decimal import Decimal

from agentslot.interaction.errors import RunNotCompletedError
from agentslot.session import (
    ExtensionDiagnostic,
    Message,
    MessageId,
    RunId,
    RunStatus,
    RunTermination,
    SessionId,
    TokenUsage,
)


@dataclass(frozen=True, slots=True)
class MessageReceipt:
    """The message is durable. `run_id` is set if it started a Run at once."""

    session_id: SessionId
    message_id: MessageId
    revision: int
    run_id: RunId | None = None


@dataclass(frozen=True, slots=True)
class RunReceipt:
    """A Run has started."""

    session_id: SessionId
    run_id: RunId
    revision: int


@dataclass(frozen=True, slots=True)
class RunResult:
    """What became of a message that started a Run.

    Attributes:
        status: how the Run ended; `completed` is the only success.
        termination: why it did not complete, else None.
        messages: the Run's assistant messages with text, oldest first.
        usage: tokens of all its attempts.
        diagnostics: at most 100 invocations of hooks about this Run and its message, newest first.
        has_more_diagnostics: whether there are more; page on with `extension_diagnostics`.
        cost_usd: what they cost in US dollars, exactly; None if the price of one is not known.
        finish_reason: why the model stopped in its last answer: `stop`, `length` where the output
            limit cut it off, and what else `Completion.finish_reason` says; empty without one.
    """

    session_id: SessionId
    run_id: RunId
    message_id: MessageId
    revision: int
    status: RunStatus
    messages: tuple[Message, ...]
    usage: TokenUsage
    termination: RunTermination | None = None
    diagnostics: tuple[ExtensionDiagnostic, ...] = ()
    has_more_diagnostics: bool = False
    cost_usd: Decimal | None = None
    finish_reason: str = ""

    @property
    def text(self) -> str:
        """Text of the last assistant message, the answer; empty if there is none."""
        return self.messages[-1].text if self.messages else ""

    def raise_for_status(self) -> "RunResult":
        """Return the result itself, if the Run completed.

        Raises:
            RunNotCompletedError: it did not, and this says why.
        """
        if self.termination is not None:
            raise RunNotCompletedError(
                self.termination,
                session_id=self.session_id,
                run_id=self.run_id,
                status=self.status,
            )
        return self
