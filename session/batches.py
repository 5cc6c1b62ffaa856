"""Work for threads in batches: what waits while one is under way goes along with the next."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import anyio
import anyio.to_thread

from agentslot.session.errors import ErrorKind
from agentslot.session.medium import UncertainError

J = TypeVar("J")


class _Ticket(Generic[J]):
    """A job and what became of it."""

    __slots__ = ("called", "error", "is_done", "job")

    def __init__(self, job: J) -> None:
        self.job = job
        self.error: Exception | None = None
        self.is_done = False
        self.called: anyio.Event | None = None

    def call(self) -> None:
        """Wake whoever waits for it."""
        if self.called is not None:
            self.called.set()


class Batches(Generic[J]):
    """Does jobs in some threads, each time as many as wait.

    A job that finds a thread free goes at once and alone. While all are busy jobs gather; whoever
    brought the first of them takes the next thread and the others' jobs along. So the way to a
    thread, and what the work can share, is paid once for many jobs.

    Args:
        work: does some jobs, and says for each whether it failed.
        threads: how many batches may be under way at once; others may share these threads.
    """

    def __init__(
        self,
        work: Callable[[Sequence[J]], Sequence[Exception | None]],
        threads: anyio.CapacityLimiter,
    ) -> None:
        self._work = work
        self._limiter = threads
        self._threads = self._free = int(threads.total_tokens)
        self._waiting = deque[_Ticket[J]]()

    async def do(self, job: J) -> None:
        """Have a job done, in a shielded scope. Raises what the job failed with."""
        ticket = _Ticket(job)
        if self._free:
            self._free -= 1
        else:
            await self._wait(ticket)
        if not ticket.is_done:
            await self._take_along(ticket)
        if ticket.error is not None:
            raise ticket.error

    async def _wait(self, ticket: _Ticket[J]) -> None:
        """Wait until the job is done or a thread is left to it.

        A native `Task.cancel()` passes through shields; the thread must not be lost by it.
        """
        ticket.called = anyio.Event()
        self._waiting.append(ticket)
        try:
            await ticket.called.wait()
        except BaseException:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            elif ticket.called.is_set() and not ticket.is_done:
                self._leave_thread()
            raise

    def _leave_thread(self) -> None:
        if self._waiting:
            self._waiting.popleft().call()
        else:
            self._free += 1

    async def _take_along(self, first: _Ticket[J]) -> None:
        """Do a batch in the thread that is free, then leave the thread to the next."""
        others = -(-len(self._waiting) // self._threads)
        batch = [first, *(self._waiting.popleft() for _ in range(others))]
        errors: Sequence[Exception | None] = [_abandoned()] * len(batch)
        try:
            errors = await anyio.to_thread.run_sync(
                self._work, [ticket.job for ticket in batch], limiter=self._limiter
            )
        except Exception as failure:  # noqa: BLE001  # whatever it is, it is the batch's
            errors = [failure] * len(batch)
        finally:
            self._leave_thread()
            for ticket, error in zip(batch, errors, strict=True):
                ticket.error, ticket.is_done = error, True
                ticket.call()


def _abandoned() -> UncertainError:
    return UncertainError(
        ErrorKind.UNAVAILABLE, "not_durable", "the task that waited for the commit was cancelled"
    )
