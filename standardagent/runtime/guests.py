"""Tasks for tools and components, in which they harm nobody else.

They live in the application's task group, since a group of its own for each call would cost two
more rounds of the event loop. So nothing that a guest leaves behind may reach that group: neither a
cancellation of its task, nor a cancel scope that it has entered and not left, as a function does
that returns in the middle of an asynchronous generator.
"""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

log = logging.getLogger(__name__)


class Guests:
    """The tasks of one application in which foreign code runs."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._stopped = anyio.Event()

    def invite(
        self, work: Callable[[], Awaitable[None]], scope: anyio.CancelScope, name: str
    ) -> None:
        """Begin a piece of work that `scope` can cut short and that keeps its errors to itself."""
        self._tasks.start_soon(self._host, work, scope, name, name=name)

    def stop(self) -> None:
        """The application stops: its group may learn what is wrong with their tasks."""
        self._stopped.set()

    async def _host(
        self, work: Callable[[], Awaitable[None]], scope: anyio.CancelScope, name: str
    ) -> None:
        try:
            # The task ends here, so a cancellation of whatever kind has done all that it can.
            with suppress(anyio.get_cancelled_exc_class()), scope:
                await work()
                await anyio.lowlevel.checkpoint()  # where a cancellation that was left behind ends
        except RuntimeError:
            log.exception("%s left a cancel scope that it had entered open; its task is kept", name)
            # On asyncio the end of such a task is an error of its group, which would cancel all
            # others. When the application has stopped, it is told.
            with anyio.CancelScope(shield=True):
                await self._stopped.wait()
