"""The referee of channels."""

import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.abc import TaskGroup

from agentslot.interaction import ChannelSession, CliChannel, GatewayAccess, InProcessChannel
from agentslot.interaction.cli import Screen
from agentslot.standardagent.conformance import (
    GATEWAY_CHANNEL_SUITE,
    Calling,
    OpenCalling,
    channels,
)
from tests.interaction.terminal import ShownText
from tests.standardagent.conformance.judging import broken_rules


@asynccontextmanager
async def in_process() -> AsyncGenerator[Calling]:
    channel = InProcessChannel()

    async def say(text: str) -> str:
        session = await channel.create_session(agent="caller", workspace="default")
        return (await session.send_and_wait(text)).text

    yield Calling(channel, say)


async def test_the_channel_of_the_own_process_conforms() -> None:
    await GATEWAY_CHANNEL_SUITE.check(in_process)


class Typed:
    """Lines that are typed as soon as the terminal asks for one."""

    def __init__(self) -> None:
        self._lines, self._taken = anyio.create_memory_object_stream[str]()
        self._asks = anyio.Event()

    def __aiter__(self) -> "Typed":
        return self

    async def __anext__(self) -> str:
        self._asks.set()
        return await self._taken.receive()

    async def enter(self, line: str) -> None:
        """Type a line, and wait until the next one is asked for."""
        await self._asks.wait()
        self._asks = anyio.Event()
        await self._lines.send(line)
        await self._asks.wait()

    def close(self) -> None:
        self._lines.close()
        self._taken.close()


@asynccontextmanager
async def at_a_terminal() -> AsyncGenerator[Calling]:
    typed, screen = Typed(), ShownText()
    channel = CliChannel(
        agent="caller",
        workspace="default",
        lines=typed,
        interactive=False,
        screen=Screen(screen),
    )

    async def say(text: str) -> str:
        before = len(screen.getvalue())
        await typed.enter(text)
        return screen.getvalue()[before:]

    try:
        yield Calling(channel, say)
    finally:
        typed.close()


async def test_the_channel_of_a_terminal_conforms() -> None:
    await GATEWAY_CHANNEL_SUITE.check(at_a_terminal)


class Channel:
    """A good channel that does what its caller says, to be made worse."""

    def __init__(self, tasks: TaskGroup) -> None:
        self.tasks = tasks
        self.channel = InProcessChannel()
        self.session: ChannelSession | None = None

    def bind(self, access: GatewayAccess) -> None:
        self.channel.bind(access)

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        self.session = await self.channel.create_session(agent="caller", workspace="default")
        yield

    async def say(self, text: str) -> str:
        assert self.session is not None
        return (await self.session.send_and_wait(text)).text


class Eager(Channel):
    def bind(self, access: GatewayAccess) -> None:
        super().bind(access)
        asked: Any = access.list_sessions
        asked()


class Starting(Channel):
    def bind(self, access: GatewayAccess) -> None:
        super().bind(access)
        self.tasks.start_soon(anyio.sleep_forever)


class Threading(Channel):
    def __init__(self, tasks: TaskGroup) -> None:
        super().__init__(tasks)
        self.end = threading.Event()
        tasks.start_soon(self._ending)

    async def _ending(self) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            self.end.set()

    def bind(self, access: GatewayAccess) -> None:
        super().bind(access)
        threading.Thread(target=self.end.wait, daemon=True).start()


class Rebinding(Channel):
    def bind(self, access: GatewayAccess) -> None:
        self.channel = InProcessChannel()
        self.channel.bind(access)


class Shouting(Channel):
    async def say(self, text: str) -> str:
        return await super().say(text.upper() if text.startswith("hello") else text)


class Mute(Channel):
    async def say(self, text: str) -> str:
        await super().say(text)
        return "thank you"


class Cheerful(Channel):
    async def say(self, text: str) -> str:
        return await super().say(text) or "Done."


class Offended(Channel):
    hurt = False

    async def say(self, text: str) -> str:
        if self.hurt:
            return "no"
        shown = await super().say(text)
        self.hurt = not shown
        return shown


class Lingering(Channel):
    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        async with super().lifespan():
            self.tasks.start_soon(anyio.sleep_forever)
            yield


class Loyal(Channel):
    """Ends when its caller has been answered, or has gone."""

    def __init__(self, tasks: TaskGroup) -> None:
        super().__init__(tasks)
        self._answered = anyio.Event()
        self._answered.set()

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        async with super().lifespan():
            yield
            await self._answered.wait()

    async def say(self, text: str) -> str:
        self._answered = anyio.Event()
        try:
            return await super().say(text)
        finally:
            self._answered.set()


def calling(make: Callable[[TaskGroup], Channel]) -> OpenCalling:
    @asynccontextmanager
    async def opened() -> AsyncGenerator[Calling]:
        async with anyio.create_task_group() as tasks:
            channel = make(tasks)
            say: Callable[[str], Awaitable[str]] = channel.say
            yield Calling(channel, say)
            tasks.cancel_scope.cancel()

    return opened


async def test_a_channel_with_one_session_conforms() -> None:
    await GATEWAY_CHANNEL_SUITE.check(calling(Channel))


BIND = "to_bind_starts_nothing"
ONCE = "it_is_bound_once"
ANSWER = "a_message_gets_its_answer"
FAILED = "a_run_that_has_failed_ends_no_conversation"
LEAVES = "it_leaves_nothing_running"
ENDS = "its_application_ends_in_the_middle_of_a_run"


@pytest.mark.parametrize(
    ("make", "rule", "said"),
    [
        (Eager, BIND, "it called list_sessions when it was bound"),
        (Starting, BIND, "it started a task or a thread when it was bound"),
        (Threading, BIND, "it started a task or a thread when it was bound"),
        (Rebinding, ONCE, "it was bound to two applications"),
        (Shouting, ANSWER, 'came ["HELLO THERE,'),
        (Mute, ANSWER, "the model said 'Done.', and 'thank you' was shown"),
        (Cheerful, FAILED, "a Run that has failed is shown as one that was answered"),
        (Offended, FAILED, "after a Run that had failed, 'no' was shown"),
        (Lingering, LEAVES, "when the application had ended, 1 of its tasks went on"),
        (Loyal, ENDS, "the application does not end"),
    ],
)
async def test_a_broken_channel_fails_the_check_that_is_for_it(
    make: Callable[[TaskGroup], Channel], rule: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if rule == ENDS:
        monkeypatch.setattr(channels, "END_SECONDS", 0.05)
    found = await broken_rules(GATEWAY_CHANNEL_SUITE, calling(make))
    assert rule in found
    assert said in found[rule]
