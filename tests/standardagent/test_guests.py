"""What a tool or a component leaves behind in its task harms neither its Run nor anybody else."""

import asyncio  # noqa: TID251  # a native cancellation is what is left behind
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from agentslot import Module
from agentslot.interaction import InProcessChannel
from agentslot.model import AttemptRecorder, ModelRequest, ModelStream
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
from agentslot.standardagent.loop import Action, Outcome, RunHandle, StandardLoop
from agentslot.tool import Tool, function_tool, may_wait
from tests.standardagent.agents import (
    Answer,
    ScriptedModel,
    agent,
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
        await anyio.lowlevel.checkpoint()
        leaves()
        return 5

    return careless


def tool_at_once_that(leaves: Callable[[], object]) -> Tool:
    """It never waits, so it runs in the task of its Run."""

    @function_tool
    async def careless() -> int:
        """Leave something behind."""
        leaves()
        return 5

    assert not may_wait(careless)
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


@pytest.mark.parametrize("tool", [tool_that, tool_at_once_that])
async def test_a_cancellation_that_a_tool_leaves_behind_ends_with_it(
    tool: Callable[[Callable[[], object]], Tool], anyio_backend_name: str
) -> None:
    if anyio_backend_name == "trio":
        pytest.skip("trio lets nobody cancel a task")
    async with running(tool(cancels_its_task)) as channel:
        await goes_on(channel)


async def test_a_cancellation_left_behind_does_not_reach_the_next_tool(
    anyio_backend_name: str,
) -> None:
    if anyio_backend_name == "trio":
        pytest.skip("trio lets nobody cancel a task")
    tasks = list[int]()

    def leaves() -> None:
        tasks.append(anyio.get_current_task().id)
        cancels_its_task()

    script = [calls(call("careless")), calls(call("careless")), answer("five"), answer("fine")]
    async with running(tool_that(leaves), script=script) as channel:
        await goes_on(channel)
    assert len(tasks) == 2


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


@pytest.mark.parametrize("tool", [tool_that, tool_at_once_that])
async def test_a_tool_that_exits_in_a_group_fails_alone(
    tool: Callable[[Callable[[], object]], Tool],
) -> None:
    def exits() -> None:
        raise BaseExceptionGroup("errors of a task group", [SystemExit(3), ValueError("no")])

    async with running(tool(exits)) as channel:
        await goes_on(channel)


async def test_a_tool_that_fails_while_it_is_cancelled_fails_alone() -> None:
    begun = anyio.Event()

    async def fails_to_clean_up() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            raise ValueError("it is gone already")

    @function_tool
    async def careless() -> None:
        """Wait in a task group."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fails_to_clean_up)
            tasks.start_soon(anyio.sleep_forever)
            begun.set()

    async with running(careless, script=[SCRIPT[0], answer("five"), answer("fine")]) as channel:
        session = await channel.create_session(agent="tester", workspace="default")
        await session.send("go")
        await begun.wait()
        await session.cancel()
        await session.when_idle()
        assert (await session.send_and_wait("go on")).text == "five"
        other = await channel.create_session(agent="tester", workspace="default")
        assert (await other.send_and_wait("and you?")).text == "fine"


class EndOfTheProcess(BaseException):
    """As KeyboardInterrupt, which would end the tests too."""


@pytest.mark.parametrize("tool", [tool_that, tool_at_once_that])
async def test_what_ends_the_process_passes_through_the_application_and_ends_it(
    tool: Callable[[Callable[[], object]], Tool],
) -> None:
    def ends() -> None:
        raise EndOfTheProcess

    with pytest.raises(BaseExceptionGroup) as caught:
        async with running(tool(ends)) as channel:
            await goes_on(channel)
    assert caught.group_contains(EndOfTheProcess)


class ModelThatExitsOnce(ScriptedModel):
    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        if not self.requests:
            self.requests.append(request)
            sys.exit(3)
        return super().execute(request, recorder)


async def test_a_model_that_exits_fails_its_run_and_no_other() -> None:
    script = [answer("never given"), answer("fine")]
    async with agent(script, model=ModelThatExitsOnce) as session:
        result = await session.send_and_wait("go")
        assert result.termination.code == "model_execution_failed"
        assert (await session.send_and_wait("go")).text == "fine"


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


class LoopThatEndsAndCancels(StandardLoop):
    async def run(self, run: RunHandle) -> Outcome:
        outcome = await super().run(run)
        cancels_its_task()
        return outcome


async def test_a_cancellation_that_a_loop_leaves_behind_at_its_end_ends_with_its_run(
    anyio_backend_name: str,
) -> None:
    if anyio_backend_name == "trio":
        pytest.skip("trio lets nobody cancel a task")
    waited = list[bool]()

    @function_tool
    async def careless() -> None:
        """Wait."""
        await anyio.lowlevel.checkpoint()
        waited.append(True)

    loop = Module("test.loop", AGENT_LOOP.set(LoopThatEndsAndCancels()))
    script = [answer("five"), calls(call("careless")), answer("fine")]
    async with running(careless, loop, script=script) as channel:
        await goes_on(channel)
    assert waited


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


USER = ContextVar("USER", default="nobody")


async def test_a_tool_finds_the_variables_of_its_run_and_leaves_none_to_the_next(
    anyio_backend_name: str,
) -> None:
    """Tasks are used again; what one guest set in its own is not seen by another."""
    seen = list[str]()

    @function_tool
    async def careless() -> None:
        """Set a variable before it waits and another after."""
        seen.append(USER.get())
        USER.set("somebody")
        await anyio.lowlevel.checkpoint()
        seen.append(USER.get())
        USER.set("somebody else")

    script = [calls(call("careless")), calls(call("careless")), answer("five")]
    USER.set("the user")
    async with running(careless, script=script) as channel:
        session = await channel.create_session(agent="tester", workspace="default")
        await session.send_and_wait("go")
    assert seen == ["the user", "somebody"] * 2
    assert USER.get() == "the user"


async def test_tools_that_run_after_each_other_share_a_task() -> None:
    tasks = list[int]()

    @function_tool
    async def careless() -> None:
        """Say where it runs."""
        await anyio.lowlevel.checkpoint()
        tasks.append(anyio.get_current_task().id)

    script = [calls(call("careless")), calls(call("careless")), answer("five")]
    async with running(careless, script=script) as channel:
        session = await channel.create_session(agent="tester", workspace="default")
        await session.send_and_wait("go")
    first, second = tasks
    assert first == second


async def test_a_tool_that_never_waits_needs_no_task_and_gives_others_their_turn() -> None:
    tasks, turns = set[str | None](), list[int]()

    @function_tool
    async def careless() -> None:
        """Say where it runs, and set a variable."""
        assert USER.get() == "nobody"
        USER.set("somebody")
        tasks.add(anyio.get_current_task().name)

    async def wait_for_turns() -> None:
        while True:
            await anyio.lowlevel.checkpoint()
            turns.append(len(tasks))

    script = [*[calls(call("careless"))] * 20, answer("five")]
    async with running(careless, script=script) as channel, anyio.create_task_group() as others:
        others.start_soon(wait_for_turns)
        session = await channel.create_session(agent="tester", workspace="default")
        result = await session.send_and_wait("go")
        assert tasks == {f"run {result.run_id}"}
        assert len(turns) >= 20
        others.cancel_scope.cancel()


async def test_a_tool_gets_what_it_waited_for_and_may_handle_what_is_raised_there() -> None:
    """A guest's steps run in a context of their own, which it does not notice."""
    outcome = list[object]()

    @function_tool
    async def careless() -> None:
        """Wait, give up waiting, wait in a thread."""
        with anyio.move_on_after(0) as limit:
            await anyio.sleep_forever()
        try:
            with anyio.fail_after(0):
                await anyio.sleep_forever()
        except TimeoutError:
            outcome.extend((limit.cancelled_caught, await anyio.to_thread.run_sync(lambda: 5)))

    script = [calls(call("careless")), answer("five")]
    async with running(careless, script=script) as channel:
        session = await channel.create_session(agent="tester", workspace="default")
        await session.send_and_wait("go")
    assert outcome == [True, 5]


async def test_idle_tasks_end_with_the_application() -> None:
    before = len(anyio.get_running_tasks())
    async with running(tool_that(lambda: None)) as channel:
        await goes_on(channel)
    assert len(anyio.get_running_tasks()) == before
