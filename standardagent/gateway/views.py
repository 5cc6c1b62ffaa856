"""What people see of a Session, cut from its state."""

from collections.abc import Sequence
from decimal import Decimal

from agentslot.interaction import (
    ExtensionDiagnosticsPage,
    HistoryPage,
    PendingApproval,
    RunResult,
    SessionView,
)
from agentslot.session import (
    ClassifiedError,
    ErrorKind,
    Fact,
    History,
    Message,
    MessageId,
    ModelAttempt,
    Role,
    RunFact,
    RunId,
    SessionState,
    TokenUsage,
    diagnostics_page,
    read_history,
    run_diagnostics,
)
from agentslot.session.pages import history_page
from agentslot.standardagent.policy import ApprovalDesk

VIEW_STEPS = 100
VIEW_DIAGNOSTICS = 32


async def session_view(state: SessionState, desk: ApprovalDesk | None) -> SessionView:
    """The Session as it stands, with the facts of its last steps."""
    history = state.history
    facts, has_more = await read_history(history, history_page, history, step_limit=VIEW_STEPS)
    waiting = desk.waiting(state.id) if desk is not None else ()
    diagnostics, has_more_diagnostics = diagnostics_page(state.extensions, limit=VIEW_DIAGNOSTICS)
    return SessionView(
        state.id,
        state.agent,
        state.workspace,
        state.revision,
        facts,
        has_more,
        state.queue,
        state.model_config,
        None if state.active_run is None else state.active_run.id,
        tuple(PendingApproval(r.action.call, r.reason, r.digest) for r in waiting),
        diagnostics,
        has_more_diagnostics,
    )


async def page_of(state: SessionState, before_sequence: int, step_limit: int) -> HistoryPage:
    """Older facts, whole steps only."""
    history = state.history
    facts, has_more = await read_history(
        history, history_page, history, before_sequence=before_sequence, step_limit=step_limit
    )
    return HistoryPage(state.id, state.revision, facts, has_more)


def diagnostics_of(
    state: SessionState, before_sequence: int, limit: int
) -> ExtensionDiagnosticsPage:
    """Older invocations of hooks."""
    diagnostics, has_more = diagnostics_page(
        state.extensions, before_sequence=before_sequence, limit=limit
    )
    return ExtensionDiagnosticsPage(state.id, state.revision, diagnostics, has_more)


async def run_result(state: SessionState, message_id: MessageId) -> RunResult:
    """What became of a message that a Run has taken up and ended with.

    Raises:
        ClassifiedError: `conflict/no_pending_work` if no Run took it up.
    """
    return await read_history(state.history, _run_result, state, message_id)


def _run_result(state: SessionState, message_id: MessageId) -> RunResult:
    message = state.history.message(message_id)
    if message is None or message.run_id is None:
        raise ClassifiedError(
            ErrorKind.CONFLICT,
            "no_pending_work",
            f"message {message_id!r} waits in the queue; no Run has taken it up",
        )
    run_id = message.run_id
    facts = _facts_of(state.history, run_id)
    end = facts[-1].payload
    assert isinstance(end, RunFact)
    messages = [f.payload for f in facts if isinstance(f.payload, Message)]
    answers = tuple(m for m in messages if m.role is Role.ASSISTANT and m.text)
    diagnostics, has_more_diagnostics = run_diagnostics(state, run_id, message_id)
    attempts = [f.payload for f in facts if isinstance(f.payload, ModelAttempt)]
    usage, cost_usd = _spent(attempts)
    return RunResult(
        state.id,
        run_id,
        message_id,
        state.revision,
        end.status,
        answers,
        usage,
        end.termination,
        diagnostics,
        has_more_diagnostics,
        cost_usd,
        next((each.finish_reason for each in reversed(attempts) if each.finish_reason), ""),
    )


def _spent(attempts: Sequence[ModelAttempt]) -> tuple[TokenUsage, Decimal | None]:
    """Tokens of all attempts, and what they cost if each one's price was known."""
    usage, cost, priced = TokenUsage(), Decimal(0), bool(attempts)
    for attempt in attempts:
        if attempt.usage is not None:
            usage += attempt.usage
            priced = priced and attempt.cost_usd is not None
            cost += attempt.cost_usd or 0
    return usage, cost if priced else None


def _facts_of(history: History, run_id: RunId) -> Sequence[Fact]:
    """The facts of an ended Run, from its start to its end."""
    start, end = history.run_start(run_id), history.run_end(run_id)
    if start is None or end is None:
        raise ClassifiedError(
            ErrorKind.UNAVAILABLE, "runtime_closed", f"Run {run_id!r} has not ended durably"
        )
    return history[start.sequence - 1 : end.sequence]
