"""The referee of `gateway.channel/v1`: a channel, and somebody who speaks through it.

```python
from agentslot.standardagent.conformance import GATEWAY_CHANNEL_SUITE, Calling

@asynccontextmanager
async def calling():
    channel = MyChannel(port=0)

    async def say(text):
        async with my_client(channel.port) as client:
            return await client.ask(text)

    yield Calling(channel, say)

async def test_mine_is_a_channel() -> None:
    await GATEWAY_CHANNEL_SUITE.check(calling)
```
"""

import threading
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from typing import Any, cast

import anyio

from agentslot._conformance import Broken, Suite, check, demand
from agentslot.interaction import GatewayAccess, GatewayChannel, gateway_channel
from agentslot.session import Message, Role
from agentslot.standardagent.conformance.players import DONE
from agentslot.standardagent.conformance.stage import Stage, staged

END_SECONDS = 5.0
"""Longest time that an application with the channel may take to end."""

_TEXT = "hello there, naïve 🍸 你好 {1} 'x' \\n"


@dataclass(frozen=True, slots=True)
class Calling:
    """A channel, and a caller.

    Attributes:
        channel: one that belongs to no application yet.
        say: called while an application runs that has the channel. It submits a message as a
            caller would, in a Session that it has opened or in a new one, and returns all that the
            caller was shown until the Run has ended.
    """

    channel: GatewayChannel
    say: Callable[[str], Awaitable[str]]


OpenCalling = Callable[[], AbstractAsyncContextManager[Calling]]
"""Opens a channel; what it returns is entered once, and left when the check is over."""


class _Untouched:
    """Stands in for the access to a Gateway, and notes what is called."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:  # any operation, all of which are refused
        def call(*_: object, **__: object) -> Any:
            self.calls.append(name)
            raise RuntimeError(f"{name} was called before the application had started")

        return call


@check
async def to_bind_starts_nothing(open_calling: OpenCalling) -> None:
    """The channel remembers its access; it works when the application does."""
    async with open_calling() as calling:
        access, before = _Untouched(), _running()
        with suppress(RuntimeError):
            calling.channel.bind(cast("GatewayAccess", access))
        demand(not access.calls, f"it called {', '.join(access.calls)} when it was bound")
        demand(_running() == before, "it started a task or a thread when it was bound")


def _running() -> tuple[int, int]:
    return len(anyio.get_running_tasks()), threading.active_count()


@check
async def it_is_bound_once(open_calling: OpenCalling) -> None:
    """The callers of one application do not get to another one."""
    async with open_calling() as calling:
        calling.channel.bind(cast("GatewayAccess", _Untouched()))
        try:
            calling.channel.bind(cast("GatewayAccess", _Untouched()))
        except Exception:  # noqa: BLE001 - whichever it is, it was refused
            return
        raise Broken("it was bound to two applications")


def _mounted(calling: Calling) -> AbstractAsyncContextManager[Stage]:
    return staged(gateway_channel("subject", calling.channel))


@check
async def a_message_gets_its_answer(open_calling: OpenCalling) -> None:
    """It comes to the model as it was said, and the caller sees what the model says."""
    async with open_calling() as calling, _mounted(calling) as stage:
        shown = await calling.say(_TEXT)
        asked = [request.inputs[-1] for request in stage.model.requests]
        said = [each.text for each in asked if isinstance(each, Message) and each.role is Role.USER]
        demand(said == [_TEXT], f"of {_TEXT!r} came {said}")
        demand(DONE in shown, f"the model said {DONE!r}, and {shown!r} was shown")


@check
async def a_run_that_has_failed_ends_no_conversation(open_calling: OpenCalling) -> None:
    """Whatever the caller is told of it, the next message is answered."""
    async with open_calling() as calling, _mounted(calling):
        told = ""
        with suppress(Exception):
            told = await calling.say("break")
        demand(DONE not in told, "a Run that has failed is shown as one that was answered")
        shown = await calling.say("call look")
        demand(DONE in shown, f"after a Run that had failed, {shown!r} was shown")


@check
async def it_leaves_nothing_running(open_calling: OpenCalling) -> None:
    """What it does, it does while the application runs."""
    async with open_calling() as calling:
        before = len(anyio.get_running_tasks())
        async with _mounted(calling):
            await calling.say("hello")
        left = len(anyio.get_running_tasks()) - before
        demand(left <= 0, f"when the application had ended, {left} of its tasks went on")


@check
async def its_application_ends_in_the_middle_of_a_run(open_calling: OpenCalling) -> None:
    """A caller who waits keeps nobody."""
    async with open_calling() as calling, anyio.create_task_group() as tasks:
        ending, ended = anyio.Event(), anyio.Event()

        async def live() -> None:
            async with _mounted(calling) as stage:
                tasks.start_soon(_say, calling, "wait hello")
                await stage.model.waiting()
                ending.set()
            ended.set()

        tasks.start_soon(live)
        await ending.wait()
        with anyio.move_on_after(END_SECONDS) as limit:
            await ended.wait()
        tasks.cancel_scope.cancel()
        demand(not limit.cancelled_caught, "the application does not end")


async def _say(calling: Calling, text: str) -> None:
    with suppress(Exception):
        await calling.say(text)


GATEWAY_CHANNEL_SUITE: Suite[OpenCalling] = Suite(
    "gateway.channel/v1",
    (
        to_bind_starts_nothing,
        it_is_bound_once,
        a_message_gets_its_answer,
        a_run_that_has_failed_ends_no_conversation,
        it_leaves_nothing_running,
        its_application_ends_in_the_middle_of_a_run,
    ),
)
