"""What is observed: identities, names, counts and times.

A record never holds what somebody said: no message text, no arguments or results of a tool, no
credential, no value of a component. Whoever may read a log of them learns who did what and when.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from agentslot.model import CacheLossReason
from agentslot.session import (
    Actor,
    AgentId,
    AttemptId,
    AttemptStatus,
    ExtensionDiagnostic,
    Reasoning,
    RunId,
    RunStatus,
    SessionId,
    StepId,
    TokenUsage,
    ToolCallId,
    ToolStatus,
    WorkspaceId,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """What every record about a Session says.

    Attributes:
        at: when it happened, in UTC.
    """

    at: datetime
    session_id: SessionId
    agent: AgentId


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeTrace(SessionRecord):
    """A Session was opened in this process, or closed."""

    kind: Literal["runtime.opened", "runtime.closed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTrace(SessionRecord):
    """A Run started or ended.

    Attributes:
        kind: a Run that a limit interrupted is `run.failed`; `status` tells the two apart.
        actor: who started it, or ended it.
        error_code: why it did not complete.
        duration_ms: of the whole Run; None if it started in another process.
    """

    kind: Literal["run.started", "run.completed", "run.canceled", "run.failed"]
    run_id: RunId
    actor: Actor
    provider: str
    model: str
    status: RunStatus
    error_code: str = ""
    duration_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptTrace(SessionRecord):
    """A physical request to a model started, took back what it had shown, or ended.

    Attributes:
        kind: every end but success is `model.attempt.failed`; `status` says which.
        served_model: the model that the provider says answered, where it differs.
        duration_ms: of the request; on its end only.
        cost_usd: what its tokens cost in US dollars, if the price was known.
        finish_reason: why the model stopped, as `Completion.finish_reason` says it.
        response_id: what the provider called its answer, if it gave that a name.
        reasoning, temperature, max_tokens: what was asked for, as `ModelConfig` has them. Its stop
            sequences are texts, and in no record.
    """

    kind: Literal[
        "model.attempt.started",
        "model.attempt.reset",
        "model.attempt.completed",
        "model.attempt.failed",
    ]
    run_id: RunId
    step_id: StepId
    attempt_id: AttemptId
    provider: str
    model: str
    status: AttemptStatus
    served_model: str = ""
    usage: TokenUsage | None = None
    error_code: str = ""
    duration_ms: float | None = None
    cost_usd: Decimal | None = None
    finish_reason: str = ""
    response_id: str = ""
    reasoning: Reasoning = Reasoning.DEFAULT
    temperature: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheLossTrace(SessionRecord):
    """A provider had to read again what its prompt cache had held.

    Attributes:
        reason: why, as `CacheLossReason` says it.
        changed: names of the sections of the prompt that were others than before.
        tokens: how many were read again.
        cost_usd: what that cost in US dollars, if the price was known.
    """

    kind: Literal["model.cache.lost"] = "model.cache.lost"
    run_id: RunId
    step_id: StepId
    attempt_id: AttemptId
    provider: str
    model: str
    reason: CacheLossReason
    changed: tuple[str, ...]
    tokens: int
    cost_usd: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTrace(SessionRecord):
    """A tool began to work on a call, or a call has its durable result.

    Attributes:
        at: of `tool.completed`, when the tool ended, which may be long before the rest of its batch
            did.
        tool: name of the tool; `(unknown)` where the model asked for one that is not offered.
        status: how the call ended.
        duration_ms: how long the tool worked; None if the call never reached it.
    """

    kind: Literal["tool.started", "tool.completed"]
    run_id: RunId
    step_id: StepId
    tool_call_id: ToolCallId
    tool: str
    status: ToolStatus | None = None
    error_code: str = ""
    duration_ms: float | None = None


TraceRecord = RuntimeTrace | RunTrace | AttemptTrace | CacheLossTrace | ToolTrace


class MetricKind(StrEnum):
    """How values of one metric add up: to a sum, to a distribution, or not at all."""

    COUNTER = "counter"
    DURATION_MS = "duration_ms"
    GAUGE = "gauge"


@dataclass(frozen=True, slots=True)
class MetricRecord:
    """One measurement. Its attributes take few values, so they name no Session and no Run."""

    name: str
    kind: MetricKind
    value: float
    attributes: Mapping[str, str] = field(default_factory=dict[str, str])


class ToolVerdict(StrEnum):
    """What was decided on a tool call.

    `approval_required` says that somebody was needed; what they said, or that asking them failed,
    follows as a verdict of its own.
    """

    ALLOW = "allow"
    DENY = "deny"
    PREFLIGHT_DENY = "preflight_deny"
    APPROVAL_REQUIRED = "approval_required"
    APPROVAL_ERROR = "approval_error"
    APPROVAL_DENIED = "approval_denied"
    APPROVED = "approved"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDecision(SessionRecord):
    """A call was allowed, denied, or put before somebody.

    Attributes:
        actor: who approved or denied it, if a person was asked and the channel knows them.
        arguments_digest: `sha256:` digest of the argument text, to compare calls without reading
            them.
    """

    kind: Literal["tool.decision"] = "tool.decision"
    run_id: RunId
    step_id: StepId
    tool_call_id: ToolCallId
    tool: str
    verdict: ToolVerdict
    arguments_digest: str
    actor: Actor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfigAudit(SessionRecord):
    """A Session was switched to another model, by `actor`."""

    kind: Literal["model.config.changed"] = "model.config.changed"
    actor: Actor
    previous_provider: str
    previous_model: str
    provider: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionTransition(SessionRecord):
    """What a hook was asked, or what became of its answer, is durable.

    Attributes:
        diagnostic: the invocation as it stands now, as the Session's diagnostics show it but for
            the two reasons, which are texts of the component and are empty here.
    """

    kind: Literal["extension.transition"] = "extension.transition"
    diagnostic: ExtensionDiagnostic


AuditRecord = ToolDecision | ModelConfigAudit | ExtensionTransition


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRecord(SessionRecord):
    """Tokens of one attempt; `usage.estimated` says whether the provider counted or we did.

    Attributes:
        workspace: of the Session; with one for each user, whose tokens they are.
        cost_usd: what they cost in US dollars, if the price was known.
    """

    workspace: WorkspaceId
    run_id: RunId
    step_id: StepId
    attempt_id: AttemptId
    provider: str
    model: str
    served_model: str
    usage: TokenUsage
    cost_usd: Decimal | None = None


Record = TraceRecord | MetricRecord | AuditRecord | UsageRecord
