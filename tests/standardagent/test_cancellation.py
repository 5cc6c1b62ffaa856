"""Cancelling: the Run ends canceled, and the History can be sent to any provider."""

from typing import Any

import anyio

from agentslot.session import (
    Fact,
    RunStatus,
    ToolCall,
    ToolResult,
    ToolStatus,
)
from agentslot.tool import function_tool
from tests.standardagent.agents import agent, answer, call, calls, kinds


def assert_every_call_has_one_result(facts: list[Fact]) -> None:
    called = [f.payload.id for f in facts if isinstance(f.payload, ToolCall)]
    answered = [f.payload.call_id for f in facts if isinstance(f.payload, ToolResult)]
    assert answered == called


async def test_a_run_cancelled_while_the_model_streams_leaves_nothing_half_said() -> None:
    hold = anyio.Event()
    async with agent([answer("partial", hold=hold), answer("again")]) as session:
        await session.send("hi")
        await session.executor.streaming.wait()
        await session.cancel()
        await session.when_idle()
        view = await session.view()
        assert kinds(view.recent_history) == [
            "run:started",
            "message:user",
            "model_attempt:started",
            "model_attempt:canceled",
            "run:canceled",
        ]
        result = await session.send_and_wait("go on")
    assert result.text == "again"


async def test_a_tool_cancelled_while_it_runs_gets_a_result_that_says_so() -> None:
    async with agent([calls(call("gate")), answer("next")], gated=True) as session:
        await session.send("go")
        await session.gate.entered()
        await session.cancel()
        await session.when_idle()
        view = await session.view()
        assert_every_call_has_one_result(view.recent_history)
        result = await session.send_and_wait("go on")
    assert result.status is RunStatus.COMPLETED
    assert session.gate.runs == 1


async def test_cancelling_a_batch_keeps_the_results_that_were_there() -> None:
    @function_tool
    async def quick() -> str:
        """Return at once."""
        return "done"

    batch = calls(call("quick"), call("quick"), call("gate"), call("quick"))
    async with agent([batch, answer("ok")], tools=[quick], gated=True) as session:
        await session.send("go")
        await session.gate.entered()
        await session.cancel()
        await session.when_idle()
        view = await session.view()
    results = [f.payload for f in view.recent_history if isinstance(f.payload, ToolResult)]
    assert [r.status for r in results] == [
        ToolStatus.SUCCEEDED,
        ToolStatus.SUCCEEDED,
        ToolStatus.FAILED,
        ToolStatus.FAILED,
    ]
    texts = [r.error.message for r in results if r.error]
    assert "interrupted while it ran" in texts[0]
    assert "not run" in texts[1]


async def test_a_sibling_that_raises_does_not_cancel_the_others() -> None:
    finished: list[str] = []

    @function_tool(parallel_safe=True)
    async def bad() -> str:
        """Raise."""
        raise ValueError("no")

    @function_tool(parallel_safe=True)
    async def good() -> str:
        """Work a while."""
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        finished.append("good")
        return "good"

    script = [calls(call("bad"), call("good")), answer("ok")]
    async with agent(script, tools=[bad, good]) as session:
        result = await session.send_and_wait("go")
        results = [i for i in session.executor.requests[1].inputs if isinstance(i, ToolResult)]
    assert result.status is RunStatus.COMPLETED
    assert finished == ["good"]
    assert [r.status for r in results] == [ToolStatus.FAILED, ToolStatus.SUCCEEDED]


async def test_parallel_safe_calls_run_beside_each_other_and_answer_in_call_order() -> None:
    second_is_done = anyio.Event()

    @function_tool(parallel_safe=True)
    async def first() -> str:
        """Wait for the second."""
        await second_is_done.wait()
        return "first"

    @function_tool(parallel_safe=True)
    async def second() -> str:
        """Let the first go on."""
        second_is_done.set()
        return "second"

    script = [calls(call("first"), call("second")), answer("ok")]
    async with agent(script, tools=[first, second]) as session:
        await session.send_and_wait("go")
        results = [i for i in session.executor.requests[1].inputs if isinstance(i, ToolResult)]
    assert [r.output for r in results] == ['"first"', '"second"']


async def test_a_tool_that_cancels_itself_is_an_error_result_and_the_run_goes_on(
    anyio_backend_name: str,
) -> None:
    @function_tool
    async def suicidal() -> str:
        """Cancel the task that runs it."""
        raise anyio.get_cancelled_exc_class()

    if anyio_backend_name == "trio":
        return  # trio's Cancelled cannot be raised by hand
    script = [calls(call("suicidal"), call("suicidal")), answer("ok")]
    async with agent(script, tools=[suicidal]) as session:
        result = await session.send_and_wait("go")
        returned: Any = session.executor.requests[1].inputs[-1]
    assert result.status is RunStatus.COMPLETED
    assert returned.error.code == "canceled"


async def test_cancelling_twice_is_like_cancelling_once() -> None:
    async with agent([calls(call("gate")), answer("next")], gated=True) as session:
        await session.send("go")
        await session.gate.entered()
        await session.cancel()
        await session.cancel()
        await session.when_idle()
        await session.cancel()
        view = await session.view()
    assert kinds(view.recent_history)[-1] == "run:canceled"
    assert_every_call_has_one_result(view.recent_history)


async def test_nothing_keeps_running_after_a_cancellation() -> None:
    """C04: wherever it hits, no task is left that could spin."""
    hold = anyio.Event()
    script = [answer("slow", hold=hold), calls(call("gate")), answer("ok")]
    async with agent(script, gated=True) as session:
        before = len(anyio.get_running_tasks())
        await session.send("stream")
        await session.executor.streaming.wait()
        await session.cancel()
        await session.when_idle()
        await session.send("tool")
        await session.gate.entered()
        await session.cancel()
        await session.when_idle()
        await anyio.wait_all_tasks_blocked()
        assert len(anyio.get_running_tasks()) == before
