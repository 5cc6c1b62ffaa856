"""The contracts of passive observation, and their slots.

An observer is told what has happened and changes nothing: it may be slow, fail or hang, and no Run
notices. It must not block the event loop, which everybody shares.
"""

from dataclasses import dataclass
from typing import Protocol

from agentslot import Chain
from agentslot.session import SessionId
from agentslot.standardagent.observe.records import (
    AuditRecord,
    MetricRecord,
    TraceRecord,
    UsageRecord,
)


class TraceSink(Protocol):
    """Hears of Sessions, Runs, model requests and tools as they start and end."""

    async def record_trace(self, record: TraceRecord, /) -> None:
        """Take a record. One comes at a time, in the order of events within a Session."""
        ...


class MetricSink(Protocol):
    """Hears of measurements."""

    async def record_metric(self, record: MetricRecord, /) -> None:
        """Take a record. One comes at a time."""
        ...


class AuditSink(Protocol):
    """Hears of decisions: what was allowed, who changed the model, and what hooks have said."""

    async def record_audit(self, record: AuditRecord, /) -> None:
        """Take a record. One comes at a time, in the order of events within a Session."""
        ...


class UsageRecorder(Protocol):
    """Hears of tokens, once for each request that says or lets us estimate how many it took."""

    async def record_usage(self, record: UsageRecord, /) -> None:
        """Take a record. One comes at a time."""
        ...


@dataclass(frozen=True, slots=True)
class CommitNotice:
    """A commit is durable.

    Attributes:
        first_sequence: sequence of the first fact that it appended to History; 0 if it appended
            none.
        last_sequence: sequence of the last one; 0 if there is none.
    """

    session_id: SessionId
    revision: int
    first_sequence: int = 0
    last_sequence: int = 0


class SessionCommitObserver(Protocol):
    """Hears of every commit of an open Session after it is durable, and cannot undo it."""

    async def observe_session_commit(self, notice: CommitNotice, /) -> None:
        """Take a notice. Those of one Session come one at a time, in the order of revisions.

        Those of different Sessions may come at the same time. None comes after its Session has been
        closed, so what must not be missed is read from the store.
        """
        ...


TRACE_SINKS = Chain[TraceSink]("trace.sink")
METRIC_SINKS = Chain[MetricSink]("metric.sink")
AUDIT_SINKS = Chain[AuditSink]("audit.sink")
USAGE_RECORDERS = Chain[UsageRecorder]("usage.recorder")
COMMIT_OBSERVERS = Chain[SessionCommitObserver]("session.commit.observer")
