"""A sink for tests that keeps everything it is told."""

from collections.abc import Sequence

from agentslot import Module
from agentslot.standardagent import (
    AUDIT_SINKS,
    METRIC_SINKS,
    TRACE_SINKS,
    USAGE_RECORDERS,
    AuditRecord,
    MetricRecord,
    ToolTrace,
    TraceRecord,
    UsageRecord,
)


class Recording:
    """All four kinds of records, in the order in which they came."""

    def __init__(self) -> None:
        self.traces: list[TraceRecord] = []
        self.metrics: list[MetricRecord] = []
        self.audits: list[AuditRecord] = []
        self.usage: list[UsageRecord] = []

    async def record_trace(self, record: TraceRecord) -> None:
        self.traces.append(record)

    async def record_metric(self, record: MetricRecord) -> None:
        self.metrics.append(record)

    async def record_audit(self, record: AuditRecord) -> None:
        self.audits.append(record)

    async def record_usage(self, record: UsageRecord) -> None:
        self.usage.append(record)

    @property
    def kinds(self) -> list[str]:
        return [record.kind for record in self.traces]

    @property
    def counts(self) -> list[tuple[str, dict[str, str]]]:
        return [(record.name, dict(record.attributes)) for record in self.metrics]

    @property
    def completed_tools(self) -> Sequence[ToolTrace]:
        return [
            record
            for record in self.traces
            if isinstance(record, ToolTrace) and record.kind == "tool.completed"
        ]

    def module(self, module_id: str = "test.recording") -> Module:
        return Module(
            module_id,
            TRACE_SINKS.append(self),
            METRIC_SINKS.append(self),
            AUDIT_SINKS.append(self),
            USAGE_RECORDERS.append(self),
        )
