"""How a hook fails on purpose."""

from agentslot import AgentSlotError
from agentslot.session import ExtensionStatus, is_safe_line


class InvocationFailure(AgentSlotError):  # noqa: N818 - what the specification of hooks calls it
    """Raised by a hook that cannot answer and wants to say why in words that may be recorded.

    Any other exception is recorded as `failed/extension_failed` without its text, which goes to the
    log alone.

    Attributes:
        status: `failed`, `canceled` or `outcome_unknown`.
        code: a stable snake_case name of the case.
        reason: one safe line of at most 1024 bytes; it is stored and shown.
    """

    def __init__(
        self, code: str, reason: str = "", *, status: ExtensionStatus = ExtensionStatus.FAILED
    ) -> None:
        super().__init__(f"{reason or 'the hook failed'} [{status}/{code}]")
        if status in (
            ExtensionStatus.PREPARED,
            ExtensionStatus.PENDING,
            ExtensionStatus.SUCCEEDED,
        ):
            msg = f"a failure cannot have the status {status}"
            raise ValueError(msg)
        if not code or not is_safe_line(code, 128) or not is_safe_line(reason):
            msg = "a failure needs a code, and code and reason are safe lines"
            raise ValueError(msg)
        self.status = status
        self.code = code
        self.reason = reason
