"""What is recorded of a Run, in which order, and to whom it belongs."""

from collections.abc import AsyncGenerator

import anyio
import pytest

from agentslot import Module
from agentslot.interaction import (
    AnswerApproval,
    InProcessChannel,
    SessionCommand,
    gateway_channel,
)
from agentslot.model import (
    MODEL_EXECUTOR,
    TOKEN_COUNTER,
    AttemptOutcome,
    AttemptRecorder,
    Completed,
    Completion,
    ExecutionCapabilities,
    ModelEvent,
    ModelRequest,
    Reset,
    TextDelta,
    TokenCount,
)
from agentslot.session import (
    Actor,
    ActorKind,
    AttemptStatus,
    MemoryStoreModule,
    ModelConfig,
    RunStatus,
    TextPart,
    ToolStatus,
)
from agentslot.standardagent import (
    AgentConfig,
    ApprovalDeskModule,
    AttemptTrace,
    ModelConfigAudit,
    PolicyModule,
    Preset,
    RunTrace,
    ToolDecision,
    ToolTrace,
    ToolVerdict,
    new_application,
)
from agentslot.tool import Effect, Tool, ToolFailedError, function_tool
from tests.standardagent.agents import agent, answer, call, calls
from tests.standardagent.observe.recording import Recording

ATTEMPT = ["model.attempt.started", "model.attempt.completed"]


@function_tool
async def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@function_tool
async def fail() -> str:
    """Fail."""
    raise ToolFailedError("not_found", "there is nothing")


@function_tool(effect=Effect.WRITE)
async def write() -> str:
    """Write a file."""
    return "written"


async def test_a_run_with_a_tool_is_traced_from_start_to_end() -> None:
    recording = Recording()
    script = [calls(call("add", a=2, b=2)), answer("4")]
    async with agent(script, tools=[add], modules=[recording.module()]) as session:
        await session.send_and_wait("2 + 2?")
    assert recording.kinds == [
        "runtime.opened",
        "run.started",
        *ATTEMPT,
        "tool.started",
        "tool.completed",
        *ATTEMPT,
        "run.completed",
        "runtime.closed",
    ]


async def test_records_name_the_session_the_run_the_step_the_attempt_and_the_call() -> None:
    recording = Recording()
    script = [calls(call("add", a=2, b=2)), answer("4")]
    async with agent(script, tools=[add], modules=[recording.module()]) as session:
        await session.send_and_wait("2 + 2?")
        requests = session.executor.requests
        result = (await session.view()).recent_history
    assert {r.session_id for r in recording.traces} == {session.id}
    assert {r.agent for r in recording.traces} == {"tester"}
    runs = [r for r in recording.traces if isinstance(r, RunTrace)]
    assert {r.run_id for r in runs} == {requests[0].run_id}
    assert runs[-1].actor == Actor(ActorKind.AGENT, "tester")
    attempts = [r for r in recording.traces if isinstance(r, AttemptTrace)]
    assert [r.step_id for r in attempts[::2]] == [request.step_id for request in requests]
    assert attempts[0].attempt_id == attempts[1].attempt_id != attempts[2].attempt_id
    (tool,) = recording.completed_tools
    (fact,) = [fact for fact in result if fact.kind == "tool_result"]
    assert (tool.tool_call_id, tool.tool) == (fact.payload.call_id, "add")
    assert tool.status is ToolStatus.SUCCEEDED


async def test_ends_say_how_long_it_took() -> None:
    recording = Recording()
    script = [calls(call("add", a=2, b=2)), answer("4")]
    async with agent(script, tools=[add], modules=[recording.module()]) as session:
        await session.send_and_wait("2 + 2?")
    for record in recording.traces:
        if isinstance(record, RunTrace | AttemptTrace | ToolTrace):
            ended = record.kind.endswith("completed")
            assert (record.duration_ms is not None and record.duration_ms >= 0) is ended


async def test_usage_is_recorded_once_for_each_attempt() -> None:
    recording = Recording()
    script = [calls(call("add", a=2, b=2), tokens=7), answer("4", tokens=9)]
    async with agent(script, tools=[add], modules=[recording.module()]) as session:
        await session.send_and_wait("2 + 2?")
    assert [record.usage.total for record in recording.usage] == [7, 9]
    assert {(record.provider, record.model) for record in recording.usage} == {("test", "scripted")}
    assert {record.workspace for record in recording.usage} == {"default"}


async def test_runs_attempts_and_calls_are_counted_by_what_became_of_them() -> None:
    recording = Recording()
    script = [calls(call("add", a=2, b=2), call("fail")), answer("4")]
    async with agent(script, tools=[add, fail], modules=[recording.module()]) as session:
        await session.send_and_wait("2 + 2?")
    attempt = ("agent.model.attempt.total", {"provider": "test", "model": "scripted"})
    assert recording.counts == [
        attempt,
        ("agent.tool.call.total", {"tool": "add", "outcome": "succeeded"}),
        ("agent.tool.call.total", {"tool": "fail", "outcome": "failed"}),
        attempt,
        ("agent.run.total", {"outcome": "completed"}),
    ]


async def test_a_failed_tool_says_its_code() -> None:
    recording = Recording()
    script = [calls(call("fail")), answer("sorry")]
    async with agent(script, tools=[fail], modules=[recording.module()]) as session:
        await session.send_and_wait("go")
    (tool,) = recording.completed_tools
    assert (tool.status, tool.error_code) == (ToolStatus.FAILED, "not_found")


async def test_a_tool_that_the_model_made_up_is_not_named() -> None:
    recording = Recording()
    script = [calls(call("fabricated")), answer("sorry")]
    async with agent(script, tools=[add], modules=[recording.module()]) as session:
        await session.send_and_wait("go")
    (tool,) = recording.completed_tools
    assert (tool.tool, tool.error_code, tool.duration_ms) == ("(unknown)", "tool_not_found", None)


async def test_a_run_cancelled_in_a_tool_ends_call_and_run_and_names_who_did_it() -> None:
    recording = Recording()
    person = Actor(ActorKind.LOCAL_USER, "mo")
    async with agent([calls(call("gate"))], gated=True, modules=[recording.module()]) as session:
        await session.send("go")
        await session.gate.entered()
        await session.access.cancel(SessionCommand(session.id, actor=person))
        await session.when_idle()
    assert recording.kinds[-4:] == [
        "tool.started",
        "tool.completed",
        "run.canceled",
        "runtime.closed",
    ]
    (tool,) = recording.completed_tools
    assert tool.error_code == "canceled"
    assert tool.duration_ms is not None
    end = recording.traces[-2]
    assert isinstance(end, RunTrace)
    assert (end.actor, end.status) == (person, RunStatus.CANCELED)


async def test_a_run_cancelled_in_an_answer_ends_the_attempt_first() -> None:
    recording = Recording()
    script = [answer("slow", hold=anyio.Event())]
    async with agent(script, modules=[recording.module()]) as session:
        await session.send("go")
        await session.executor.streaming.wait()
        await session.cancel()
        await session.when_idle()
    assert recording.kinds[-3:] == ["model.attempt.failed", "run.canceled", "runtime.closed"]
    attempt = recording.traces[-3]
    assert isinstance(attempt, AttemptTrace)
    assert attempt.status is AttemptStatus.CANCELED


async def test_a_failed_run_says_its_code() -> None:
    recording = Recording()
    async with agent([], modules=[recording.module()]) as session:
        await session.send_and_wait("go")
    end = recording.traces[-2]
    assert isinstance(end, RunTrace)
    assert (end.kind, end.error_code) == ("run.failed", "model_execution_failed")
    assert recording.counts[-1] == ("agent.run.total", {"outcome": "failed"})


async def test_a_run_that_a_limit_interrupts_is_a_failed_trace_and_counts_as_interrupted() -> None:
    recording = Recording()
    config = AgentConfig(tool_keys=("add",), max_tool_calls_per_run=1)
    script = [calls(call("add", a=1, b=1), call("add", a=1, b=1))]
    modules = [recording.module()]
    async with agent(script, tools=[add], config=config, modules=modules) as session:
        await session.send_and_wait("go")
    end = recording.traces[-2]
    assert isinstance(end, RunTrace)
    assert (end.kind, end.status) == ("run.failed", RunStatus.INTERRUPTED)
    assert recording.counts[-1] == ("agent.run.total", {"outcome": "interrupted"})


class RetryingModel:
    """Shows a little, takes it back, and answers at the second attempt."""

    def inspect(self, config: ModelConfig) -> ExecutionCapabilities:
        return ExecutionCapabilities(context_window_tokens=1000)

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        return TokenCount(1)

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> "RetryingModel":
        self._events = self._play(recorder)
        return self

    async def _play(self, recorder: AttemptRecorder) -> AsyncGenerator[ModelEvent]:
        broken = await recorder.started()
        yield TextDelta(broken, "He")
        outcome = AttemptOutcome(AttemptStatus.FAILED, error_code="connection_lost")
        await recorder.finished(broken, outcome)
        yield Reset(broken)
        whole = await recorder.started()
        await recorder.finished(whole, AttemptOutcome(AttemptStatus.SUCCEEDED))
        yield Completed(whole, Completion((TextPart("Hello"),)))

    async def receive(self) -> ModelEvent:
        return await anext(self._events)

    async def aclose(self) -> None:
        await self._events.aclose()


async def test_an_attempt_that_is_taken_back_is_traced_as_reset() -> None:
    recording = Recording()
    model = RetryingModel()
    channel = InProcessChannel()
    application = new_application(
        "test",
        modules=[
            MemoryStoreModule(),
            Module("test.model", MODEL_EXECUTOR.set(model), TOKEN_COUNTER.set(model)),
            gateway_channel("test", channel),
            recording.module(),
        ],
        default_model=ModelConfig(provider="test", model="retrying"),
    )
    async with application.start():
        session = await channel.create_session(agent="tester", workspace="default")
        await session.send_and_wait("hi")
    attempts = [r for r in recording.traces if isinstance(r, AttemptTrace)]
    assert [record.kind for record in attempts] == [
        "model.attempt.started",
        "model.attempt.failed",
        "model.attempt.reset",
        "model.attempt.started",
        "model.attempt.completed",
    ]
    assert attempts[2].attempt_id == attempts[0].attempt_id
    assert attempts[1].error_code == "connection_lost"


async def verdicts(*modules: Module, tool: Tool = write) -> list[ToolVerdict]:
    recording = Recording()
    script = [calls(call(tool.definition.name)), answer("ok")]
    modules = (*modules, recording.module())
    async with agent(script, tools=[tool], modules=modules) as session:
        await session.send_and_wait("go")
    decisions = [record for record in recording.audits if isinstance(record, ToolDecision)]
    assert {record.tool for record in decisions} == {tool.definition.name}
    return [record.verdict for record in decisions]


async def test_an_allowed_call_is_audited() -> None:
    assert await verdicts() == [ToolVerdict.ALLOW]


async def test_a_denied_call_is_audited() -> None:
    assert await verdicts(PolicyModule(Preset.READ_ONLY)) == [ToolVerdict.DENY]


async def test_a_call_that_nobody_can_approve_is_audited() -> None:
    decided = await verdicts(PolicyModule(Preset.ASK_FOR_WRITES))
    assert decided == [ToolVerdict.APPROVAL_REQUIRED]


class BrokenGuard:
    async def evaluate(self, action: object) -> object:
        raise RuntimeError("broken")


async def test_a_guard_that_fails_is_audited_as_an_error() -> None:
    guard: object = BrokenGuard()
    assert await verdicts(PolicyModule(guard)) == [ToolVerdict.ERROR]  # type: ignore[arg-type]  # broken


@pytest.mark.parametrize(
    ("approved", "verdict"),
    [(True, ToolVerdict.APPROVED), (False, ToolVerdict.APPROVAL_DENIED)],
)
async def test_what_a_person_said_is_audited_after_the_question(
    approved: bool, verdict: ToolVerdict
) -> None:
    recording = Recording()
    person = Actor(ActorKind.REMOTE_USER, "ada")
    modules = [PolicyModule(Preset.ASK_FOR_WRITES), ApprovalDeskModule(), recording.module()]
    script = [calls(call("write")), answer("ok")]
    async with agent(script, tools=[write], modules=modules) as session:
        stream = await session.access.subscribe(session.id)
        await session.send("go")
        event = await stream.receive()
        while event.kind != "approval_requested":
            event = await stream.receive()
        said = AnswerApproval(session.id, event.digest, approved, actor=person)
        await session.access.answer_approval(said)
        await session.when_idle()
    decisions = [record for record in recording.audits if isinstance(record, ToolDecision)]
    assert [d.verdict for d in decisions] == [ToolVerdict.APPROVAL_REQUIRED, verdict]
    assert [d.actor for d in decisions] == [None, person]
    assert decisions[0].arguments_digest.startswith("sha256:")


async def test_a_switch_of_the_model_is_audited_with_who_did_it() -> None:
    recording = Recording()
    person = Actor(ActorKind.REMOTE_USER, "ada")
    async with agent([], modules=[recording.module()]) as session:
        other = ModelConfig(provider="test", model="other")
        command = SessionCommand(session.id, actor=person)
        await session.access.update_model_config(command, other)
    (audit,) = recording.audits
    assert isinstance(audit, ModelConfigAudit)
    assert audit.actor == person
    assert (audit.previous_model, audit.model) == ("scripted", "other")
