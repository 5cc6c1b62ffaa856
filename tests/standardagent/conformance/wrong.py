"""Ways to do it wrong that every kind of component knows."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.lowlevel

Work = Callable[[Any], Awaitable[Any]]


async def some_rounds() -> None:
    """Of the event loop: others get their turn."""
    for _ in range(50):
        await anyio.lowlevel.checkpoint()


def unready(work: Work) -> Work:
    """Cannot be asked while it is asked."""
    busy = False

    async def ask(about: Any) -> Any:
        nonlocal busy
        if busy:
            raise RuntimeError("busy")
        busy = True
        try:
            await some_rounds()
            return await work(about)
        finally:
            busy = False

    return ask


def stubborn(work: Work) -> Work:
    """Finishes what it has begun, whoever cancels it."""

    async def ask(about: Any) -> Any:
        with anyio.CancelScope(shield=True):
            await some_rounds()
        return await work(about)

    return ask
