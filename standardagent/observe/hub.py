"""The observation hub: from the Runtime, which never waits, to the sinks, which may be slow."""

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from agentslot.standardagent.observe.contract import (
    AuditSink,
    MetricSink,
    TraceSink,
    UsageRecorder,
)
from agentslot.standardagent.observe.guard import Guard
from agentslot.standardagent.observe.records import (
    AuditRecord,
    ExtensionTransition,
    MetricRecord,
    ModelConfigAudit,
    Record,
    ToolDecision,
    TraceRecord,
    UsageRecord,
)

log = logging.getLogger(__name__)

OBSERVATION_BUFFER = 4096
"""Records that may wait for the sinks."""

SINK_SECONDS = 5.0
"""How long a sink may take for one record."""

DRAIN_SECONDS = 5.0
"""How long the records that wait when the application stops may take all together."""


class ObservationHub:
    """Hands records to the sinks in a task of its own, one after another.

    Attributes:
        dropped: records that found the buffer full.
    """

    def __init__(
        self,
        traces: Sequence[TraceSink] = (),
        metrics: Sequence[MetricSink] = (),
        audits: Sequence[AuditSink] = (),
        usage: Sequence[UsageRecorder] = (),
    ) -> None:
        self._traces = traces
        self._metrics = metrics
        self._audits = audits
        self._usage = usage
        self._guard = Guard(SINK_SECONDS)
        self._buffer: MemoryObjectSendStream[Record] | None = None
        self.dropped = 0

    @property
    def has_sinks(self) -> bool:
        """Whether anybody would hear a record; if not, none need be made."""
        return bool(self._traces or self._metrics or self._audits or self._usage)

    def trace(self, record: TraceRecord) -> None:
        """Pass a record on to the trace sinks; never waits, never raises."""
        if self._traces:
            self._put(record)

    def metric(self, record: MetricRecord) -> None:
        """Pass a record on to the metric sinks; never waits, never raises."""
        if self._metrics:
            self._put(record)

    def audit(self, record: AuditRecord) -> None:
        """Pass a record on to the audit sinks; never waits, never raises."""
        if self._audits:
            self._put(record)

    def usage(self, record: UsageRecord) -> None:
        """Pass a record on to the usage recorders; never waits, never raises."""
        if self._usage:
            self._put(record)

    def _put(self, record: Record) -> None:
        try:
            if self._buffer is not None:
                self._buffer.send_nowait(record)
        except anyio.WouldBlock:
            if self.dropped == 0:
                log.warning(
                    "observation sinks cannot keep up: %d records wait, new ones are dropped",
                    OBSERVATION_BUFFER,
                )
            self.dropped += 1

    @asynccontextmanager
    async def delivering(self) -> AsyncGenerator[None]:
        """Deliver while the body runs, and afterwards what still waits, for a limited time."""
        if not self.has_sinks:
            yield
            return
        self._buffer, records = anyio.create_memory_object_stream[Record](OBSERVATION_BUFFER)
        # Shielded, since the last Runs say how they ended while the application is cancelled.
        scope = anyio.CancelScope(shield=True)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._deliver, records, scope, name="observation hub")
            try:
                yield
            finally:
                self._buffer.close()
                self._buffer = None
                scope.deadline = anyio.current_time() + DRAIN_SECONDS

    async def _deliver(
        self, records: MemoryObjectReceiveStream[Record], scope: anyio.CancelScope
    ) -> None:
        with scope, records:
            async for record in records:
                await self._hand_out(record)
        if scope.cancelled_caught:
            log.warning("observation sinks took too long to stop: their last records are lost")

    async def _hand_out(self, record: Record) -> None:
        call = self._guard.call
        match record:
            case MetricRecord():
                for metrics in self._metrics:
                    await call(metrics, metrics.record_metric, record)
            case UsageRecord():
                for recorder in self._usage:
                    await call(recorder, recorder.record_usage, record)
            case ToolDecision() | ModelConfigAudit() | ExtensionTransition():
                for audits in self._audits:
                    await call(audits, audits.record_audit, record)
            case _:
                for traces in self._traces:
                    await call(traces, traces.record_trace, record)
