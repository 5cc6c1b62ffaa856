"""What a tool or a component leaves behind in its task harms neither its Run nor anybody else."""

import asyncio  # noqa: TID251  # a native cancellation is what is left behind
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest

from agentslot import Module
from agentslot.interaction import InProcessChannel
from agentslot.session import ClassifiedError, RunStatus
from agentslot.standardagent import (
    AGENT_LOOP,
    COMMIT_OBSERVERS,
    POLICY_GUARDS,
    CommitNotice,
    Decision,
    PolicyEffect,
    ToolAction,
)
from agentslot.standardagent.loop import Action, Outcome, RunHandle
from agentslot.tool import Tool, function_tool
from tests.standardagent.agents import (
    Answer,
    ScriptedModel,
    answer,
    call,
    calls,
    scripted_application,
)


def cancels_its_task() -> None:
    """As a timeout of another library does that comes too late."""
    task = asyncio.current_task()
    assert task is not None
    task.cancel()


def enters_a_scope() -> None:
    """As a function does that returns in the middle of an asynchronous generator."""
    anyio.CancelScope().__enter__()


def tool_that(leaves: Callable[[], object]) -> Tool:
    @function_tool
    async def careless() -> int:
        """Leave something behind."""
        leaves()
        return 5

    return careless


class GuardThat:
    def __init__(self, leaves: Callable[[], object]) -> None:
        self._leaves = leaves

    async def evaluate(self, action: ToolAction) -> Decision:
        self._leaves()
        return Decision(PolicyEffect.ALLOW)


SCRIPT = [calls(call("careless")), answer("five"), answer("fine")]


@asynccontextmanager
async def running(
    tool: Tool, *modules: Module, script: Sequence[Answer] = SCRIPT
) -> AsyncGenerator[InProcessChannel]:
    channel = InProcessChannel()
    application = scripted_application(
        ScriptedModel(script), channel, tools=[tool], modules=modules
    )
    with anyio.fail_after(20):
        async with application.start():
            yield channel


async def goes_on(channel: InProcessChannel) -> None:
    """The Run has used what it was given, and other Sessions do not notice."""
    session = await channel.create_session(agent="tester", workspace="default")
    result = await session.send_and_wait("go")
    assert (result.status, result.text) == (RunStatus.COMPLETED, "five")
    other = await channel.create_session(agent="tester", workspace="default")
    assert (await other.send_and_wait("and you?")).text == "fine"


async def test_a_cancellation_that_a_tool_leaves_behind_ends_with_it(
    anyio_backend_name: str,
) -> None:
    if anyio_backend_name == "trio":
        pytest.skip("trio lets nobody cancel a task")
    async with running(tool_that(cancels_its_task)) as channel:
        await goes_on(channel)


async def careless_run(tool: Tool, *modules: Module, is_told: bool) -> None:
    """Runs and stops; an application whose group cannot mend the task is told when it stops."""
    stopped = False
    try:
        async with running(tool, *modules) as channel:
            await goes_on(channel)
            stopped = True
    except* RuntimeError:
        assert is_told
    assert stopped


async def test_a_scope_that_a_tool_leaves_open_stays_with_it(
    anyio_backend_name: str, caplog: pytest.LogCaptureFixture
) -> None:
    await careless_run(tool_that(enters_a_scope), is_told=anyio_backend_name == "asyncio")
    assert "tool careless left a cancel scope that it had entered open" in caplog.text


async def test_a_scope_that_a_component_leaves_open_stays_with_it(
    anyio_backend_name: str, caplog: pytest.LogCaptureFixture
) -> None:
    guard = Module("test.guard", POLICY_GUARDS.append(GuardThat(enters_a_scope)))
    told = anyio_backend_name == "asyncio"
    await careless_run(tool_that(lambda: None), guard, is_told=told)
    assert "policy guard left a cancel scope that it had entered open" in caplog.text


class LoopThat:
    def __init__(self, leaves: Callable[[], object]) -> None:
        self._leaves = leaves
        self._is_first = True

    async def run(self, run: RunHandle) -> Outcome:
        if self._is_first:
            self._leaves()
        self._is_first = False
        await run.act(Action.REQUEST_MODEL)
        return await run.finish(Outcome.COMPLETED)


async def test_a_scope_that_a_loop_leaves_open_closes_its_session_and_no_other(
    anyio_backend_name: str,
) -> None:
    loop = Module("test.loop", AGENT_LOOP.set(LoopThat(enters_a_scope)))
    stopped = False
    try:
        async with running(tool_that(lambda: None), loop, script=[answer("a"), answer("b")]) as it:
            session = await it.create_session(agent="tester", workspace="default")
            with pytest.raises(ClassifiedError) as caught:
                await session.send_and_wait("go")
            assert caught.value.code == "runtime_closed"
            other = await it.create_session(agent="tester", workspace="default")
            assert (await other.send_and_wait("go")).text == "b"
            stopped = True
    except* RuntimeError:
        assert anyio_backend_name == "asyncio"
    assert stopped


class ObserverThat:
    def __init__(self, leaves: Callable[[], object]) -> None:
        self._leaves = leaves
        self.seen: list[int] = []

    async def observe_session_commit(self, notice: CommitNotice) -> None:
        self.seen.append(notice.revision)
        if len(self.seen) == 1:
            self._leaves()


@pytest.mark.parametrize("leaves", [cancels_its_task, enters_a_scope])
async def test_what_an_observer_leaves_behind_stops_neither_it_nor_the_agent(
    leaves: Callable[[], object], anyio_backend_name: str
) -> None:
    if anyio_backend_name == "trio" and leaves is cancels_its_task:
        pytest.skip("trio lets nobody cancel a task")
    observer, stopped = ObserverThat(leaves), False
    observed = Module("test.observer", COMMIT_OBSERVERS.append(observer))
    try:
        async with running(tool_that(lambda: None), observed) as channel:
            await goes_on(channel)
            while len(observer.seen) < 3:
                await anyio.lowlevel.checkpoint()
            stopped = True
    except* RuntimeError:
        assert leaves is enters_a_scope
    assert stopped
