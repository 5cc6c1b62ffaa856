"""Tool preflight: advice before a batch, durable before anything runs."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio.lowlevel
import pytest

from agentslot import Module
from agentslot.interaction import PendingApproval
from agentslot.session import (
    FileStoreModule,
    RunStatus,
    TerminationSource,
    ToolResult,
    ToolStatus,
)
from agentslot.standardagent import (
    POLICY_GUARDS,
    ApprovalDeskModule,
    Decision,
    PolicyEffect,
    PolicyModule,
    Preset,
)
from agentslot.standardagent.hook import TOOL_PREFLIGHTS, ToolPreflightResult, ToolScope
from agentslot.tool import Effect, Tool, function_tool
from tests.standardagent.agents import agent, answer, call, calls, kinds
from tests.standardagent.hooks.hooking import (
    FAILURES,
    Answer,
    Hook,
    cancels_itself,
    told,
)
from tests.standardagent.test_resume import crash, resumed

ALLOW = ToolPreflightResult.allow()


def preflight(key: str, answer: Answer = lambda _: ALLOW, **options: Any) -> Hook:
    return Hook(key, answer, scope=options.pop("scope", ToolScope()), **options)


def installed(*hooks: Hook) -> list[Module]:
    return [Module("hooks", *(TOOL_PREFLIGHTS.append(hook) for hook in hooks))]


def noting(ran: list[int]) -> Tool:
    @function_tool(effect=Effect.WRITE)
    async def note(n: int) -> str:
        """Note a number."""
        ran.append(n)
        return "noted"

    return note


def results(session: Any) -> list[ToolResult]:
    inputs = session.executor.requests[-1].inputs
    return [each for each in inputs if isinstance(each, ToolResult)]


def codes(returned: Sequence[ToolResult]) -> list[str]:
    return [each.error.code if each.error else each.status.value for each in returned]


async def asked_for_approval(session: Any) -> PendingApproval:
    """The approval that the Session waits for, once it does."""
    approvals: tuple[PendingApproval, ...] = ()
    while not approvals:
        await anyio.lowlevel.checkpoint()
        approvals = (await session.view()).approvals
    return approvals[0]


TWO = calls(call("note", n=1), call("note", n=2))


async def test_an_allowed_call_runs_and_the_hook_has_seen_it_first() -> None:
    ran: list[int] = []
    hook = preflight("one")
    async with agent([TWO, answer("ok")], tools=[noting(ran)], modules=installed(hook)) as session:
        result = await session.send_and_wait("go")
        view = await session.view()
    assert ran == [1, 2]
    assert result.status is RunStatus.COMPLETED
    assert [(v.tool, v.arguments) for v in hook.views] == [
        ("note", '{"n": 1}'),
        ("note", '{"n": 2}'),
    ]
    assert told(view.recent_extension_diagnostics) == ["one succeeded/applied allow"] * 2
    assert told(result.diagnostics) == ["one succeeded/applied allow"] * 2


async def test_calls_come_before_hooks_and_both_keep_their_order() -> None:
    asked: list[str] = []

    def asks(key: str) -> Hook:
        def evaluate(view: Any) -> ToolPreflightResult:
            asked.append(f"{key} {view.arguments}")
            return ALLOW

        return preflight(key, evaluate)

    modules = installed(asks("a"), asks("b"))
    async with agent([TWO, answer("ok")], tools=[noting([])], modules=modules) as session:
        await session.send_and_wait("go")
    assert asked == ['a {"n": 1}', 'b {"n": 1}', 'a {"n": 2}', 'b {"n": 2}']


async def test_a_denied_call_does_not_run_and_ends_its_own_questions_alone() -> None:
    ran: list[int] = []

    def denies_one(view: Any) -> ToolPreflightResult:
        return ToolPreflightResult.deny("not one") if '"n": 1' in view.arguments else ALLOW

    modules = installed(preflight("a", denies_one), preflight("b"))
    async with agent([TWO, answer("ok")], tools=[noting(ran)], modules=modules) as session:
        result = await session.send_and_wait("go")
        returned = results(session)
    assert ran == [2]
    assert codes(returned) == ["preflight_denied", "succeeded"]
    assert returned[0].error is not None
    assert "not one" in returned[0].error.message
    assert told(result.diagnostics) == [
        "a succeeded/applied deny",
        "b canceled/discarded tool_preflight_short_circuited",
        "a succeeded/applied allow",
        "b succeeded/applied allow",
    ]


async def test_a_hook_is_asked_about_the_tools_of_its_scope_alone() -> None:
    elsewhere = preflight("a", scope=ToolScope(("other",)))
    here = preflight("b", scope=ToolScope(("note",)))
    modules = installed(elsewhere, here)
    async with agent([TWO, answer("ok")], tools=[noting([])], modules=modules) as session:
        result = await session.send_and_wait("go")
    assert elsewhere.views == []
    assert len(here.views) == 2
    assert len(result.diagnostics) == 2


async def test_calls_that_cannot_run_are_not_asked_about() -> None:
    hook = preflight("a")
    batch = calls(call("unknown"), call("note", "[]"), call("note", n=1))
    async with agent([batch, answer("ok")], tools=[noting([])], modules=installed(hook)) as session:
        result = await session.send_and_wait("go")
        returned = results(session)
    assert codes(returned) == ["tool_not_found", "invalid_arguments", "succeeded"]
    assert len(hook.views) == 1
    assert told(result.diagnostics) == [
        "a canceled/discarded tool_preflight_not_applicable",
        "a canceled/discarded tool_preflight_not_applicable",
        "a succeeded/applied allow",
    ]


async def test_leave_cannot_override_a_guard() -> None:
    class Denies:
        async def evaluate(self, action: object) -> Decision:
            return Decision(PolicyEffect.DENY, "never")

    ran: list[int] = []
    modules = [*installed(preflight("a")), Module("guard", POLICY_GUARDS.append(Denies()))]
    async with agent([TWO, answer("ok")], tools=[noting(ran)], modules=modules) as session:
        await session.send_and_wait("go")
        assert codes(results(session)) == ["policy_denied"] * 2
    assert ran == []


async def test_a_hook_that_wants_approval_joins_the_reasons_of_the_policy() -> None:
    asking = preflight("a", lambda _: ToolPreflightResult.require_approval("it is late"))
    modules = [*installed(asking), PolicyModule(Preset.ASK_FOR_WRITES), ApprovalDeskModule()]
    script = [calls(call("note", n=1)), answer("ok")]
    ran: list[int] = []
    async with agent(script, tools=[noting(ran)], modules=modules) as session:
        await session.send("go")
        event = await asked_for_approval(session)
        assert event.reason == "it is late; note has the effect write"
        await session.approve(event.digest)
        await session.when_idle()
    assert ran == [1]


@pytest.mark.parametrize(("fails", "status", "code"), FAILURES)
async def test_a_hook_that_fails_lets_nothing_run_and_interrupts_the_run(
    fails: Answer, status: str, code: str
) -> None:
    ran: list[int] = []
    modules = installed(preflight("a"), preflight("b", fails), preflight("c"))
    async with agent([TWO, answer("never")], tools=[noting(ran)], modules=modules) as session:
        result = await session.send_and_wait("go")
        view = await session.view()
    assert ran == []
    assert result.status is RunStatus.INTERRUPTED
    assert result.termination.source is TerminationSource.EXTENSION
    assert result.termination.code == code
    assert told(result.diagnostics) == [
        "a succeeded/discarded allow",
        f"b {status}/applied {code}",
        *["c canceled/discarded tool_preflight_short_circuited"],
        *[f"{key} canceled/discarded tool_preflight_short_circuited" for key in "abc"],
    ]
    done = [f.payload for f in view.recent_history if isinstance(f.payload, ToolResult)]
    assert codes(done) == ["tool_batch_aborted"] * 2
    assert "hunter2" not in repr(view)


async def test_a_hook_that_cancels_itself_has_failed(anyio_backend_name: str) -> None:
    if anyio_backend_name == "trio":
        pytest.skip("trio lets nobody raise its Cancelled")
    modules = installed(preflight("a", cancels_itself))
    async with agent([TWO], tools=[noting([])], modules=modules) as session:
        result = await session.send_and_wait("go")
    assert result.status is RunStatus.INTERRUPTED
    assert told(result.diagnostics)[0] == "a failed/applied extension_failed"


@pytest.mark.parametrize(
    "nonsense",
    [
        ToolPreflightResult.deny(""),
        ToolPreflightResult.deny("two\nlines"),
        ToolPreflightResult.allow("x" * 1025),
        ToolPreflightResult("maybe"),  # type: ignore[arg-type]  # what a careless hook returns
        ToolPreflightResult("allow", 5),  # type: ignore[arg-type]  # the same
        ToolPreflightResult("accept"),  # type: ignore[arg-type]  # the same
    ],
)
async def test_a_result_that_breaks_the_contract_is_a_failure(nonsense: object) -> None:
    modules = installed(preflight("a", lambda _: nonsense))
    async with agent([TWO], tools=[noting([])], modules=modules) as session:
        result = await session.send_and_wait("go")
    assert result.termination.code == "extension_failed"


async def test_cancelling_while_a_hook_is_asked_settles_everything_and_runs_nothing() -> None:
    ran: list[int] = []
    held = preflight("b", hold=True)
    modules = installed(preflight("a"), held, preflight("c"))
    async with agent([TWO, answer("ok")], tools=[noting(ran)], modules=modules) as session:
        await session.send("go")
        await held.entered()
        await session.cancel()
        await session.when_idle()
        view = await session.view()
        held.open()
        assert (await session.send_and_wait("go on")).status is RunStatus.COMPLETED
    assert ran == []
    assert kinds(view.recent_history)[-1] == "run:canceled"
    assert told(view.recent_extension_diagnostics) == [
        "a succeeded/discarded allow",
        "b canceled/applied canceled",
        "c canceled/discarded canceled",
        *[f"{key} canceled/discarded canceled" for key in "abc"],
    ]


async def held_at(folder: Path, ran: list[int], *keys: str, held: str) -> tuple[Path, str]:
    """The disk of a process killed while the hook `held` was asked about the first call."""
    hooks = {key: preflight(key, hold=key == held) for key in keys}
    modules = installed(*hooks.values())
    store = partial(FileStoreModule, folder)
    async with agent([TWO], tools=[noting(ran)], modules=modules, store=store) as session:
        await session.send("go")
        await hooks[held].entered()
        return crash(folder), session.id


async def test_a_hook_that_was_being_asked_at_a_crash_is_never_asked_again(tmp_path: Path) -> None:
    ran: list[int] = []
    image, session_id = await held_at(tmp_path / "sessions", ran, "a", "b", held="b")
    hooks = preflight("a"), preflight("b")
    tools, modules = [noting(ran)], installed(*hooks)
    async with resumed(image, session_id, [answer("ok")], tools, modules) as session:
        await session.when_idle()
        view = await session.view()
    assert ran == []
    assert hooks[0].views == hooks[1].views == []
    assert kinds(view.recent_history)[-1] == "run:interrupted"
    assert view.recent_history[-1].payload.termination.code == "hook_preflight_outcome_unknown"
    assert told(view.recent_extension_diagnostics) == [
        "a succeeded/discarded allow",
        "b outcome_unknown/applied hook_preflight_outcome_unknown",
        "a canceled/discarded tool_preflight_short_circuited",
        "b canceled/discarded tool_preflight_short_circuited",
    ]


async def prepared(folder: Path, ran: list[int], hooks: Sequence[Hook]) -> tuple[Path, str]:
    """The disk of a process that was killed while the first call waited for approval."""
    modules = [*installed(*hooks), PolicyModule(Preset.ASK_FOR_WRITES), ApprovalDeskModule()]
    store = partial(FileStoreModule, folder)
    async with agent([TWO], tools=[noting(ran)], modules=modules, store=store) as session:
        await session.send("go")
        await asked_for_approval(session)
        return crash(folder), session.id


async def test_advice_that_was_given_before_a_restart_still_holds(tmp_path: Path) -> None:
    def denies_one(view: Any) -> ToolPreflightResult:
        return ToolPreflightResult.deny("not one") if '"n": 1' in view.arguments else ALLOW

    ran: list[int] = []
    hooks = preflight("a", denies_one), preflight("b")
    image, session_id = await prepared(tmp_path / "sessions", ran, hooks)
    again = preflight("a"), preflight("b")
    async with resumed(
        image, session_id, [answer("ok")], [noting(ran)], installed(*again)
    ) as session:
        await session.when_idle()
        assert codes(results(session)) == ["preflight_denied", "succeeded"]
    assert ran == [2]
    assert again[0].views == again[1].views == []


@pytest.mark.parametrize(
    "drifted",
    [
        [],
        [preflight("a")],
        [preflight("b"), preflight("a")],
        [preflight("a"), preflight("b", version="2")],
        [preflight("a"), preflight("b"), preflight("c")],
    ],
)
async def test_other_hooks_than_those_that_were_asked_let_nothing_run(
    tmp_path: Path, drifted: Sequence[Hook]
) -> None:
    ran: list[int] = []
    hooks = preflight("a"), preflight("b")
    image, session_id = await prepared(tmp_path / "sessions", ran, hooks)
    tools, modules = [noting(ran)], installed(*drifted)
    async with resumed(image, session_id, [answer("ok")], tools, modules) as session:
        await session.when_idle()
        view = await session.view()
    assert ran == []
    assert view.recent_history[-1].payload.termination.code == "tool_preflight_definition_mismatch"
    assert view.recent_history[-1].payload.status is RunStatus.INTERRUPTED


async def test_calls_that_no_hook_was_asked_about_are_asked_about_after_a_restart(
    tmp_path: Path,
) -> None:
    ran: list[int] = []
    image, session_id = await prepared(tmp_path / "sessions", ran, ())
    hook = preflight("a", lambda _: ToolPreflightResult.deny("no"))
    tools, modules = [noting(ran)], installed(hook)
    async with resumed(image, session_id, [answer("ok")], tools, modules) as session:
        await session.when_idle()
        assert codes(results(session)) == ["preflight_denied"] * 2
    assert ran == []


async def test_a_truncated_answer_asks_nobody() -> None:
    hook = preflight("a")
    batch = calls(call("note", n=1), truncated=True)
    async with agent([batch, answer("ok")], tools=[noting([])], modules=installed(hook)) as session:
        result = await session.send_and_wait("go")
    assert hook.views == []
    assert result.diagnostics == ()


async def test_tools_that_may_run_together_still_do() -> None:
    both = anyio.Event()
    running: list[int] = []

    @function_tool(parallel_safe=True)
    async def meet(n: int) -> str:
        """Wait for the other one."""
        running.append(n)
        if len(running) == 2:
            both.set()
        await both.wait()
        return "met"

    batch = calls(call("meet", n=1), call("meet", n=2))
    modules = installed(preflight("a"))
    async with agent([batch, answer("ok")], tools=[meet], modules=modules) as session:
        await session.send_and_wait("go")
        assert [r.status for r in results(session)] == [ToolStatus.SUCCEEDED] * 2
