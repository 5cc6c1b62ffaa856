"""Tools in tasks of their own: one that cancels itself, or leaves a scope open, harms nobody else.

The tasks live in the application's task group. A group of its own for each batch would cost two
more rounds of the event loop a turn.
"""

import logging
from collections.abc import Awaitable, Callable

import anyio
from anyio.abc import TaskGroup

log = logging.getLogger(__name__)


class ToolTasks:
    """Work that runs side by side and is waited for together."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._scopes: list[anyio.CancelScope] = []
        self._running = 0
        self._finished = anyio.Event()

    def start(self, work: Callable[[], Awaitable[None]], name: str) -> None:
        """Begin a piece of work; it is expected to keep its errors to itself."""
        scope = anyio.CancelScope()
        self._scopes.append(scope)
        self._running += 1
        self._tasks.start_soon(self._run, scope, work, name=name)

    def cancel(self) -> None:
        """Cut all of it short."""
        for scope in self._scopes:
            scope.cancel()

    async def wait(self) -> None:
        """Wait until all of it has ended, one way or the other."""
        if self._running:
            await self._finished.wait()

    async def _run(self, scope: anyio.CancelScope, work: Callable[[], Awaitable[None]]) -> None:
        try:
            with scope:
                await work()
        except Exception:
            log.exception("the Runtime failed while a tool ran")
        finally:
            self._running -= 1
            if not self._running:
                self._finished.set()
