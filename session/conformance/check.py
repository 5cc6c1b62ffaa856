"""What a check is, and how it fails."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

from agentslot import AgentSlotError
from agentslot.session.errors import ClassifiedError
from agentslot.session.store import SessionStore

OpenStore = Callable[[], AbstractAsyncContextManager[SessionStore]]
Check = Callable[[OpenStore], Awaitable[None]]


class ConformanceFailure(AgentSlotError):  # noqa: N818  # the name that the specification gives it
    """A component does not do what its contract says.

    Attributes:
        check: name of the check that failed.
        detail: what was expected, and what happened.
    """

    def __init__(self, check: str, detail: str) -> None:
        super().__init__(f"{check}: {detail}")
        self.check = check
        self.detail = detail


def expect(check: str, holds: bool, detail: str) -> None:  # reads like an assertion
    """Fail the check with `detail` if it does not hold."""
    if not holds:
        raise ConformanceFailure(check, detail)


async def expect_refusal(check: str, code: str, attempt: Awaitable[object]) -> ClassifiedError:
    """The refusal with that code, which must come."""
    try:
        answer = await attempt
    except ClassifiedError as error:
        expect(check, error.code == code, f"refused with {error.code!r} instead of {code!r}")
        return error
    raise ConformanceFailure(check, f"should be refused with {code!r}, gave {answer!r}")
