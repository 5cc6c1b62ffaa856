"""Ctrl-C as a request instead of an exception."""

import signal
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskStatus

Handler = Callable[[], Coroutine[object, object, None]]


@asynccontextmanager
async def interrupts(handle: Handler) -> AsyncGenerator[None]:
    """Call `handle` for each SIGINT that arrives while the block runs.

    Where signals cannot be waited for (on Windows, or outside of the main thread) SIGINT stays what
    it is: a KeyboardInterrupt.
    """
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return
    async with anyio.create_task_group() as tasks:
        await tasks.start(_watch, handle)
        yield
        tasks.cancel_scope.cancel()


async def _watch(
    handle: Handler,
    *,
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    with anyio.open_signal_receiver(signal.SIGINT) as received:
        task_status.started()
        async with anyio.create_task_group() as tasks:
            async for _ in received:
                tasks.start_soon(handle)  # the next one must not wait for this one
