"""Reading History from asynchronous code."""

from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

import anyio.to_thread

from agentslot.session.history import History

P = ParamSpec("P")
T = TypeVar("T")


async def read_history(
    history: History, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
) -> T:
    """Call a function that reads `history`: in a worker thread if facts may lie on a medium.

    Raises:
        SessionDamagedError: a fact that is read cannot be trusted.
        ClassifiedError: `unavailable/unreadable`.
    """
    if not history.stored:
        return function(*args, **kwargs)
    return await anyio.to_thread.run_sync(partial(function, *args, **kwargs))
