"""Middleware around tools: in order, once, on the recorded call, and closed when it fails."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, cast

import anyio
import pytest

from agentslot import Module
from agentslot.interaction import InProcessChannel
from agentslot.session import (
    JournalStatus,
    MemoryStoreModule,
    RunStatus,
    ToolCallId,
    ToolResult,
    ToolStatus,
)
from agentslot.standardagent import POLICY_GUARDS, Decision, PolicyEffect, ToolAction
from agentslot.tool import (
    TOOL_MIDDLEWARE,
    Effect,
    ToolInvocation,
    ToolMiddleware,
    ToolMiddlewareError,
    ToolProceed,
    function_tool,
)
from agentslot.tool.middleware import ResultCache, TimeLimit
from tests.standardagent.agents import (
    ScriptedModel,
    agent,
    answer,
    call,
    calls,
    scripted_application,
)

Body = Callable[[ToolInvocation, ToolProceed], Awaitable[object]]


class Doing:
    """A middleware that is one function."""

    def __init__(self, body: Body) -> None:
        self._body = body

    async def invoke(self, invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
        return cast("ToolResult", await self._body(invocation, proceed))


def installed(*middleware: ToolMiddleware) -> list[Module]:
    return [Module("test.middleware", *map(TOOL_MIDDLEWARE.append, middleware))]


def doubling(ran: list[int], effect: Effect = Effect.PURE) -> Any:
    @function_tool(effect=effect)
    async def double(number: int) -> int:
        """Double a number."""
        ran.append(number)
        return 2 * number

    return double


async def through(*middleware: Body) -> tuple[ToolResult, list[int]]:
    """Call `double` with 21 behind the middleware: its result as recorded, and what it ran on."""
    ran: list[int] = []
    modules = installed(*map(Doing, middleware))
    script = [calls(call("double", number=21)), answer("ok")]
    async with agent(script, tools=[doubling(ran)], modules=modules) as session:
        result = await session.send_and_wait("go")
        assert result.status is RunStatus.COMPLETED
        returned = session.executor.requests[1].inputs[-1]
    assert isinstance(returned, ToolResult)
    return returned, ran


def failed_with(result: ToolResult) -> tuple[str, str]:
    assert result.error is not None
    return result.error.code, result.error.message


async def test_the_first_of_the_chain_is_the_outermost_and_the_description_says_so() -> None:
    heard: list[str] = []

    def telling(name: str) -> Body:
        async def tell(invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
            heard.append(f"{name} before {invocation.call.name}")
            result = await proceed()
            heard.append(f"{name} after {result.output}")
            return result

        return tell

    await through(telling("outer"), telling("inner"))
    assert heard == [
        "outer before double",
        "inner before double",
        "inner after 42",
        "outer after 42",
    ]
    modules = [
        Module("limits", TOOL_MIDDLEWARE.append(TimeLimit(60))),
        Module("cache", TOOL_MIDDLEWARE.append(ResultCache())),
    ]
    built = scripted_application(ScriptedModel([]), InProcessChannel(), modules=modules).build()
    slot = next(s for s in built.describe().slots if s.id == "tool.middleware")
    assert [contribution.module for contribution in slot.contributions] == ["limits", "cache"]


async def test_what_a_middleware_makes_of_a_result_is_what_is_recorded() -> None:
    async def louder(invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
        return replace(await proceed(), output='"loud"')

    result, ran = await through(louder)
    assert (result.output, ran) == ('"loud"', [21])


async def test_a_middleware_may_answer_without_the_tool() -> None:
    async def instead(invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
        assert (proceed.definition.name, proceed.effect) == ("double", Effect.PURE)
        return ToolResult.succeeded(invocation.call.id, "known already")

    result, ran = await through(instead)
    assert (result.output, ran) == ('"known already"', [])


@pytest.mark.parametrize("failure", [RuntimeError, SystemExit])
async def test_a_middleware_that_fails_before_the_tool_keeps_it_from_running(
    failure: type[BaseException],
) -> None:
    async def broken(invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
        raise failure("the password is 1234")

    result, ran = await through(broken)
    code, message = failed_with(result)
    assert (code, ran) == ("tool_middleware_failed", [])
    assert "double was not run" in message
    assert "1234" not in message


async def test_one_that_fails_behind_the_tool_does_not_claim_that_nothing_happened() -> None:
    async def broken(invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
        await proceed()
        raise RuntimeError("no")

    result, ran = await through(broken)
    code, message = failed_with(result)
    assert (code, ran) == ("tool_middleware_failed", [21])
    assert "double has run" in message


async def _nothing(invocation: ToolInvocation, proceed: ToolProceed) -> object:
    return await proceed() and None


async def _another_call(invocation: ToolInvocation, proceed: ToolProceed) -> object:
    return replace(await proceed(), call_id=ToolCallId("another"))


async def _unknown(invocation: ToolInvocation, proceed: ToolProceed) -> object:
    return replace(await proceed(), status=ToolStatus.OUTCOME_UNKNOWN)


@pytest.mark.parametrize("body", [_nothing, _another_call, _unknown])
async def test_anything_but_a_result_of_this_call_is_a_failure(body: Body) -> None:
    result, ran = await through(body)
    assert (failed_with(result)[0], ran) == ("tool_middleware_failed", [21])


async def test_a_result_that_a_middleware_made_too_long_is_refused() -> None:
    async def longer(invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
        size = invocation.max_inline_output_bytes
        return ToolResult.succeeded((await proceed()).call_id, "x" * size)

    assert failed_with((await through(longer))[0])[0] == "result_too_large"


async def test_an_outer_middleware_sees_the_failure_of_an_inner_one_as_a_result() -> None:
    seen: list[str] = []

    async def watch(invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
        result = await proceed()
        seen.append(failed_with(result)[0])
        return result

    async def broken(invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
        raise RuntimeError("no")

    await through(watch, broken)
    assert seen == ["tool_middleware_failed"]


async def test_a_tool_runs_once_however_often_a_middleware_goes_on() -> None:
    async def again(invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
        result = await proceed()
        with pytest.raises(ToolMiddlewareError, match="double was not run"):
            await proceed()
        return result

    result, ran = await through(again)
    assert (result.output, ran) == ("42", [21])


async def test_a_call_cannot_be_run_after_its_middleware_has_returned() -> None:
    kept: list[ToolProceed] = []

    async def keeping(invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
        kept.append(proceed)
        return ToolResult.succeeded(invocation.call.id, "later")

    _, ran = await through(keeping)
    with pytest.raises(ToolMiddlewareError):
        await kept[0]()
    assert ran == []


async def test_a_tool_that_a_middleware_leaves_running_is_cut_short() -> None:
    ended: list[str] = []

    @function_tool
    async def endless() -> None:
        """Go on and on."""
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("tool")

    async with anyio.create_task_group() as others:

        async def leaving(invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
            async def run() -> None:
                with pytest.raises(ToolMiddlewareError, match="while it ran"):
                    await proceed()

            others.start_soon(run)
            await anyio.wait_all_tasks_blocked()
            return ToolResult.succeeded(invocation.call.id, "done already")

        script = [calls(call("endless")), answer("ok")]
        modules = installed(Doing(leaving))
        async with agent(script, tools=[endless], modules=modules) as session:
            await session.send_and_wait("go")
            code, message = failed_with(session.executor.requests[1].inputs[-1])
            assert ended == ["tool"]
            assert code == "tool_middleware_failed"
            assert "has run" in message


async def test_the_tool_gets_the_arguments_that_policy_has_seen() -> None:
    async def meddling(invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
        cast("dict[str, object]", invocation.arguments())["number"] = 1000
        return await proceed()

    result, ran = await through(meddling)
    assert (result.output, ran) == ("42", [21])


async def test_policy_has_decided_and_the_call_is_recorded_before_a_middleware_is_asked() -> None:
    seen: list[JournalStatus] = []
    memory = MemoryStoreModule()

    async def look(invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
        state = (await memory.store.load(invocation.session_id)).state
        seen.append(state.journal[invocation.call.id].status)
        return await proceed()

    class OnlySmall:
        async def evaluate(self, action: ToolAction) -> Decision:
            if "99" in action.call.arguments:
                return Decision(PolicyEffect.DENY, "too large")
            return Decision(PolicyEffect.ALLOW)

    guard = Module("test.guard", POLICY_GUARDS.append(OnlySmall()))
    script = [calls(call("double", number=99), call("double", number=1)), answer("ok")]
    ran: list[int] = []
    modules = [*installed(Doing(look)), guard]
    tools = [doubling(ran)]
    async with agent(script, tools=tools, modules=modules, store=lambda: memory) as session:
        await session.send_and_wait("go")
    assert ran == [1]
    assert seen == [JournalStatus.PENDING]


async def test_a_cancellation_passes_through_to_the_tool_and_back() -> None:
    passed: list[str] = []

    async def cleaning(invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
        try:
            return await proceed()
        finally:
            passed.append("middleware")

    script = [calls(call("gate"))]
    modules = installed(Doing(cleaning))
    async with agent(script, gated=True, modules=modules) as session:
        await session.send("go")
        await session.gate.entered()
        await session.cancel()
        await session.when_idle()
        last = (await session.view()).recent_history[-2].payload
    assert passed == ["middleware"]
    assert failed_with(last) == (
        "canceled",
        "gate was interrupted while it ran; a part of its work may be done",
    )


async def test_a_time_limit_ends_a_call_and_the_next_one_runs() -> None:
    script = [calls(call("gate")), calls(call("double", number=2)), answer("ok")]
    limit = TimeLimit(30, by_tool={"gate": 0.01})

    async def inner(invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
        return await proceed()

    modules = installed(limit, Doing(inner))
    async with agent(script, gated=True, tools=[doubling([])], modules=modules) as session:
        result = await session.send_and_wait("go")
        stopped = session.executor.requests[1].inputs[-1]
        doubled = session.executor.requests[2].inputs[-1]
    assert result.text == "ok"
    assert failed_with(stopped)[0] == "timeout"
    assert doubled.output == "4"


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_time_limit_is_positive(seconds: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        TimeLimit(seconds)


async def outputs(tool: Any, cache: ResultCache, *arguments: str) -> list[str]:
    """What a tool gives for these argument texts, one call after the other."""
    script = [calls(call("double", text)) for text in arguments]
    modules = installed(cache)
    async with agent([*script, answer("ok")], tools=[tool], modules=modules) as session:
        await session.send_and_wait("go")
        returned = [request.inputs[-1] for request in session.executor.requests[1:]]
        ids = [result.call_id for result in returned]
        assert len(set(ids)) == len(ids)
    return [result.output or failed_with(result)[0] for result in returned]


async def test_a_pure_call_is_made_once_however_its_arguments_are_spelled() -> None:
    ran: list[int] = []
    cache = ResultCache()
    texts = ['{"number": 4}', '{ "number":4 }', '{"number": 5}', '{"number": 4.0}']
    assert await outputs(doubling(ran), cache, *texts) == ["8", "8", "10", "8"]
    assert ran == [4, 5]
    assert (cache.stats.hits, cache.stats.misses) == (2, 2)


async def test_what_has_effects_is_not_cached_unless_it_is_named() -> None:
    ran: list[int] = []
    await outputs(doubling(ran, Effect.READ), ResultCache(), '{"number": 4}', '{"number": 4}')
    assert ran == [4, 4]
    named = ResultCache(also=["double"])
    await outputs(doubling(ran, Effect.READ), named, '{"number": 5}', '{"number": 5}')
    assert ran == [4, 4, 5]


async def test_failures_are_not_cached_and_the_oldest_result_goes_first() -> None:
    ran: list[int] = []
    cache = ResultCache(max_entries=1)
    bad = '{"number": "x"}'
    assert await outputs(doubling(ran), cache, bad, bad) == ["invalid_arguments"] * 2
    await outputs(doubling(ran), cache, '{"number": 1}', '{"number": 2}', '{"number": 1}')
    assert ran == [1, 2, 1]


async def test_a_session_does_not_find_what_another_one_was_told() -> None:
    ran: list[int] = []
    cache = ResultCache()
    for _ in range(2):
        await outputs(doubling(ran), cache, '{"number": 4}')
    assert ran == [4, 4]


def test_a_cache_has_room() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        ResultCache(max_entries=0)
