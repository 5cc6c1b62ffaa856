"""The Session as a pure function: what a commit does, what a crash leaves to settle.

No input or output, no clock, no identities of its own. Stores add durability and compare-and-swap
around these functions and differ in nothing else. A commit costs what it adds: no function here
copies History or walks through it.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from agentslot.session import changes as c
from agentslot.session.draft import Draft, require_identity
from agentslot.session.errors import ErrorKind
from agentslot.session.facts import (
    AttemptStatus,
    Fact,
    ModelAttempt,
    RunFact,
    RunStatus,
    RunTermination,
    TerminationSource,
)
from agentslot.session.history import History
from agentslot.session.identity import SERVICE_ACTOR, Actor
from agentslot.session.refusal import invalid_change
from agentslot.session.rules import context, copying, extensions, queue, run, transcript
from agentslot.session.settlement import is_resumable_completion, recovered
from agentslot.session.state import Delivery, JournalStatus, SessionState
from agentslot.session.store import NewSession
from agentslot.session.text import require_unicode
from agentslot.session.toolcall import ToolResult, ToolStatus

# Each handler takes its own change class; the table pairs them, which no annotation can say.
_HANDLERS: dict[type[c.Change], Callable[[Draft, Any], None]] = {
    c.AppendMessage: transcript.append_message,
    c.AppendToolCall: transcript.append_tool_call,
    c.MarkToolPending: transcript.mark_tool_pending,
    c.AppendToolResult: transcript.append_tool_result,
    c.AppendRun: run.append_run,
    c.AppendAttempt: run.append_attempt,
    c.AppendContextContribution: run.append_context_contribution,
    c.AppendBudgetExceeded: run.append_budget_exceeded,
    c.AppendLimitExceeded: run.append_limit_exceeded,
    c.Enqueue: queue.enqueue,
    c.ConsumeQueued: queue.consume_queued,
    c.EditQueued: queue.edit_queued,
    c.DeleteQueued: queue.delete_queued,
    c.ReclassifyQueued: queue.reclassify_queued,
    c.SetContext: context.set_context,
    c.SetModelConfig: context.set_model_config,
    c.UpdateExtensionJournal: extensions.update_extension_journal,
}


def create(new: NewSession, now: datetime) -> SessionState:
    """A Session at revision 1: idle, with nothing queued and nothing in its context.

    Raises:
        ClassifiedError: `invalid_input/invalid_change` or `conflict/…` if the identities, the
            lineage or the facts to start with are not what a Session can start with.
    """
    for what, text in (("session", new.id), ("agent", new.agent), ("workspace", new.workspace)):
        require_identity(f"{what} id", text)
        require_unicode(text, f"the {what} id")
    lineage = new.lineage
    if lineage is not None and lineage.parent == new.id:
        raise invalid_change(f"session {new.id!r} cannot be its own parent")
    if lineage is not None and (lineage.parent_revision < 1 or lineage.copied < 0):
        raise invalid_change(f"session {new.id!r} has an impossible lineage: {lineage}")
    empty = SessionState(
        new.id, new.agent, new.workspace, 0, History(), new.model_config, now, now, lineage=lineage
    )
    return copying.start_with(empty, new.facts, lineage.copied if lineage else 0)


def apply(
    state: SessionState,
    changes: Sequence[c.Change],
    *,
    now: datetime,
    actor: Actor | None = None,
) -> SessionState:
    """The Session after one commit: all changes in their order, or none.

    Raises:
        ClassifiedError: a change breaks a rule; its code says which kind of rule. `state` is as it
            was.
    """
    draft = Draft(state, SERVICE_ACTOR, now)
    apply_to(draft, changes, now=now, actor=actor)
    return draft.so_far()


def apply_to(
    draft: Draft, changes: Sequence[c.Change], *, now: datetime, actor: Actor | None = None
) -> None:
    """Make one commit on a draft that may go on: how many commits are folded into one state.

    Raises:
        ClassifiedError: as for `apply`; the draft is then of no use any more.
    """
    if not changes:
        raise invalid_change("a commit has at least one change")
    draft.now = now
    draft.actor = actor or SERVICE_ACTOR
    for change in changes:
        _HANDLERS[type(change)](draft, change)
    draft.next_commit()


def recover(state: SessionState) -> tuple[c.Change, ...]:
    """The changes that settle what a crash left open; empty if there is nothing to settle.

    Open attempts, pending calls and hooks that were being asked end with an unknown outcome: none
    is ever repeated. Prepared calls and completion gates have had no effect, so their Run stays
    active to be resumed. Any other Run ends as interrupted, and what was to steer it is held.
    Committing the changes settles everything: a second recovery finds nothing.
    """
    active = state.active_run
    if active is None:
        return tuple(recovered(state, resumable=False))
    changes: list[c.Change] = [
        c.AppendAttempt(_unknown_outcome(state.history.attempt_start(attempt_id)))
        for attempt_id in active.open_attempts
    ]
    resumable = is_resumable_completion(state)
    for call_id, entry in state.journal.items():
        if entry.status is JournalStatus.PENDING:
            changes.append(c.AppendToolResult(ToolResult(call_id, ToolStatus.OUTCOME_UNKNOWN)))
        else:
            resumable = True
    changes += recovered(state, resumable=resumable)
    if not resumable:
        end = RunFact(
            active.id,
            RunStatus.INTERRUPTED,
            active.config,
            active.config_revision,
            _PROCESS_INTERRUPTED,
        )
        changes.append(c.AppendRun(end))
        changes += [
            c.ReclassifyQueued(item.message.id, Delivery.HELD)
            for item in state.queue
            if item.delivery is Delivery.STEER
        ]
    return tuple(changes)


_PROCESS_INTERRUPTED = RunTermination(
    TerminationSource.RUNTIME,
    ErrorKind.UNAVAILABLE,
    "process_interrupted",
    "the process ended while the run was active",
)


def _unknown_outcome(start: Fact | None) -> ModelAttempt:
    if start is None or not isinstance(start.payload, ModelAttempt):
        raise AssertionError("an open attempt has its start in History")
    started = start.payload
    return ModelAttempt(
        started.attempt_id,
        started.run_id,
        started.step_id,
        AttemptStatus.OUTCOME_UNKNOWN,
        started.provider,
        started.model,
        error_code=_PROCESS_INTERRUPTED.code,
    )
