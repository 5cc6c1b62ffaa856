"""Running the asynchronous part of a subcommand."""

from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

import anyio

from agentslot import AgentSlotError

T = TypeVar("T")


def run_async(main: Callable[[], Awaitable[T]]) -> T:
    """Run `main` on asyncio and return what it returns.

    Errors arrive as if no task group had wrapped them: a group of one error as that error, and
    whatever else went wrong, a reader that went away or a Ctrl-C before everything else.
    """
    try:
        return anyio.run(main)
    except BaseExceptionGroup as group:
        raise _outermost(group) from None


def _outermost(group: BaseExceptionGroup[BaseException]) -> BaseException:
    for first in (KeyboardInterrupt, BrokenPipeError):
        if found := group.subgroup(first):
            return _leaves(found)[0]
    if isinstance(group, AgentSlotError):
        return group
    leaves = _leaves(group)
    return leaves[0] if len(leaves) == 1 else group


def _leaves(error: BaseException) -> list[BaseException]:
    """The errors inside; a group that is one of our own errors counts as one."""
    if isinstance(error, BaseExceptionGroup) and not isinstance(error, AgentSlotError):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return [leaf for inner in group.exceptions for leaf in _leaves(inner)]
    return [error]
