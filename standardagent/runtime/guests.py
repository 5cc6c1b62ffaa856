"""Tasks for tools and components, in which they harm nobody else.

They live in the application's task group, since a group of its own for each call would cost two
more rounds of the event loop. So nothing that a guest leaves behind may reach that group: neither a
cancellation of its task, nor a cancel scope that it has entered and not left, as a function does
that returns in the middle of an asynchronous generator.

A task costs more than many a tool that runs in it. So one whose guest has left nothing behind waits
for the next guest, which finds the context variables of whoever invited it, as in a new task.
"""

import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import Context, copy_context

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from agentslot.session.record import record
from agentslot.standardagent.runtime.within import within

log = logging.getLogger(__name__)

Work = Callable[[], Coroutine[object, object, None]]

_MOST_IDLE = 64
"""How many tasks wait for guests at most; each takes some 3 KiB."""


@record
class _Guest:
    """A piece of work on its way to a task."""

    work: Work
    scope: anyio.CancelScope
    name: str
    lasts: bool
    context: Context


class _Host:
    """A task that waits for guests."""

    __slots__ = ("_rung", "guest")

    def __init__(self) -> None:
        self.guest: _Guest | None = None
        self._rung = anyio.Event()

    def ring(self, guest: _Guest | None) -> None:
        """Give it its next guest, or send it home."""
        self.guest = guest
        self._rung.set()

    async def rung(self) -> None:
        """Wait for that."""
        await self._rung.wait()


class Guests:
    """The tasks of one application in which foreign code runs."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._idle: list[_Host] = []
        self._stopped = anyio.Event()

    def invite(
        self, work: Work, scope: anyio.CancelScope, name: str, *, lasts: bool = False
    ) -> None:
        """Begin a piece of work that `scope` can cut short and that keeps its errors to itself.

        Work that lasts gets a new task, which has its name, for who looks what is going on.
        """
        self._receive(_Guest(work, scope, name, lasts, copy_context()))

    def stop(self) -> None:
        """The application stops: its group may learn what is wrong with their tasks."""
        self._stopped.set()
        while self._idle:
            self._idle.pop().ring(None)

    def _receive(self, guest: _Guest) -> None:
        if self._idle and not guest.lasts:
            self._idle.pop().ring(guest)
        else:
            name = guest.name if guest.lasts else "guest"
            self._tasks.start_soon(self._host, guest, name=name)

    async def _host(self, guest: _Guest | None) -> None:
        while guest is not None and await self._entertain(guest):
            guest = await self._next_guest()
        with suppress(anyio.get_cancelled_exc_class()):
            await anyio.lowlevel.checkpoint()  # where a cancellation that was left behind ends

    async def _entertain(self, guest: _Guest) -> bool:
        """Run the work; whether its task is as good as new."""
        scope = guest.scope
        try:
            # A cancellation that gets here has done all that it can: the task ends.
            with suppress(anyio.get_cancelled_exc_class()), scope:
                work = guest.work()
                await (work if guest.lasts else within(guest.context, work))
                return not (guest.lasts or scope.cancel_called)
        except RuntimeError:
            log.exception(
                "%s left a cancel scope that it had entered open; its task is kept", guest.name
            )
            # On asyncio the end of such a task is an error of its group, which would cancel all
            # others. When the application has stopped, it is told.
            with anyio.CancelScope(shield=True):
                await self._stopped.wait()
        except Exception:
            # What the scope leaves of a group of errors when it takes the cancellations out of it.
            log.exception("%s failed while it was cancelled", guest.name)
        return False

    async def _next_guest(self) -> _Guest | None:
        """Wait for another guest; None if there will be none."""
        if self._stopped.is_set() or len(self._idle) >= _MOST_IDLE:
            return None
        host = _Host()
        self._idle.append(host)
        try:
            await host.rung()
        except anyio.get_cancelled_exc_class():
            # The last guest has left it behind, or it is the end of the application. The task ends
            # either way, and a guest that was to come finds another.
            if host.guest is not None:
                self._receive(host.guest)
            elif host in self._idle:
                self._idle.remove(host)
            return None
        return host.guest
