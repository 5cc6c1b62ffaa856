"""Trace records as OpenTelemetry spans and metrics, after the conventions for generative AI.

Spans are made from the ordered records, with explicit times and parents. Nothing is ever attached
to the context of a task, so there is nothing that another task could fail to detach.

The names are written out here, since the conventions' Python package marks them as moved away.
"""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from opentelemetry import metrics, trace
from opentelemetry.context import Context
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider

from agentslot.session import (
    AttemptStatus,
    Reasoning,
    RunId,
    RunStatus,
    SessionId,
    TokenUsage,
    ToolStatus,
)
from agentslot.standardagent.observe.records import (
    AttemptTrace,
    RuntimeTrace,
    RunTrace,
    ToolTrace,
    TraceRecord,
)

_Attributes = dict[str, str | int | float | list[str]]

_SCOPE = "agentslot"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TOKEN_BUCKETS = [4**n for n in range(14)]
_SECOND_BUCKETS = [0.01 * 2**n for n in range(14)]


class GenAISink:
    """A TraceSink. At most one Run is active in a Session, so one span for each is open."""

    def __init__(
        self,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
    ) -> None:
        self._tracer = trace.get_tracer(_SCOPE, tracer_provider=tracer_provider)
        meter = metrics.get_meter(_SCOPE, meter_provider=meter_provider)
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            "{token}",
            "Tokens of a request, by type.",
            explicit_bucket_boundaries_advisory=_TOKEN_BUCKETS,
        )
        self._seconds = meter.create_histogram(
            "gen_ai.client.operation.duration",
            "s",
            "Duration of a request.",
            explicit_bucket_boundaries_advisory=_SECOND_BUCKETS,
        )
        self._runs: dict[SessionId, tuple[RunId, Span]] = {}

    async def record_trace(self, record: TraceRecord) -> None:
        """Begin or end the span of a Run, or make that of a request or a tool call."""
        match record:
            case RunTrace(status=RunStatus.STARTED):
                self._run_span(record, record.run_id, record.at)
            case RunTrace():
                self._end_run(record)
            case AttemptTrace(kind="model.attempt.completed" | "model.attempt.failed"):
                self._chat(record)
            case ToolTrace(kind="tool.completed"):
                self._execute_tool(record)
            case RuntimeTrace(kind="runtime.closed"):
                self._leave(record.session_id, record.at)
            case _:
                pass

    def _run_span(
        self, record: RunTrace | AttemptTrace | ToolTrace, run_id: RunId, begun: datetime
    ) -> Span:
        """The open span of the Run; made now if its start was dropped or in another process."""
        running = self._runs.get(record.session_id)
        if running is not None and running[0] == run_id:
            return running[1]
        self._leave(record.session_id, begun)
        attributes: _Attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.id": record.agent,
            "gen_ai.agent.name": record.agent,
            "gen_ai.conversation.id": record.session_id,
            "agentslot.run.id": run_id,
        }
        if isinstance(record, RunTrace):  # now, for whoever samples by it
            attributes |= _model(record.provider, record.model)
        span = self._tracer.start_span(
            f"invoke_agent {record.agent}",
            Context(),
            SpanKind.INTERNAL,
            attributes,
            start_time=_nanoseconds(begun),
        )
        self._runs[record.session_id] = (run_id, span)
        return span

    def _end_run(self, record: RunTrace) -> None:
        span = self._run_span(record, record.run_id, _begun(record.at, record.duration_ms))
        del self._runs[record.session_id]
        span.set_attributes(_model(record.provider, record.model))
        failed = record.status in {RunStatus.FAILED, RunStatus.INTERRUPTED}
        _end(span, record.at, record.status, record.error_code if failed else None)

    def _leave(self, session_id: SessionId, at: datetime) -> None:
        """End the span of a Run whose end was never heard of."""
        running = self._runs.pop(session_id, None)
        if running is not None:
            running[1].end(_nanoseconds(at))

    def _chat(self, record: AttemptTrace) -> None:
        attributes: _Attributes = {
            "gen_ai.operation.name": "chat",
            **_model(record.provider, record.model),
            "gen_ai.response.model": record.served_model or record.model,
        }
        failed = record.status in {AttemptStatus.FAILED, AttemptStatus.OUTCOME_UNKNOWN}
        self._measure(record, attributes, (record.error_code or "_OTHER") if failed else None)
        ids = {"agentslot.step.id": record.step_id, "agentslot.attempt.id": record.attempt_id}
        span = self._child(
            record,
            f"chat {record.model}",
            SpanKind.CLIENT,
            attributes
            | _asked(record)
            | _usage(record.usage)
            | _cost(record.cost_usd)
            | _answer(record)
            | ids,
        )
        _end(span, record.at, record.status, record.error_code if failed else None)

    def _measure(
        self, record: AttemptTrace, attributes: _Attributes, error_type: str | None
    ) -> None:
        if record.duration_ms is not None:
            error = {"error.type": error_type} if error_type else {}
            self._seconds.record(record.duration_ms / 1000, {**attributes, **error})
        if record.usage is not None:
            tokens = {"input": record.usage.input, "output": record.usage.output}
            for kind, number in tokens.items():
                self._tokens.record(number, {**attributes, "gen_ai.token.type": kind})

    def _execute_tool(self, record: ToolTrace) -> None:
        attributes: _Attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": record.tool,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": record.tool_call_id,
            "agentslot.step.id": record.step_id,
        }
        span = self._child(record, f"execute_tool {record.tool}", SpanKind.INTERNAL, attributes)
        canceled = record.error_code == "canceled"
        failed = record.status is not ToolStatus.SUCCEEDED and not canceled
        outcome = "canceled" if canceled else record.status or ""
        _end(span, record.at, outcome, record.error_code if failed else None)

    def _child(
        self,
        record: AttemptTrace | ToolTrace,
        name: str,
        kind: SpanKind,
        attributes: _Attributes,
    ) -> Span:
        begun = _begun(record.at, record.duration_ms)
        parent = trace.set_span_in_context(self._run_span(record, record.run_id, begun), Context())
        attributes = {**attributes, "gen_ai.conversation.id": record.session_id}
        return self._tracer.start_span(
            name, parent, kind, attributes, start_time=_nanoseconds(begun)
        )


def _model(provider: str, model: str) -> _Attributes:
    return {"gen_ai.provider.name": provider, "gen_ai.request.model": model}


def _asked(record: AttemptTrace) -> _Attributes:
    """Parameters of the request; what is left to the provider is left out."""
    asked: _Attributes = {}
    if record.reasoning is not Reasoning.DEFAULT:
        asked["gen_ai.request.reasoning.level"] = record.reasoning.value
    if record.temperature is not None:
        asked["gen_ai.request.temperature"] = record.temperature
    if record.max_tokens is not None:
        asked["gen_ai.request.max_tokens"] = record.max_tokens
    return asked


def _usage(usage: TokenUsage | None) -> _Attributes:
    if usage is None:
        return {}
    return {
        "gen_ai.usage.input_tokens": usage.input,
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_input,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning,
    }


def _answer(record: AttemptTrace) -> _Attributes:
    """Its name, and why the model stopped: a reason for each answer, and we ask for one."""
    answer: _Attributes = {}
    if record.response_id:
        answer["gen_ai.response.id"] = record.response_id
    if record.finish_reason:
        answer["gen_ai.response.finish_reasons"] = [record.finish_reason]
    return answer


def _cost(cost_usd: Decimal | None) -> _Attributes:
    return {} if cost_usd is None else {"agentslot.cost_usd": float(cost_usd)}


def _end(span: Span, at: datetime, outcome: str, error_code: str | None) -> None:
    """End a span; an `error_code`, even an empty one, makes it an error. A cancellation is none."""
    span.set_attribute("agentslot.outcome", outcome)
    if error_code is not None:
        span.set_attribute("error.type", error_code or "_OTHER")
        span.set_status(Status(StatusCode.ERROR))
    span.end(_nanoseconds(at))


def _begun(ended: datetime, duration_ms: float | None) -> datetime:
    return ended - timedelta(milliseconds=duration_ms or 0)


def _nanoseconds(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(microseconds=1) * 1000
