"""Loops that do what they may not, and try to hide it: the Run fails, and only it."""

from collections.abc import Awaitable, Callable

import anyio
import pytest

from agentslot import Module
from agentslot.session import ClassifiedError, Fact, ToolError, ToolResult
from agentslot.standardagent import AGENT_LOOP, Action, LoopState, Outcome, RunHandle
from agentslot.tool import Effect, function_tool
from tests.standardagent.agents import agent, answer, call, calls

Drive = Callable[[RunHandle], Awaitable[Outcome]]


class FirstRun:
    """Drives the first Run as it is told, and all others well."""

    def __init__(self, drive: Drive) -> None:
        self._drive: Drive | None = drive

    async def run(self, run: RunHandle) -> Outcome:
        if self._drive is not None:
            drive, self._drive = self._drive, None
            return await drive(run)
        assert await run.act(Action.REQUEST_MODEL) is LoopState.COMPLETED
        return await run.finish(Outcome.COMPLETED)


async def hides_a_wrong_action(run: RunHandle) -> Outcome:
    with pytest.raises(ClassifiedError, match="execute_tools is not legal in state ready"):
        await run.act(Action.EXECUTE_TOOLS)
    return await run.finish(Outcome.COMPLETED)


async def acts_after_the_end(run: RunHandle) -> Outcome:
    outcome = await run.finish(Outcome.COMPLETED)
    with pytest.raises(ClassifiedError, match="after it had finished"):
        await run.act(Action.REQUEST_MODEL)
    return outcome


async def finishes_twice(run: RunHandle) -> Outcome:
    outcome = await run.finish(Outcome.COMPLETED)
    with pytest.raises(ClassifiedError, match="after it had finished"):
        await run.finish(Outcome.FAILED)
    return outcome


async def returns_another_outcome(run: RunHandle) -> Outcome:
    await run.finish(Outcome.COMPLETED)
    return Outcome.CANCELED


async def never_finishes(run: RunHandle) -> Outcome:
    await run.act(Action.REQUEST_MODEL)
    return Outcome.COMPLETED


@pytest.mark.parametrize(
    "drive",
    [
        hides_a_wrong_action,
        acts_after_the_end,
        finishes_twice,
        returns_another_outcome,
        never_finishes,
    ],
)
async def test_a_loop_that_breaks_the_protocol_fails_its_run_whatever_it_says_then(
    drive: Drive,
) -> None:
    loop = Module("test.loop", AGENT_LOOP.set(FirstRun(drive)))
    async with agent([answer("one"), answer("two")], modules=[loop]) as session:
        result = await session.send_and_wait("go")
        ended = result.termination
        assert (result.status, ended.source, ended.code) == (
            "failed",
            "loop",
            "loop_protocol_violation",
        )
        assert (await session.send_and_wait("again")).status == "completed"


async def test_an_action_that_a_loop_leaves_behind_is_cut_short_before_the_run_ends() -> None:
    working, cut_short = anyio.Event(), anyio.Event()

    @function_tool(effect=Effect.READ)
    async def work() -> None:
        """Work for as long as it takes."""
        working.set()
        try:
            await anyio.sleep_forever()
        finally:
            cut_short.set()

    async with anyio.create_task_group() as elsewhere:

        async def leaves(run: RunHandle) -> Outcome:
            await run.act(Action.REQUEST_MODEL)
            elsewhere.start_soon(run.act, Action.EXECUTE_TOOLS)
            await working.wait()
            return Outcome.COMPLETED

        loop = Module("test.loop", AGENT_LOOP.set(FirstRun(leaves)))
        script = [calls(call("work")), answer("two")]
        async with agent(script, tools=[work], modules=[loop]) as session:
            result = await session.send_and_wait("go")
            assert (result.status, result.termination.code) == ("failed", "loop_protocol_violation")
            assert cut_short.is_set()
            facts: list[Fact] = (await session.view()).recent_history
            (returned,) = (f.payload for f in facts if isinstance(f.payload, ToolResult))
            assert isinstance(returned.error, ToolError)
            assert returned.error.code == "canceled"
            assert (await session.send_and_wait("again")).status == "completed"
