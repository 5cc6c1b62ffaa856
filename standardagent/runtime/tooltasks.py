"""The tools of a batch, each in a task of its own."""

import logging
from collections.abc import Awaitable, Callable
from functools import partial

import anyio

from agentslot.standardagent.runtime.guests import Guests

log = logging.getLogger(__name__)


class ToolTasks:
    """Work that runs side by side and is waited for together."""

    def __init__(self, guests: Guests) -> None:
        self._guests = guests
        self._scopes: list[anyio.CancelScope] = []
        self._running = 0
        self._finished = anyio.Event()

    def start(self, work: Callable[[], Awaitable[None]], name: str) -> None:
        """Begin a piece of work; it is expected to keep its errors to itself."""
        scope = anyio.CancelScope()
        self._scopes.append(scope)
        self._running += 1
        self._guests.invite(partial(self._run, work), scope, name)

    def cancel(self) -> None:
        """Cut all of it short."""
        for scope in self._scopes:
            scope.cancel()

    async def wait(self) -> None:
        """Wait until all of it has ended, one way or the other."""
        if self._running:
            await self._finished.wait()

    async def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except Exception:
            log.exception("the Runtime failed while a tool ran")
        finally:
            self._running -= 1
            if not self._running:
                self._finished.set()
