"""Runs, their requests to providers, what context sources add, budgets and limits."""

from agentslot.session.changes import (
    AppendAttempt,
    AppendBudgetExceeded,
    AppendContextContribution,
    AppendLimitExceeded,
    AppendRun,
)
from agentslot.session.draft import Draft, require_identity
from agentslot.session.errors import ClassifiedError, ErrorKind
from agentslot.session.facts import (
    AttemptStatus,
    ContextContribution,
    Fact,
    ModelAttempt,
    RunFact,
    RunLimit,
    RunStatus,
)
from agentslot.session.identity import AttemptId
from agentslot.session.message import require_sound_copy
from agentslot.session.modelconfig import TokenUsage
from agentslot.session.refusal import history_broken, invalid_change, journal_broken, run_active
from agentslot.session.rules.extensions import OF_A_RUN
from agentslot.session.state import ActiveRun
from agentslot.session.text import is_safe_line, require_unicode


def append_run(draft: Draft, change: AppendRun) -> None:
    """Start a Run of an idle Session, or end the active one."""
    if change.fact.status is RunStatus.STARTED:
        _start(draft, change.fact)
    else:
        _end(draft, change.fact)
    draft.append(change.fact, change.fact.run_id)


def _start(draft: Draft, fact: RunFact) -> None:
    if draft.run is not None:
        raise run_active(draft.run.id, f"run {fact.run_id!r} cannot start")
    if fact.config != draft.model_config:
        raise history_broken(f"run {fact.run_id!r} starts with another model than the Session's")
    if fact.config_revision != draft.revision:
        raise history_broken(
            f"run {fact.run_id!r} read its model at revision {fact.config_revision}, "
            f"the Session is at {draft.revision}"
        )
    begin(draft, fact)


def begin(draft: Draft, fact: RunFact) -> None:
    """Make a new Run the active one; its model is whatever the fact says."""
    require_identity("run id", fact.run_id)
    if fact.termination is not None:
        raise invalid_change(f"run {fact.run_id!r} starts with a termination")
    known = draft.history.run_start(fact.run_id) is not None
    if known or any(_starts(earlier, fact) for earlier in draft.facts):
        raise history_broken(f"run {fact.run_id!r} has started before")
    draft.run = ActiveRun(fact.run_id, fact.config, fact.config_revision)


def _starts(earlier: Fact, fact: RunFact) -> bool:
    return isinstance(earlier.payload, RunFact) and earlier.payload.run_id == fact.run_id


def _end(draft: Draft, fact: RunFact) -> None:
    run = draft.active(fact.run_id)
    if fact.config != run.config or fact.config_revision != run.config_revision:
        raise history_broken(f"run {fact.run_id!r} ends with another model than it started with")
    _check_termination(fact)
    require_settled(draft, f"run {fact.run_id!r} cannot end")
    draft.run = None


def _check_termination(fact: RunFact) -> None:
    termination = fact.termination
    if (termination is None) != (fact.status is RunStatus.COMPLETED):
        raise invalid_change(
            f"run {fact.run_id!r} ends {fact.status}: exactly the ends that are no completion "
            "say why"
        )
    if termination is not None and not (termination.code and is_safe_line(termination.message)):
        raise invalid_change(
            f"the termination of run {fact.run_id!r} needs a code and a message of one safe line"
        )
    if termination is not None:
        require_unicode(termination.code, "$.fact.termination.code")


def require_settled(draft: Draft, refused: str) -> None:
    """Refuse while calls, requests or hooks of the Run are unfinished."""
    if draft.journal:
        call_id = next(iter(draft.journal))
        raise journal_broken(f"{refused}: tool call {call_id!r} has no result")
    if draft.run is not None and draft.run.open_attempts:
        raise history_broken(f"{refused}: attempt {draft.run.open_attempts[0]!r} has not ended")
    for entry in draft.open_extensions():
        if entry.invocation.boundary in OF_A_RUN:
            raise journal_broken(f"{refused}: invocation {entry.sequence} is not settled")


def append_attempt(draft: Draft, change: AppendAttempt) -> None:
    """Start or end a physical request; its model is the active Run's."""
    attempt = change.attempt
    run = draft.active(attempt.run_id)
    if attempt.provider != run.config.provider or attempt.model != run.config.model:
        raise history_broken(f"attempt {attempt.attempt_id!r} is at another model than its run")
    if attempt.status is AttemptStatus.STARTED:
        draft.run = _with_attempt_started(draft, run, attempt)
    else:
        draft.run = _with_attempt_ended(draft, run, attempt)
    draft.append(attempt, attempt.run_id, attempt.step_id)


def _with_attempt_started(draft: Draft, run: ActiveRun, attempt: ModelAttempt) -> ActiveRun:
    require_identity("attempt id", attempt.attempt_id)
    require_identity("step id", attempt.step_id)
    if attempt.error_code or _ended_early(attempt) or _has_been_answered(attempt):
        raise invalid_change(f"attempt {attempt.attempt_id!r} starts with an outcome")
    if _attempt_start(draft, attempt.attempt_id) is not None:
        raise history_broken(f"attempt {attempt.attempt_id!r} has started before")
    return run.with_attempt(attempt.attempt_id)


def _with_attempt_ended(draft: Draft, run: ActiveRun, attempt: ModelAttempt) -> ActiveRun:
    _check_outcome(attempt)
    _check_texts(attempt)
    if attempt.usage is not None:
        _check_usage(attempt.attempt_id, attempt.usage)
    start = _attempt_start(draft, attempt.attempt_id)
    if start is None or attempt.attempt_id not in run.open_attempts:
        raise history_broken(f"attempt {attempt.attempt_id!r} is not open")
    if start.step_id != attempt.step_id:
        raise history_broken(f"attempt {attempt.attempt_id!r} ends in another step")
    return run.without_attempt(attempt.attempt_id, attempt.usage.total if attempt.usage else 0)


def _check_texts(attempt: ModelAttempt) -> None:
    require_unicode(attempt.served_model, "$.attempt.served_model")
    require_unicode(attempt.provider_request_id, "$.attempt.provider_request_id")
    require_unicode(attempt.finish_reason, "$.attempt.finish_reason")
    require_unicode(attempt.response_id, "$.attempt.response_id")
    if attempt.error_code:
        require_unicode(attempt.error_code, "$.attempt.error_code")
        require_unicode(attempt.error_message, "$.attempt.error_message")
        require_unicode(attempt.partial_text, "$.attempt.partial_text")


def _check_usage(attempt_id: AttemptId, usage: TokenUsage) -> None:
    """Refuse figures that contradict each other: budgets, prices and people go by them."""
    try:
        sound = (
            0 <= usage.cached_input <= usage.input
            and 0 <= usage.cache_write_1h <= usage.cache_write <= usage.input
            and 0 <= usage.reasoning <= usage.output
            and usage.input + usage.output <= usage.total
        )
    except TypeError:  # code without types may give anything
        sound = False
    if not sound:
        raise ClassifiedError(
            ErrorKind.INVALID_INPUT,
            "invalid_usage",
            f"attempt {attempt_id!r} has token figures that contradict each other: {usage}",
        )
    require_unicode(usage.service_tier, "$.attempt.usage.service_tier")


def _ended_early(attempt: ModelAttempt) -> bool:
    return bool(attempt.error_message or attempt.partial_text)


def _has_been_answered(attempt: ModelAttempt) -> bool:
    named = attempt.served_model or attempt.provider_request_id or attempt.response_id
    return (
        bool(named or attempt.finish_reason)
        or attempt.usage is not None
        or attempt.cost_usd is not None
    )


def _check_outcome(attempt: ModelAttempt) -> None:
    if attempt.status is AttemptStatus.SUCCEEDED:
        if attempt.error_code or _ended_early(attempt):
            raise invalid_change(f"attempt {attempt.attempt_id!r} succeeded with an error")
    elif not attempt.error_code:
        raise invalid_change(f"attempt {attempt.attempt_id!r} {attempt.status} without a code")


def _attempt_start(draft: Draft, attempt_id: AttemptId) -> Fact | None:
    for fact in draft.facts:
        if isinstance(fact.payload, ModelAttempt) and fact.payload.attempt_id == attempt_id:
            return fact
    return draft.history.attempt_start(attempt_id)


def append_context_contribution(draft: Draft, change: AppendContextContribution) -> None:
    """Record what a source added to a step of the active Run, once."""
    contribution = change.contribution
    draft.active(contribution.run_id)
    require_identity("source key", contribution.source_key)
    require_identity("step id", contribution.step_id)
    for number, message in enumerate(contribution.messages):
        require_sound_copy(message, f"$.contribution.messages[{number}]")
    if _has_contribution(draft, contribution):
        raise history_broken(
            f"source {contribution.source_key!r} has contributed to step "
            f"{contribution.step_id!r} already"
        )
    draft.append(contribution, contribution.run_id, contribution.step_id)


def _has_contribution(draft: Draft, contribution: ContextContribution) -> bool:
    place = (contribution.run_id, contribution.step_id, contribution.source_key)
    if draft.history.contribution(*place) is not None:
        return True
    return any(
        isinstance(fact.payload, ContextContribution)
        and (fact.run_id, fact.step_id, fact.payload.source_key) == place
        for fact in draft.facts
    )


def append_budget_exceeded(draft: Draft, change: AppendBudgetExceeded) -> None:
    """Record, once per Run, that its durable token total has reached the budget."""
    fact = change.fact
    run = draft.active(fact.run_id)
    if run.budget_exceeded:
        raise history_broken(f"run {run.id!r} has exceeded its budget before")
    if fact.used != run.tokens:
        raise history_broken(f"run {run.id!r} used {run.tokens} tokens, not {fact.used}")
    if not 0 < fact.limit <= fact.used:
        raise invalid_change(f"{fact.used} tokens do not exceed a budget of {fact.limit}")
    draft.run = run.over_budget()
    draft.append(fact, fact.run_id)


def append_limit_exceeded(draft: Draft, change: AppendLimitExceeded) -> None:
    """Record that the active Run asked for more than its limit leaves."""
    fact = change.fact
    run = draft.active(fact.run_id)
    require_identity("step id", fact.step_id)
    used = run.attempts if fact.exceeded is RunLimit.MODEL_ATTEMPTS else run.tool_calls
    if fact.used != used:
        raise history_broken(f"run {run.id!r} has used {used} {fact.exceeded}, not {fact.used}")
    if fact.limit < 1 or fact.requested <= fact.limit - fact.used:
        raise invalid_change(
            f"{fact.requested} more {fact.exceeded} after {fact.used} do not exceed {fact.limit}"
        )
    draft.append(fact, fact.run_id, fact.step_id)
