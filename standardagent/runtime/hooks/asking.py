"""Asking a hook: whatever it does, an answer or a recorded failure comes of it."""

import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from agentslot.session import ExtensionStatus, InvocationEnded
from agentslot.standardagent.hook import InvocationFailure
from agentslot.standardagent.runtime.calling import CancelledItself, answer_of
from agentslot.standardagent.runtime.owner import SessionOwner

log = logging.getLogger(__name__)

R = TypeVar("R")

FAILED = InvocationEnded(ExtensionStatus.FAILED, "extension_failed", "the hook failed unexpectedly")
_LATE = InvocationEnded(
    ExtensionStatus.FAILED, "extension_deadline_exceeded", "the hook took too long"
)
_CANCELLED = InvocationEnded(
    ExtensionStatus.FAILED, "extension_failed", "the hook cancelled itself"
)


async def call(
    owner: SessionOwner, name: str, evaluate: Callable[[], Awaitable[R]], *, what: str = "hook"
) -> R | InvocationEnded:
    """Ask a hook and return what it returns, or how it failed."""
    try:
        return await answer_of(owner, f"{what} {name}", evaluate)
    except InvocationFailure as failure:
        return InvocationEnded(failure.status, failure.code, failure.reason)
    except Exception as error:
        log.exception("%s %s failed", what, name)
        if isinstance(error, TimeoutError):
            return _LATE
        return _CANCELLED if isinstance(error, CancelledItself) else FAILED
