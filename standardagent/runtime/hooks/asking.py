"""Calling a component: whatever it does, an answer or a recorded failure comes of it."""

import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from agentslot.session import ExtensionStatus, InvocationEnded
from agentslot.standardagent.hook import InvocationFailure

log = logging.getLogger(__name__)

R = TypeVar("R")

FAILED = InvocationEnded(ExtensionStatus.FAILED, "extension_failed", "the hook failed unexpectedly")


async def call(
    name: str, evaluate: Callable[[], Awaitable[R]], *, what: str = "hook"
) -> R | InvocationEnded:
    """Call a component in a task of its own and return what it returns, or how it failed.

    In a task of its own it cannot cancel its caller by cancelling itself. The cancellation of the
    caller passes through.
    """
    outcome: list[R | InvocationEnded] = []

    async def attempt() -> None:
        try:
            outcome.append(await evaluate())
        except Exception as error:  # noqa: BLE001 - a component may raise anything
            outcome.append(_failure(f"{what} {name}", error))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(attempt, name=f"{what} {name}")
    if not outcome:
        log.error("%s %s cancelled itself", what, name)
        return InvocationEnded(
            ExtensionStatus.FAILED, "extension_failed", "the hook cancelled itself"
        )
    return outcome[0]


def _failure(name: str, error: Exception) -> InvocationEnded:
    """What is recorded of an exception: its text only if the component meant it to be."""
    if isinstance(error, InvocationFailure):
        return InvocationEnded(error.status, error.code, error.reason)
    log.error("%s failed", name, exc_info=error)
    if isinstance(error, TimeoutError):
        return InvocationEnded(
            ExtensionStatus.FAILED, "extension_deadline_exceeded", "the hook took too long"
        )
    return FAILED
