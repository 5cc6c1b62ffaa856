"""Spans and metrics by the conventions for generative AI, read back from the SDK's memory."""

import sys
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import anyio
import pytest
from opentelemetry.context import Context
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanContext, StatusCode

from agentslot import AgentSlotError, Application, Module
from agentslot.model import AttemptOutcome, AttemptRecorder, ModelRequest
from agentslot.model.testing import Script
from agentslot.session import (
    Actor,
    ActorKind,
    AgentId,
    AttemptId,
    Reasoning,
    RunId,
    RunStatus,
    SessionId,
    StepId,
    ToolCallId,
    ToolStatus,
)
from agentslot.standardagent import (
    TRACE_SINKS,
    OpenTelemetryModule,
    RuntimeTrace,
    RunTrace,
    ToolTrace,
    TraceSink,
)
from agentslot.tool import ToolFailedError, function_tool
from tests.standardagent.agents import MODEL, Gate, ScriptedModel, agent, answer, call, calls
from tests.standardagent.test_cost import ANSWER, PASSING
from tests.standardagent.test_cost import run as run_scripts


@function_tool
async def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@function_tool
async def fail() -> str:
    """Fail."""
    raise ToolFailedError("not_found", "there is nothing")


class Telemetry:
    """The module under test and what came out of it."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self._reader = InMemoryMetricReader()
        self.traces = TracerProvider(shutdown_on_exit=False)
        self.traces.add_span_processor(SimpleSpanProcessor(self._exporter))
        meters = MeterProvider([self._reader], shutdown_on_exit=False)
        self.module: Module = OpenTelemetryModule(self.traces, meters)

    @property
    def spans(self) -> Sequence[ReadableSpan]:
        """Ended spans in the order in which they began."""
        spans = self._exporter.get_finished_spans()
        return sorted(spans, key=lambda span: span.start_time or 0)

    def span(self, name: str) -> ReadableSpan:
        (span,) = [span for span in self.spans if span.name == name]
        return span

    def points(self, name: str) -> list[Any]:
        """The data points of one instrument."""
        data = self._reader.get_metrics_data()
        assert data is not None
        return [
            point
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]


def context(span: ReadableSpan) -> SpanContext:
    found: SpanContext | None = span.context
    assert found is not None
    return found


async def test_a_run_is_a_span_with_its_requests_and_tool_calls_below_it() -> None:
    telemetry = Telemetry()
    script = [calls(call("add", a=2, b=2)), answer("4")]
    async with agent(script, tools=[add], modules=[telemetry.module]) as session:
        await session.send_and_wait("2 + 2?")
    run, *children = telemetry.spans
    assert run.name == "invoke_agent tester"
    assert [span.name for span in children] == [
        "chat scripted",
        "execute_tool add",
        "chat scripted",
    ]
    assert run.parent is None
    assert {span.parent and span.parent.span_id for span in children} == {context(run).span_id}
    assert {context(span).trace_id for span in children} == {context(run).trace_id}
    for span in children:
        assert (run.start_time or 0) <= (span.start_time or 0) <= (span.end_time or 0)
        assert (span.end_time or 0) <= (run.end_time or 0)


async def test_spans_carry_the_attributes_of_the_conventions() -> None:
    telemetry = Telemetry()
    script = [calls(call("add", a=2, b=2)), answer("4")]
    async with agent(script, tools=[add], modules=[telemetry.module]) as session:
        await session.send_and_wait("2 + 2?")
    run, chat, tool, _ = (dict(span.attributes or {}) for span in telemetry.spans)
    assert run["gen_ai.operation.name"] == "invoke_agent"
    assert run["gen_ai.agent.name"] == "tester"
    assert chat["gen_ai.operation.name"] == "chat"
    assert chat["gen_ai.usage.input_tokens"] == 1
    assert chat["gen_ai.usage.output_tokens"] == 1
    assert chat["gen_ai.response.finish_reasons"] == ("tool_use",)
    for attributes in (run, chat):
        assert attributes["gen_ai.provider.name"] == "test"
        assert attributes["gen_ai.request.model"] == "scripted"
    assert tool["gen_ai.operation.name"] == "execute_tool"
    assert tool["gen_ai.tool.name"] == "add"
    assert tool["gen_ai.tool.call.id"]
    for attributes in (run, chat, tool):
        assert attributes["gen_ai.conversation.id"] == session.id
        assert "error.type" not in attributes


class _Naming:
    """A recorder that says what the provider called its answer."""

    def __init__(self, recorder: AttemptRecorder) -> None:
        self._recorder = recorder
        self.started, self.budget = recorder.started, recorder.budget

    async def finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        await self._recorder.finished(attempt_id, replace(outcome, response_id="resp_1"))


class _NamingModel(ScriptedModel):
    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> Any:
        return super().execute(request, _Naming(recorder))


async def test_a_span_has_the_name_that_the_provider_gave_its_answer() -> None:
    telemetry = Telemetry()
    async with agent([answer("hi")], modules=[telemetry.module], model=_NamingModel) as session:
        await session.send_and_wait("go")
    attributes = dict(telemetry.span("chat scripted").attributes or {})
    assert attributes["gen_ai.response.id"] == "resp_1"


async def test_a_request_says_what_was_asked_for_and_leaves_out_what_was_not() -> None:
    telemetry = Telemetry()
    script = [answer("one"), answer("two")]
    async with agent(script, modules=[telemetry.module]) as session:
        await session.send_and_wait("go")
        asked = replace(
            MODEL, reasoning=Reasoning.HIGH, temperature=0.5, max_tokens=100, stop_sequences=("me",)
        )
        await session.update_model_config(asked)
        await session.send_and_wait("go")
    spans = [span for span in telemetry.spans if span.name == "chat scripted"]
    first, second = (
        {name: value for name, value in (span.attributes or {}).items() if ".request." in name}
        for span in spans
    )
    assert first == {"gen_ai.request.model": "scripted"}
    assert second == {
        "gen_ai.request.model": "scripted",
        "gen_ai.request.reasoning.level": "high",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.max_tokens": 100,
    }
    for name in ("gen_ai.client.token.usage", "gen_ai.client.operation.duration"):
        assert all("gen_ai.request.temperature" not in p.attributes for p in telemetry.points(name))


async def test_tokens_and_durations_are_measured() -> None:
    telemetry = Telemetry()
    async with agent([answer("ok")], modules=[telemetry.module]) as session:
        await session.send_and_wait("go")
    tokens = telemetry.points("gen_ai.client.token.usage")
    assert sorted(point.attributes["gen_ai.token.type"] for point in tokens) == ["input", "output"]
    (duration,) = telemetry.points("gen_ai.client.operation.duration")
    assert duration.count == 1
    assert duration.attributes["gen_ai.operation.name"] == "chat"


async def test_a_failed_tool_is_an_error_and_its_run_is_not() -> None:
    telemetry = Telemetry()
    script = [calls(call("fail")), answer("sorry")]
    async with agent(script, tools=[fail], modules=[telemetry.module]) as session:
        await session.send_and_wait("go")
    tool = telemetry.span("execute_tool fail")
    assert tool.status.status_code is StatusCode.ERROR
    assert (tool.attributes or {})["error.type"] == "not_found"
    assert telemetry.span("invoke_agent tester").status.status_code is StatusCode.UNSET


async def test_a_failed_run_is_an_error() -> None:
    telemetry = Telemetry()
    async with agent([], modules=[telemetry.module]) as session:
        await session.send_and_wait("go")
    (run,) = telemetry.spans
    assert run.status.status_code is StatusCode.ERROR
    assert (run.attributes or {})["error.type"] == "model_execution_failed"


async def test_a_cancelled_run_is_ended_and_no_error() -> None:
    telemetry = Telemetry()
    script = [answer("slow", hold=anyio.Event())]
    async with agent(script, modules=[telemetry.module]) as session:
        await session.send("go")
        await session.executor.streaming.wait()
        await session.cancel()
        await session.when_idle()
    run, chat = telemetry.spans
    for span in (run, chat):
        assert span.status.status_code is StatusCode.UNSET
        assert (span.attributes or {})["agentslot.outcome"] == "canceled"


async def test_a_tool_that_is_cancelled_with_its_run_is_ended_and_no_error() -> None:
    telemetry = Telemetry()
    gate = Gate()
    script = [calls(call("gate"))]
    async with agent(script, tools=[gate.tool], modules=[telemetry.module]) as session:
        await session.send("go")
        await gate.entered()
        await session.cancel()
        await session.when_idle()
    tool = telemetry.span("execute_tool gate")
    assert tool.status.status_code is StatusCode.UNSET
    assert (tool.attributes or {})["agentslot.outcome"] == "canceled"
    assert "error.type" not in (tool.attributes or {})


async def test_a_span_begins_with_the_model_by_which_somebody_may_sample() -> None:
    class Beginnings(SpanProcessor):
        def __init__(self) -> None:
            self.seen: list[dict[str, Any]] = []

        def on_start(self, span: Span, parent_context: Context | None = None) -> None:
            self.seen.append(dict(span.attributes or {}))

    telemetry = Telemetry()
    beginnings = Beginnings()
    telemetry.traces.add_span_processor(beginnings)
    async with agent([answer("ok")], modules=[telemetry.module]) as session:
        await session.send_and_wait("go")
    assert len(beginnings.seen) == 2
    for attributes in beginnings.seen:
        assert attributes["gen_ai.provider.name"] == "test"
        assert attributes["gen_ai.request.model"] == "scripted"


async def test_a_request_says_what_it_cost_where_the_price_was_known(tmp_path: Path) -> None:
    telemetry = Telemetry()
    scripts = [Script(PASSING, cost_usd=Decimal("0.125")), Script(ANSWER)]
    await run_scripts(tmp_path, scripts, telemetry.module)
    first, second = (span for span in telemetry.spans if span.name == "chat m")
    assert (first.attributes or {})["agentslot.cost_usd"] == 0.125  # exact in binary
    assert "agentslot.cost_usd" not in (second.attributes or {})


async def test_a_consumer_that_breaks_off_breaks_no_span(caplog: pytest.LogCaptureFixture) -> None:
    """The field's classic: "Token was created in a different Context"."""
    telemetry = Telemetry()
    script = [calls(call("add", a=2, b=2)), answer("4")]
    async with agent(script, tools=[add], modules=[telemetry.module]) as session:
        stream = await session.access.subscribe(session.id)
        await session.send("go")
        async with aclosing(stream):
            async for _ in stream:
                break
        with anyio.move_on_after(0):
            await session.send_and_wait("and again, but nobody waits for it")
        await session.when_idle()
    assert "invoke_agent tester" in {span.name for span in telemetry.spans}
    assert "different Context" not in caplog.text
    assert not [entry for entry in caplog.records if entry.name.startswith("opentelemetry")]


async def test_a_run_belongs_to_no_span_that_happens_to_be_open_around_it() -> None:
    telemetry = Telemetry()
    tracer = telemetry.traces.get_tracer("around")
    with tracer.start_as_current_span("around"):
        async with agent([answer("ok")], modules=[telemetry.module]) as session:
            await session.send_and_wait("go")
    assert telemetry.span("invoke_agent tester").parent is None


async def test_the_runs_of_a_session_are_traces_of_one_conversation() -> None:
    telemetry = Telemetry()
    async with agent([answer("one"), answer("two")], modules=[telemetry.module]) as session:
        await session.send_and_wait("go")
        await session.send_and_wait("go")
    runs = [span for span in telemetry.spans if span.name == "invoke_agent tester"]
    assert len({context(span).trace_id for span in runs}) == 2
    for span in runs:
        assert (span.attributes or {})["gen_ai.conversation.id"] == session.id


# Records that the hub had to drop: the sink is given what is left, as the Assembly has it.

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def sink_of(telemetry: Telemetry) -> TraceSink:
    return Application("test", [telemetry.module]).build()[TRACE_SINKS][0]


def run_trace(number: int, status: RunStatus, at: datetime, **values: Any) -> RunTrace:
    return RunTrace(
        kind="run.started" if status is RunStatus.STARTED else "run.completed",
        at=at,
        session_id=SessionId("s"),
        agent=AgentId("tester"),
        run_id=RunId(f"run-{number}"),
        actor=Actor(ActorKind.LOCAL_USER, "mo"),
        provider="test",
        model="scripted",
        status=status,
        **values,
    )


def tool_trace(at: datetime) -> ToolTrace:
    return ToolTrace(
        kind="tool.completed",
        at=at,
        session_id=SessionId("s"),
        agent=AgentId("tester"),
        run_id=RunId("run-1"),
        step_id=StepId("step"),
        tool_call_id=ToolCallId("call"),
        tool="add",
        status=ToolStatus.SUCCEEDED,
        duration_ms=1000,
    )


async def test_a_run_whose_start_was_not_heard_of_begins_with_its_first_child() -> None:
    telemetry = Telemetry()
    sink = sink_of(telemetry)
    await sink.record_trace(tool_trace(AT))
    await sink.record_trace(run_trace(1, RunStatus.COMPLETED, AT + SECOND))
    run, tool = sorted(telemetry.spans, key=lambda span: span.parent is not None)
    assert tool.parent == context(run)
    assert run.start_time == tool.start_time
    assert (run.end_time or 0) - (run.start_time or 0) == 2_000_000_000


async def test_a_run_of_which_only_the_end_was_heard_is_as_long_as_that_says() -> None:
    telemetry = Telemetry()
    ended = run_trace(1, RunStatus.COMPLETED, AT, duration_ms=250)
    await sink_of(telemetry).record_trace(ended)
    (run,) = telemetry.spans
    assert (run.end_time or 0) - (run.start_time or 0) == 250_000_000


async def test_a_run_whose_end_was_not_heard_of_ends_with_the_next_or_with_its_session() -> None:
    telemetry = Telemetry()
    sink = sink_of(telemetry)
    await sink.record_trace(run_trace(1, RunStatus.STARTED, AT))
    await sink.record_trace(run_trace(2, RunStatus.STARTED, AT + SECOND))
    first = [span.end_time for span in telemetry.spans]
    closed = RuntimeTrace(
        kind="runtime.closed",
        at=AT + 2 * SECOND,
        session_id=SessionId("s"),
        agent=AgentId("tester"),
    )
    await sink.record_trace(closed)
    assert len(first) == 1
    assert len(telemetry.spans) == 2


def test_without_the_library_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "agentslot.standardagent.observe.genai", raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] == "opentelemetry"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(AgentSlotError, match=r"pip install agentslot\[otel\]"):
        OpenTelemetryModule()
