"""Arguments that do not fit are refused before anybody is asked about their call."""

from collections.abc import Mapping

import pytest

from agentslot import Module
from agentslot._json import JsonValue
from agentslot.interaction import Event, SessionEvents
from agentslot.session import ExtensionDescriptor, ToolResult
from agentslot.standardagent import (
    APPROVAL_SERVICE,
    POLICY_GUARDS,
    ApprovalAnswer,
    ApprovalRequest,
    Decision,
    PolicyEffect,
    ToolAction,
)
from agentslot.standardagent.hook import (
    TOOL_PREFLIGHTS,
    TOOL_RESULT_HOOKS,
    ToolPreflightResult,
    ToolPreflightView,
    ToolResultHookResult,
    ToolResultScope,
    ToolResultView,
    ToolScope,
)
from agentslot.tool import (
    TOOL_MIDDLEWARE,
    DeferredTool,
    Effect,
    Tool,
    ToolFailedError,
    ToolInvocation,
    ToolProceed,
    argument_check,
    function_tool,
)
from tests.standardagent.agents import agent, answer, call, calls


@function_tool(effect=Effect.WRITE)
async def double(number: int) -> int:
    """Double a number."""
    return 2 * number


class Everybody:
    """All who are asked about a call, or hear of it; keeps the arguments that they saw."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def modules(self) -> list[Module]:
        return [
            Module(
                "everybody",
                TOOL_PREFLIGHTS.append(_Preflight(self)),
                POLICY_GUARDS.append(_Guard(self)),
                APPROVAL_SERVICE.set(_Approval(self)),
                TOOL_MIDDLEWARE.append(_Middleware(self)),
                TOOL_RESULT_HOOKS.append(_ResultHook(self)),
            )
        ]


class _Part:
    def __init__(self, everybody: Everybody) -> None:
        self._asked = everybody.asked

    def descriptor(self) -> ExtensionDescriptor:
        return ExtensionDescriptor.of("test.everybody", "1")


class _Preflight(_Part):
    def scope(self) -> ToolScope:
        return ToolScope()

    async def evaluate(self, view: ToolPreflightView) -> ToolPreflightResult:
        self._asked.append(("preflight", view.arguments))
        return ToolPreflightResult.allow()


class _Guard(_Part):
    async def evaluate(self, action: ToolAction) -> Decision:
        self._asked.append(("guard", action.call.arguments))
        return Decision(PolicyEffect.REQUIRE_APPROVAL, "it writes")


class _Approval(_Part):
    async def decide(self, request: ApprovalRequest) -> ApprovalAnswer:
        self._asked.append(("person", request.action.call.arguments))
        return ApprovalAnswer(approved=True)


class _Middleware(_Part):
    async def invoke(self, invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
        self._asked.append(("middleware", invocation.call.arguments))
        return await proceed()


class _ResultHook(_Part):
    def scope(self) -> ToolResultScope:
        return ToolResultScope()

    async def evaluate(self, view: ToolResultView) -> ToolResultHookResult:
        self._asked.append(("result hook", view.arguments))
        return ToolResultHookResult()


async def test_nobody_is_asked_about_a_call_whose_arguments_do_not_fit() -> None:
    everybody = Everybody()
    good, bad = '{"number": 4}', '{"number": "four"}'
    script = [calls(call("double", bad), call("double", good)), answer("ok")]
    async with agent(script, tools=[double], modules=everybody.modules()) as session:
        async with session.events() as events:
            await session.send_and_wait("go")
            heard = await _until_the_end(events)
        first, second = session.executor.requests[1].inputs[-2:]
        asked = (await session.view()).recent_extension_diagnostics
    assert first.error.code == "invalid_arguments"
    assert first.error.message.startswith("double was not run. The arguments were not accepted")
    assert "You wrote: " + bad in first.error.message
    assert second.output == "8"
    who = ["preflight", "guard", "person", "middleware", "result hook"]
    assert everybody.asked == [(one, good) for one in who]
    assert [one.error_code for one in reversed(asked)] == [
        "tool_preflight_not_applicable",
        "",
        "",
    ]
    assert [event.call.id for event in heard if event.kind == "tool_started"] == [second.call_id]
    finished = [event.call.id for event in heard if event.kind == "tool_finished"]
    assert sorted(finished) == sorted([first.call_id, second.call_id])


async def _until_the_end(events: SessionEvents) -> list[Event]:
    heard: list[Event] = []
    async for event in events:
        heard.append(event)
        if event.kind == "run_finished":
            break
    return heard


class Own:
    """A tool that is no function and checks its arguments itself."""

    definition, effect, parallel_safe = double.definition, Effect.WRITE, False

    def __init__(self, error: Exception) -> None:
        self._error = error

    def check_arguments(self, arguments: Mapping[str, JsonValue], written: str) -> None:
        assert arguments == {"number": 4}
        assert written == '{"number":4}'
        raise self._error

    async def invoke(self, invocation: ToolInvocation) -> ToolResult:
        raise AssertionError("its arguments were refused")


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ToolFailedError("invalid_arguments", "Not four."), "invalid_arguments", "Not four."),
        (RuntimeError("a secret"), "tool_internal", "could not be checked; the log has the cause"),
    ],
)
async def test_a_tool_of_ones_own_checks_its_arguments(
    error: Exception, code: str, words: str
) -> None:
    script = [calls(call("double", '{"number":4}')), answer("ok")]
    async with agent(script, tools=[Own(error)]) as session:
        await session.send_and_wait("go")
        returned = session.executor.requests[1].inputs[-1]
    assert returned.error.code == code
    assert returned.error.message.startswith("double was not run")
    assert returned.error.message.endswith(words)


def test_a_tool_that_stands_for_another_refuses_what_it_refuses() -> None:
    tool: Tool = DeferredTool(double)
    check = argument_check(tool)
    assert check is not None
    check({"number": 4}, "")
    with pytest.raises(ToolFailedError, match="number: input should be a valid integer"):
        check({"number": "four"}, "")
