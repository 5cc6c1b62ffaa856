"""What a check is, and how it fails."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

from agentslot._conformance import ConformanceFailure, expect
from agentslot.session.errors import ClassifiedError
from agentslot.session.store import SessionStore

OpenStore = Callable[[], AbstractAsyncContextManager[SessionStore]]
Check = Callable[[OpenStore], Awaitable[None]]


async def expect_refusal(check: str, code: str, attempt: Awaitable[object]) -> ClassifiedError:
    """The refusal with that code, which must come."""
    try:
        answer = await attempt
    except ClassifiedError as error:
        expect(check, error.code == code, f"refused with {error.code!r} instead of {code!r}")
        return error
    raise ConformanceFailure(check, f"should be refused with {code!r}, gave {answer!r:.200}")
