"""Guards and approvals: what may run, who is asked, and that nothing runs without them."""

from typing import Any

import anyio
import pytest

from agentslot import Module
from agentslot.interaction import AnswerApproval
from agentslot.session import ClassifiedError, RunStatus, ToolResult
from agentslot.standardagent import (
    POLICY_GUARDS,
    ApprovalDeskModule,
    Decision,
    PolicyEffect,
    PolicyModule,
    Preset,
    ToolAction,
    ToolRules,
)
from agentslot.tool import Effect, function_tool
from tests.standardagent.agents import agent, answer, call, calls


def writer(ran: list[str]) -> Any:
    @function_tool(effect=Effect.WRITE)
    async def write(path: str) -> str:
        """Write a file."""
        ran.append(path)
        return "written"

    return write


async def refused(modules: list[Module], code: str) -> ToolResult:
    """Run one `write` under the given modules; it must not have run."""
    ran: list[str] = []
    script = [calls(call("write", path="a")), answer("ok")]
    async with agent(script, tools=[writer(ran)], modules=modules) as session:
        result = await session.send_and_wait("go")
        returned = session.executor.requests[1].inputs[-1]
    assert ran == []
    assert result.status is RunStatus.COMPLETED
    assert isinstance(returned, ToolResult)
    assert returned.error is not None
    assert returned.error.code == code
    return returned


async def test_a_denied_call_does_not_run_and_the_model_reads_why() -> None:
    returned = await refused([PolicyModule(Preset.READ_ONLY)], "policy_denied")
    assert returned.error is not None
    assert "may only read" in returned.error.message


async def test_without_anybody_to_ask_a_call_that_needs_approval_does_not_run() -> None:
    await refused([PolicyModule(Preset.ASK_FOR_WRITES)], "approval_required")


async def test_a_guard_that_fails_denies() -> None:
    class Broken:
        async def evaluate(self, action: ToolAction) -> Decision:
            raise RuntimeError("no")

    await refused([Module("broken", POLICY_GUARDS.append(Broken()))], "policy_error")


async def test_a_trusted_agent_runs_everything() -> None:
    ran: list[str] = []
    script = [calls(call("write", path="a")), answer("ok")]
    modules = [PolicyModule(Preset.TRUSTED)]
    async with agent(script, tools=[writer(ran)], modules=modules) as session:
        await session.send_and_wait("go")
    assert ran == ["a"]


async def test_an_approved_call_runs_and_a_denied_one_does_not() -> None:
    for approved in (True, False):
        ran: list[str] = []
        script = [calls(call("write", path="a")), answer("ok")]
        modules = [PolicyModule(Preset.ASK_FOR_WRITES), ApprovalDeskModule()]
        async with agent(script, tools=[writer(ran)], modules=modules) as session:
            access = session.access
            stream = await access.subscribe(session.id)
            await session.send("go")
            event = await stream.receive()
            while event.kind != "approval_requested":
                event = await stream.receive()
            view = await session.view()
            assert [a.digest for a in view.approvals] == [event.digest]
            await access.answer_approval(
                AnswerApproval(session.id, event.digest, approved, "because")
            )
            assert (await session.view()).approvals == ()  # nobody is asked twice
            await session.when_idle()
            assert (await session.view()).approvals == ()
        assert ran == (["a"] if approved else [])


async def test_an_answer_under_another_digest_is_refused() -> None:
    modules = [PolicyModule(Preset.ASK_FOR_WRITES), ApprovalDeskModule()]
    script = [calls(call("write", path="a")), answer("ok")]
    async with agent(script, tools=[writer([])], modules=modules) as session:
        stream = await session.access.subscribe(session.id)
        await session.send("go")
        while (await stream.receive()).kind != "approval_requested":
            pass
        with pytest.raises(ClassifiedError) as caught:
            await session.access.answer_approval(
                AnswerApproval(session.id, "sha256:0", approved=True)
            )
        assert caught.value.code == "approval_not_found"
        await session.cancel()
        await session.when_idle()


async def test_cancelling_while_a_call_waits_for_approval_ends_the_run_without_running_it() -> None:
    ran: list[str] = []
    modules = [PolicyModule(Preset.ASK_FOR_WRITES), ApprovalDeskModule()]
    script = [calls(call("write", path="a")), answer("ok")]
    async with agent(script, tools=[writer(ran)], modules=modules) as session:
        stream = await session.access.subscribe(session.id)
        await session.send("go")
        while (await stream.receive()).kind != "approval_requested":
            pass
        await session.cancel()
        await session.when_idle()
        assert (await session.send_and_wait("go on")).status is RunStatus.COMPLETED
    assert ran == []


async def test_rules_decide_by_the_name_of_the_tool() -> None:
    rules = ToolRules(
        {"write": Decision(PolicyEffect.DENY, "not today")}, fallback=Decision(PolicyEffect.ALLOW)
    )
    await refused([PolicyModule(rules)], "policy_denied")


async def test_every_guard_is_asked_and_all_reasons_are_shown_to_the_person() -> None:
    class Asks:
        def __init__(self, reason: str) -> None:
            self.reason = reason

        async def evaluate(self, action: ToolAction) -> Decision:
            return Decision(PolicyEffect.REQUIRE_APPROVAL, self.reason)

    modules = [
        Module("one", POLICY_GUARDS.append(Asks("first"))),
        Module("two", POLICY_GUARDS.append(Asks("second"))),
        ApprovalDeskModule(),
    ]
    script = [calls(call("write", path="a")), answer("ok")]
    async with agent(script, tools=[writer([])], modules=modules) as session:
        stream = await session.access.subscribe(session.id)
        await session.send("go")
        event = await stream.receive()
        while event.kind != "approval_requested":
            event = await stream.receive()
        with anyio.fail_after(20):
            await session.cancel()
            await session.when_idle()
    assert event.reason == "first; second"
