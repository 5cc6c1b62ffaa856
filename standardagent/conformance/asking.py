"""Asking a component directly: what holds for every call of every component.

Whether it answers or raises is for other checks to judge.
"""

from collections.abc import Awaitable, Callable, Generator
from contextlib import suppress
from time import perf_counter
from typing import Any

import anyio
import anyio.lowlevel

from agentslot._conformance import demand
from agentslot.standardagent.context import ContextInput

CANCEL_SECONDS = 5.0
"""Longest time that a component may take to end when it is cancelled."""

STEP_SECONDS = 0.25
"""Longest time for which a component may keep the event loop."""

_TRIES = 3  # a busy machine may keep anybody, but hardly each time

Ask = Callable[[], Awaitable[Any]]  # what it answers does not matter here


async def expect_end_when_cancelled(ask: Ask) -> None:
    """Demand that a component ends when it is cancelled while it is asked."""
    scope, ended = anyio.CancelScope(), anyio.Event()

    async def asked() -> None:
        try:
            with scope, suppress(Exception):
                await ask()
        finally:
            ended.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(asked)
        await anyio.lowlevel.checkpoint()
        scope.cancel()
        with anyio.move_on_after(CANCEL_SECONDS) as grace:
            await ended.wait()
        demand(not grace.cancelled_caught, "it goes on long after its cancellation")


async def expect_no_blocking(ask: Ask) -> None:
    """Demand that a component lets others run while it works."""
    times: list[float] = []
    for _ in range(_TRIES):
        steps = _Steps(ask)
        with suppress(Exception):
            await steps
        times.append(steps.longest)
    demand(min(times) < STEP_SECONDS, f"it keeps the event loop for {min(times):.2g} seconds")


async def expect_no_change(context: ContextInput, ask: Ask) -> None:
    """Demand that a component leaves the conversation as it is."""
    before = tuple(context.inputs)
    with suppress(Exception):
        await ask()
    demand(before == tuple(context.inputs), "it has changed the conversation")


class _Steps:
    """Awaits a question and measures its longest step, from one place where it waits to the next.

    Attributes:
        longest: in seconds.
    """

    def __init__(self, ask: Ask) -> None:
        self.longest = 0.0
        self._ask = ask

    def __await__(self) -> Generator[Any, Any, Any]:  # what goes through is the event loop's
        steps = self._ask().__await__()
        go_on: Callable[[Any], Any] = steps.send
        argument: Any = None
        while True:
            began = perf_counter()
            try:
                yielded = go_on(argument)
            except StopIteration as end:
                return end.value
            finally:
                self.longest = max(self.longest, perf_counter() - began)
            try:
                argument, go_on = (yield yielded), steps.send
            except BaseException as error:  # noqa: BLE001 - thrown on into the component
                argument, go_on = error, steps.throw
