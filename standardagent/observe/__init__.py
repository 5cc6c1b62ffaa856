"""Passive observation: traces, metrics, audit, usage and commit notices, beside the Runs."""

from typing import TYPE_CHECKING

from agentslot._lazy import imports_when_used

if TYPE_CHECKING or not imports_when_used(__name__):
    from agentslot.standardagent.observe.commits import CommitNotices
    from agentslot.standardagent.observe.contract import (
        AUDIT_SINKS,
        COMMIT_OBSERVERS,
        METRIC_SINKS,
        TRACE_SINKS,
        USAGE_RECORDERS,
        AuditSink,
        CommitNotice,
        MetricSink,
        SessionCommitObserver,
        TraceSink,
        UsageRecorder,
    )
    from agentslot.standardagent.observe.hub import ObservationHub
    from agentslot.standardagent.observe.jsonlines import JsonLinesSinkModule
    from agentslot.standardagent.observe.module import OBSERVATION_HUB, ObservationModule
    from agentslot.standardagent.observe.opentelemetry import OpenTelemetryModule
    from agentslot.standardagent.observe.records import (
        AttemptTrace,
        AuditRecord,
        CacheLossTrace,
        ExtensionTransition,
        MetricKind,
        MetricRecord,
        ModelConfigAudit,
        RuntimeTrace,
        RunTrace,
        ToolDecision,
        ToolTrace,
        ToolVerdict,
        TraceRecord,
        UsageRecord,
    )
    from agentslot.standardagent.observe.watch import SessionWatch

__all__ = [
    "AUDIT_SINKS",
    "COMMIT_OBSERVERS",
    "METRIC_SINKS",
    "OBSERVATION_HUB",
    "TRACE_SINKS",
    "USAGE_RECORDERS",
    "AttemptTrace",
    "AuditRecord",
    "AuditSink",
    "CacheLossTrace",
    "CommitNotice",
    "CommitNotices",
    "ExtensionTransition",
    "JsonLinesSinkModule",
    "MetricKind",
    "MetricRecord",
    "MetricSink",
    "ModelConfigAudit",
    "ObservationHub",
    "ObservationModule",
    "OpenTelemetryModule",
    "RunTrace",
    "RuntimeTrace",
    "SessionCommitObserver",
    "SessionWatch",
    "ToolDecision",
    "ToolTrace",
    "ToolVerdict",
    "TraceRecord",
    "TraceSink",
    "UsageRecord",
    "UsageRecorder",
]
