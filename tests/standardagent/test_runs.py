"""What becomes of a message: Runs from start to end, through the public entry point."""

from typing import Any

import pytest

from agentslot import Module
from agentslot.interaction import InProcessChannel
from agentslot.session import (
    SESSION_STORE,
    Actor,
    ActorKind,
    Commit,
    CommitRequest,
    ErrorKind,
    MemoryStore,
    Message,
    ModelAttempt,
    Role,
    RunFact,
    RunStatus,
    ToolCall,
    ToolResult,
    ToolStatus,
)
from agentslot.standardagent import AgentConfig, new_application
from agentslot.tool import function_tool
from tests.standardagent.agents import (
    ScriptedModel,
    agent,
    answer,
    call,
    calls,
    kinds,
    scripted_application,
)


@function_tool
async def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


async def test_a_message_is_answered() -> None:
    async with agent([answer("Hello.")]) as session:
        result = await session.send_and_wait("Hi")
    assert result.status is RunStatus.COMPLETED
    assert result.text == "Hello."


async def test_a_tool_is_run_and_its_result_goes_back_to_the_model() -> None:
    async with agent([calls(call("add", a=2, b=2)), answer("4")], tools=[add]) as session:
        result = await session.send_and_wait("2+2?")
        request = session.executor.requests[1]
    assert result.text == "4"
    returned = request.inputs[-1]
    assert isinstance(returned, ToolResult)
    assert returned.output == "4"


async def test_every_step_is_a_fact_in_order() -> None:
    async with agent([calls(call("add", a=1, b=2)), answer("3")], tools=[add]) as session:
        await session.send_and_wait("1+2?")
        view = await session.view()
    assert kinds(view.recent_history) == [
        "run:started",
        "message:user",
        "model_attempt:started",
        "model_attempt:succeeded",
        "message:assistant",
        "tool_call",
        "tool_result:succeeded",
        "model_attempt:started",
        "model_attempt:succeeded",
        "message:assistant",
        "run:completed",
    ]


async def test_two_calls_of_one_tool_both_run_and_answer_in_call_order() -> None:
    batch = calls(call("add", a=1, b=1), call("add", a=2, b=2))
    async with agent([batch, answer("done")], tools=[add]) as session:
        await session.send_and_wait("go")
        results = [i for i in session.executor.requests[1].inputs if isinstance(i, ToolResult)]
    assert [r.output for r in results] == ["2", "4"]


async def test_an_unknown_tool_is_an_error_result_and_the_run_goes_on() -> None:
    async with agent([calls(call("subtract", a=1)), answer("sorry")], tools=[add]) as session:
        result = await session.send_and_wait("go")
        returned = session.executor.requests[1].inputs[-1]
    assert result.status is RunStatus.COMPLETED
    assert isinstance(returned, ToolResult)
    assert returned.error is not None
    assert returned.error.code == "tool_not_found"
    assert "add" in returned.error.message


async def test_arguments_that_are_no_object_are_not_run() -> None:
    for arguments in ("[1]", '"abc"', "5", '{"a": 1', '{"a":1} x', '{"a":1,"a":2}'):
        async with agent([calls(call("add", arguments)), answer("ok")], tools=[add]) as session:
            result = await session.send_and_wait("go")
            returned = session.executor.requests[1].inputs[-1]
        assert result.status is RunStatus.COMPLETED
        assert isinstance(returned, ToolResult)
        assert returned.error is not None, arguments
        assert returned.error.code == "invalid_arguments"


async def test_a_truncated_answer_runs_none_of_its_calls() -> None:
    ran: list[int] = []

    @function_tool
    async def note(n: int) -> str:
        """Note a number."""
        ran.append(n)
        return "noted"

    script = [calls(call("note", n=1), call("note", n=2), truncated=True), answer("smaller")]
    async with agent(script, tools=[note]) as session:
        result = await session.send_and_wait("go")
        results = [i for i in session.executor.requests[1].inputs if isinstance(i, ToolResult)]
    assert ran == []
    assert result.status is RunStatus.COMPLETED
    assert [r.error.code for r in results if r.error] == ["output_truncated"] * 2


async def test_a_tool_that_raises_is_an_error_result_without_its_text() -> None:
    @function_tool
    async def broken() -> str:
        """Fail."""
        raise RuntimeError("password=hunter2")

    async with agent([calls(call("broken")), answer("ok")], tools=[broken]) as session:
        result = await session.send_and_wait("go")
        returned = session.executor.requests[1].inputs[-1]
    assert result.status is RunStatus.COMPLETED
    assert isinstance(returned, ToolResult)
    assert returned.status is ToolStatus.FAILED
    assert "hunter2" not in repr(returned)


async def test_a_result_over_the_inline_limit_is_refused_and_the_run_goes_on() -> None:
    @function_tool
    async def flood() -> str:
        """Say much."""
        return "x" * 2000

    config = AgentConfig(tool_keys=("flood",), max_inline_tool_result_bytes=1000)
    async with agent([calls(call("flood")), answer("ok")], tools=[flood], config=config) as session:
        await session.send_and_wait("go")
        returned = session.executor.requests[1].inputs[-1]
    assert isinstance(returned, ToolResult)
    assert returned.error is not None
    assert returned.error.code == "result_too_large"


async def test_a_tool_that_is_not_on_the_allowlist_is_neither_offered_nor_run() -> None:
    config = AgentConfig(tool_keys=())
    async with agent([calls(call("add", a=1, b=1)), answer("ok")], tools=[add], config=config) as s:
        await s.send_and_wait("go")
        request = s.executor.requests[0]
        returned = s.executor.requests[1].inputs[-1]
    assert request.tools == ()
    assert isinstance(returned, ToolResult)
    assert returned.status is ToolStatus.FAILED


async def test_a_failed_model_call_fails_the_run_with_its_code() -> None:
    async with agent([]) as session:
        result = await session.send_and_wait("hi")
    assert result.status is RunStatus.FAILED
    assert result.termination is not None
    assert result.termination.kind is ErrorKind.INTERNAL


async def test_the_token_budget_interrupts_before_the_next_request() -> None:
    config = AgentConfig(tool_keys=("add",), max_tokens_per_run=5)
    script = [calls(call("add", a=1, b=1), tokens=10), answer("never")]
    async with agent(script, tools=[add], config=config) as session:
        result = await session.send_and_wait("go")
        view = await session.view()
    assert result.status is RunStatus.INTERRUPTED
    assert result.termination is not None
    assert result.termination.code == "run_token_budget_exceeded"
    assert "run_budget_exceeded" in kinds(view.recent_history)


async def test_the_attempt_limit_interrupts_before_another_request_is_sent() -> None:
    config = AgentConfig(tool_keys=("add",), max_model_attempts_per_run=1)
    script = [calls(call("add", a=1, b=1)), answer("never")]
    async with agent(script, tools=[add], config=config) as session:
        result = await session.send_and_wait("go")
        view = await session.view()
    assert result.status is RunStatus.INTERRUPTED
    attempts = [f for f in view.recent_history if isinstance(f.payload, ModelAttempt)]
    assert len(attempts) == 2
    assert "run_limit_exceeded" in kinds(view.recent_history)


async def test_a_batch_over_the_tool_call_limit_runs_none_of_it() -> None:
    config = AgentConfig(tool_keys=("add",), max_tool_calls_per_run=1)
    script = [calls(call("add", a=1, b=1), call("add", a=2, b=2))]
    async with agent(script, tools=[add], config=config) as session:
        result = await session.send_and_wait("go")
        view = await session.view()
    assert result.status is RunStatus.INTERRUPTED
    assert not [f for f in view.recent_history if isinstance(f.payload, ToolCall)]


async def test_a_second_message_sees_the_whole_conversation() -> None:
    async with agent([answer("one"), answer("two")]) as session:
        await session.send_and_wait("first")
        await session.send_and_wait("second")
        texts = [i.text for i in session.executor.requests[1].inputs if isinstance(i, Message)]
    assert texts == ["first", "one", "second"]


async def test_a_message_sent_while_a_run_is_active_starts_a_run_of_its_own_afterwards() -> None:
    async with agent([calls(call("gate")), answer("one"), answer("two")], gated=True) as session:
        await session.send("first")
        await session.gate.entered()
        await session.send("second")
        session.gate.open()
        await session.when_idle()
        view = await session.view()
    starts = [
        f
        for f in view.recent_history
        if isinstance(f.payload, RunFact) and f.payload.status is RunStatus.STARTED
    ]
    assert len(starts) == 2
    assert view.queue == ()


async def test_no_crash_can_leave_a_truncated_call_prepared() -> None:
    """A restart runs what is prepared, so such a call never is, at no revision."""
    journals: list[int] = []

    class Watched(MemoryStore):
        async def commit(self, request: CommitRequest) -> Commit:
            commit = await super().commit(request)
            journals.append(len(commit.state.journal))
            return commit

    store = Module("watched", SESSION_STORE.set(Watched()))
    script = [calls(call("add", a=1, b=1), truncated=True), answer("smaller")]
    async with agent(script, tools=[add], store=lambda: store) as session:
        await session.send_and_wait("go")
    assert journals
    assert set(journals) == {0}


def test_a_default_model_that_is_a_mere_name_is_refused_at_once() -> None:
    name: Any = "gpt-5-mini"
    with pytest.raises(TypeError, match=r"ModelConfig\(provider, model\), not 'gpt-5-mini'"):
        new_application("agent", modules=[], default_model=name)


async def test_each_user_of_a_channel_has_a_handle_and_is_on_the_record() -> None:
    ada, bob = (Actor(ActorKind.REMOTE_USER, name) for name in ("ada", "bob"))
    channel = InProcessChannel()
    application = scripted_application(ScriptedModel([answer("1"), answer("2")]), channel)
    async with application.start():
        hers = await channel.create_session(agent="tester", workspace="default", actor=ada)
        await hers.send_and_wait("one")
        his = await channel.resume_session(hers.id, actor=bob)
        await his.send_and_wait("two")
        forked = await channel.fork_session(hers.id, agent="tester", workspace="default", actor=bob)
        facts = (await forked.view()).recent_history
    said = [(each.actor, each.payload) for each in facts if isinstance(each.payload, Message)]
    assert [actor for actor, message in said if message.role is Role.USER] == [ada, bob]
