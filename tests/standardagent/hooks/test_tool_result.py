"""Tool result hooks: what they add is shown in the next request, and in no other."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agentslot import Module
from agentslot.session import (
    ContextContribution,
    FileStoreModule,
    Message,
    RunStatus,
    TerminationSource,
    ToolResult,
    ToolStatus,
)
from agentslot.standardagent import PolicyModule, Preset
from agentslot.standardagent.hook import (
    TOOL_RESULT_HOOKS,
    ToolResultHookResult,
    ToolResultScope,
)
from agentslot.tool import Effect, Tool, ToolFailedError, function_tool
from tests.standardagent.agents import agent, answer, call, calls, kinds
from tests.standardagent.hooks.hooking import FAILURES, Answer, Hook, note, told
from tests.standardagent.test_resume import crash, resumed

NOTHING = ToolResultHookResult()


def adds(*texts: str) -> Answer:
    return lambda _: ToolResultHookResult(tuple(note(text) for text in texts))


def hook(key: str, answer: Answer = lambda _: NOTHING, **options: Any) -> Hook:
    return Hook(key, answer, scope=options.pop("scope", ToolResultScope()), **options)


def installed(*hooks: Hook) -> list[Module]:
    return [Module("hooks", *(TOOL_RESULT_HOOKS.append(each) for each in hooks))]


def echo() -> Tool:
    @function_tool(effect=Effect.WRITE)
    async def echo(text: str) -> str:
        """Say it again."""
        if text == "fail":
            raise ToolFailedError("sore_throat", "no voice today")
        return text

    return echo


def texts(request: Any) -> list[str]:
    return [each.text for each in request.inputs if isinstance(each, Message)]


TWO = calls(call("echo", text="x"), call("echo", text="y"))


async def test_what_hooks_add_is_behind_the_results_of_the_next_request_alone() -> None:
    modules = installed(hook("a", adds("n1", "n2")), hook("b", adds("n3")))
    script = [calls(call("echo", text="x")), calls(call("echo", text="y")), answer("ok")]
    async with agent(script, tools=[echo()], modules=modules) as session:
        result = await session.send_and_wait("go")
        first, second, third = session.executor.requests
        view = await session.view()
    assert texts(first) == ["go"]
    assert texts(second) == ["go", "", "n1", "n2", "n3"]
    assert texts(third) == ["go", "", "", "n1", "n2", "n3"]
    assert isinstance(second.inputs[-4], ToolResult)
    assert told(result.diagnostics) == [
        f"{key} succeeded/applied/consumed" for key in ("a", "b", "a", "b")
    ]
    added = [f.payload for f in view.recent_history if isinstance(f.payload, ContextContribution)]
    (one, two, *_) = added
    assert one.source_key == f"hook:a:{result.diagnostics[-1].invocation.id}"
    assert [m.text for m in one.messages] == ["n1", "n2"]
    assert one.step_id == two.step_id == second.step_id
    assert [d.context_bytes > 0 for d in result.diagnostics] == [True] * 4


async def test_a_hook_sees_the_call_and_its_durable_result() -> None:
    watching = hook("a")
    modules = installed(watching)
    async with agent([TWO, answer("ok")], tools=[echo()], modules=modules) as session:
        result = await session.send_and_wait("go")
        request = session.executor.requests[1]
    first, second = watching.views
    assert (first.tool, first.arguments, first.result.output) == ("echo", '{"text": "x"}', '"x"')
    assert second.result.output == '"y"'
    assert first.next_step_id == request.step_id
    assert result.status is RunStatus.COMPLETED


async def test_a_scope_is_of_tools_and_of_results() -> None:
    failed = hook("failed", scope=ToolResultScope(statuses=(ToolStatus.FAILED,)))
    other = hook("other", scope=ToolResultScope(("other",)))
    fine = hook("fine", scope=ToolResultScope(("echo",), (ToolStatus.SUCCEEDED,)))
    batch = calls(call("echo", text="x"), call("echo", text="fail"))
    modules = installed(failed, other, fine)
    async with agent([batch, answer("ok")], tools=[echo()], modules=modules) as session:
        await session.send_and_wait("go")
    assert [view.result.status for view in failed.views] == [ToolStatus.FAILED]
    assert [view.result.status for view in fine.views] == [ToolStatus.SUCCEEDED]
    assert other.views == []


async def test_only_what_a_tool_itself_returned_is_looked_at() -> None:
    watching = hook("a")
    batch = calls(call("unknown"), call("echo", "[]"))
    modules = installed(watching)
    async with agent([batch, answer("ok")], tools=[echo()], modules=modules) as session:
        await session.send_and_wait("go")
    assert watching.views == []
    modules = [*installed(watching), PolicyModule(Preset.READ_ONLY)]
    async with agent([TWO, answer("ok")], tools=[echo()], modules=modules) as session:
        await session.send_and_wait("go")
    assert watching.views == []


@pytest.mark.parametrize(("fails", "status", "code"), FAILURES)
async def test_after_a_failure_the_results_stand_nothing_is_added_and_the_run_is_interrupted(
    fails: Answer, status: str, code: str
) -> None:
    modules = installed(hook("a", adds("n1")), hook("b", fails))
    script = [TWO, answer("later")]
    async with agent(script, tools=[echo()], modules=modules) as session:
        result = await session.send_and_wait("go")
        view = await session.view()
        await session.send_and_wait("go on")
        request = session.executor.requests[1]
    assert result.status is RunStatus.INTERRUPTED
    assert result.termination.source is TerminationSource.EXTENSION
    assert result.termination.code == code
    assert told(result.diagnostics) == [
        "a succeeded/discarded/discarded",
        f"b {status}/applied {code}",
        "a canceled/discarded tool_result_hook_batch_aborted",
        "b canceled/discarded tool_result_hook_batch_aborted",
    ]
    outputs = [f.payload.output for f in view.recent_history if isinstance(f.payload, ToolResult)]
    assert outputs == ['"x"', '"y"']
    assert "n1" not in texts(request)


@pytest.mark.parametrize(
    "nonsense",
    [
        ToolResultHookResult((note("x"),) * 17),
        ToolResultHookResult((note("x" * 256 * 1024),)),
        ToolResultHookResult(("text",)),  # type: ignore[arg-type]  # what a careless hook returns
        ToolResultHookResult((note("half \ud83c a pair"),)),
        ToolResultHookResult((), "two\nlines"),
    ],
)
async def test_a_result_that_breaks_the_contract_is_a_failure(nonsense: object) -> None:
    modules = installed(hook("a", lambda _: nonsense))
    async with agent([TWO], tools=[echo()], modules=modules) as session:
        result = await session.send_and_wait("go")
    assert result.termination.code == "extension_failed"


async def test_cancelling_while_a_hook_is_asked_adds_nothing() -> None:
    held = hook("b", hold=True)
    modules = installed(hook("a", adds("n1")), held)
    async with agent([TWO, answer("ok")], tools=[echo()], modules=modules) as session:
        await session.send("go")
        await held.entered()
        await session.steer("wait for me")
        await session.cancel()
        await session.when_idle()
        view = await session.view()
    assert kinds(view.recent_history)[-1] == "run:canceled"
    assert told(view.recent_extension_diagnostics) == [
        "a succeeded/discarded/discarded",
        "b canceled/applied tool_result_hook_canceled",
        "a canceled/discarded tool_result_hook_canceled",
        "b canceled/discarded tool_result_hook_canceled",
    ]
    assert [item.delivery for item in view.queue] == ["held"]


async def test_a_steer_comes_before_what_hooks_add() -> None:
    modules = installed(hook("a", adds("n1")))
    batch = calls(call("gate"))
    async with agent([batch, answer("ok")], gated=True, modules=modules) as session:
        await session.send("go")
        await session.gate.entered()
        await session.steer("also do X")
        session.gate.open()
        await session.when_idle()
        assert texts(session.executor.requests[1]) == ["go", "", "also do X", "n1"]


async def test_no_hook_is_asked_again_after_a_crash(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    held = hook("b", hold=True)
    modules = installed(hook("a", adds("n1")), held, hook("c"))
    script = [calls(call("echo", text="x"))]
    store = partial(FileStoreModule, folder)
    async with agent(script, tools=[echo()], modules=modules, store=store) as session:
        await session.send("go")
        await held.entered()
        image, session_id = crash(folder), session.id
    again = hook("a"), hook("b"), hook("c")
    modules = installed(*again)
    async with resumed(image, session_id, [answer("ok")], [echo()], modules) as session:
        view = await session.view()
        assert told(view.recent_extension_diagnostics) == [
            "a succeeded/discarded/discarded",
            "b outcome_unknown/discarded hook_outcome_unknown",
            "c canceled/discarded tool_result_hook_batch_aborted",
        ]
        assert kinds(view.recent_history)[-2:] == ["tool_result:succeeded", "run:interrupted"]
        await session.send_and_wait("go on")
        assert "n1" not in texts(session.executor.requests[0])
    assert not any(each.views for each in again)


async def test_a_batch_that_ends_the_run_is_not_looked_at() -> None:
    watching = hook("a", adds("n1"))

    @function_tool
    async def stop() -> ToolResult:
        """Stop."""
        raise AssertionError

    class Stops:
        definition = stop.definition
        parallel_safe = False
        effect = Effect.PURE

        async def invoke(self, invocation: Any) -> ToolResult:
            return ToolResult(invocation.call.id, ToolStatus.SUCCEEDED, '"bye"', terminate=True)

    modules = installed(watching)
    async with agent([calls(call("stop"))], tools=[Stops()], modules=modules) as session:
        result = await session.send_and_wait("go")
    assert result.status is RunStatus.COMPLETED
    assert watching.views == []
