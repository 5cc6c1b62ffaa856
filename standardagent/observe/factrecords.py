"""Records read off a commit: pure functions of what it made durable and what was measured."""

import re
from dataclasses import replace
from typing import Literal

from agentslot.model import CacheLoss
from agentslot.session import (
    AgentId,
    AttemptStatus,
    ContextDisposition,
    ExtensionEntry,
    ExtensionJournal,
    Fact,
    ModelAttempt,
    ModelConfig,
    ModelConfigChanged,
    RunFact,
    RunStatus,
    SessionState,
    WorkspaceId,
    diagnostic,
)
from agentslot.standardagent.observe.records import (
    AttemptTrace,
    ExtensionTransition,
    MetricKind,
    MetricRecord,
    ModelConfigAudit,
    RunTrace,
    UsageRecord,
)

_RunKind = Literal["run.started", "run.completed", "run.canceled", "run.failed"]
_AttemptKind = Literal["model.attempt.started", "model.attempt.completed", "model.attempt.failed"]

_RUN_KINDS: dict[RunStatus, _RunKind] = {
    RunStatus.STARTED: "run.started",
    RunStatus.COMPLETED: "run.completed",
    RunStatus.CANCELED: "run.canceled",
    RunStatus.FAILED: "run.failed",
    RunStatus.INTERRUPTED: "run.failed",
}

_ATTEMPT_KINDS: dict[AttemptStatus, _AttemptKind] = {
    AttemptStatus.STARTED: "model.attempt.started",
    AttemptStatus.SUCCEEDED: "model.attempt.completed",
    AttemptStatus.FAILED: "model.attempt.failed",
    AttemptStatus.CANCELED: "model.attempt.failed",
    AttemptStatus.OUTCOME_UNKNOWN: "model.attempt.failed",
}

_CODE = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


def safe_code(code: str) -> str:
    """An error code as it is; anything else, which may be text of a component, as `other`."""
    return code if not code or _CODE.fullmatch(code) else "other"


def count(name: str, **attributes: str) -> MetricRecord:
    """One more of something."""
    return MetricRecord(name, MetricKind.COUNTER, 1, attributes)


def cache_loss_metric(config: ModelConfig, loss: CacheLoss) -> MetricRecord:
    """Tokens that a provider had to read again."""
    attributes = {"provider": config.provider, "model": config.model, "reason": loss.reason.value}
    return MetricRecord(
        "agent.model.cache.lost.tokens", MetricKind.COUNTER, loss.tokens, attributes
    )


def run_trace(agent: AgentId, fact: Fact, run: RunFact, duration_ms: float | None) -> RunTrace:
    """The start or the end of a Run."""
    return RunTrace(
        kind=_RUN_KINDS[run.status],
        at=fact.at,
        session_id=fact.session_id,
        agent=agent,
        run_id=run.run_id,
        actor=fact.actor,
        provider=run.config.provider,
        model=run.config.model,
        status=run.status,
        error_code="" if run.termination is None else safe_code(run.termination.code),
        duration_ms=duration_ms,
    )


def attempt_trace(
    agent: AgentId,
    fact: Fact,
    attempt: ModelAttempt,
    config: ModelConfig,
    duration_ms: float | None,
) -> AttemptTrace:
    """The start or the end of an attempt of a Run with that model."""
    return AttemptTrace(
        kind=_ATTEMPT_KINDS[attempt.status],
        at=fact.at,
        session_id=fact.session_id,
        agent=agent,
        run_id=attempt.run_id,
        step_id=attempt.step_id,
        attempt_id=attempt.attempt_id,
        provider=attempt.provider,
        model=attempt.model,
        status=attempt.status,
        served_model=attempt.served_model,
        usage=attempt.usage,
        error_code=safe_code(attempt.error_code),
        duration_ms=duration_ms,
        cost_usd=attempt.cost_usd,
        finish_reason=attempt.finish_reason,
        response_id=attempt.response_id,
        reasoning=config.reasoning,
        temperature=config.temperature,
        max_tokens=config.max_tokens,
    )


def usage_record(
    agent: AgentId, workspace: WorkspaceId, fact: Fact, attempt: ModelAttempt
) -> UsageRecord | None:
    """The tokens of an attempt that has ended, if they are known."""
    if attempt.usage is None:
        return None
    return UsageRecord(
        at=fact.at,
        session_id=fact.session_id,
        agent=agent,
        workspace=workspace,
        run_id=attempt.run_id,
        step_id=attempt.step_id,
        attempt_id=attempt.attempt_id,
        provider=attempt.provider,
        model=attempt.model,
        served_model=attempt.served_model,
        usage=attempt.usage,
        cost_usd=attempt.cost_usd,
    )


def config_audit(agent: AgentId, fact: Fact, change: ModelConfigChanged) -> ModelConfigAudit:
    """A switch of the model."""
    return ModelConfigAudit(
        at=fact.at,
        session_id=fact.session_id,
        agent=agent,
        actor=fact.actor,
        previous_provider=change.previous.provider,
        previous_model=change.previous.model,
        provider=change.current.provider,
        model=change.current.model,
    )


def extension_transition(state: SessionState, entry: ExtensionEntry) -> ExtensionTransition:
    """An invocation of a hook as the newest commit has left it."""
    shown = diagnostic(entry)
    return ExtensionTransition(
        at=state.updated_at,
        session_id=state.id,
        agent=state.agent,
        diagnostic=replace(
            shown, reason="", error_reason="", error_code=safe_code(shown.error_code)
        ),
    )


def journal_metrics(agent: AgentId, journal: ExtensionJournal) -> list[MetricRecord]:
    """How many invocations a Session's journal has, and how much waits there for the model."""
    waiting = sum(
        entry.context_bytes
        for entry in journal.open.values()
        if entry.context is ContextDisposition.PENDING
    )
    sizes = {"entries": len(journal), "bytes": waiting}
    return [
        MetricRecord(f"agent.extension.journal.{what}", MetricKind.GAUGE, size, {"agent": agent})
        for what, size in sizes.items()
    ]
