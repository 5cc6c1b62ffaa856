"""Settling invocations that nobody will finish: after a crash, or when their Run ends first."""

from collections.abc import Mapping
from dataclasses import dataclass

from agentslot.session.changes import UpdateExtensionJournal
from agentslot.session.extensions import (
    ContextDisposition,
    ExtensionBoundary,
    ExtensionEffect,
    ExtensionEntry,
    ExtensionStatus,
    InvocationEnded,
    InvocationSettled,
    InvocationStep,
)
from agentslot.session.rules.extensions import OF_A_RUN
from agentslot.session.state import SessionState


@dataclass(frozen=True, slots=True)
class _Abandonment:
    """How an invocation ends that was never finished.

    Attributes:
        unasked: status and code if the component was never called.
        unknown: code if it may have been.
    """

    unasked: tuple[ExtensionStatus, str]
    unknown: str


_ABANDONED: Mapping[ExtensionBoundary, _Abandonment] = {
    ExtensionBoundary.INPUT_GATE: _Abandonment(
        (ExtensionStatus.FAILED, "extension_input_unavailable"), "hook_outcome_unknown"
    ),
    ExtensionBoundary.TOOL_PREFLIGHT: _Abandonment(
        (ExtensionStatus.CANCELED, "tool_preflight_not_applicable"),
        "hook_preflight_outcome_unknown",
    ),
    ExtensionBoundary.TOOL_RESULT: _Abandonment(
        (ExtensionStatus.CANCELED, "tool_result_hook_batch_aborted"), "hook_outcome_unknown"
    ),
    ExtensionBoundary.COMPLETION: _Abandonment(
        (ExtensionStatus.CANCELED, "completion_gate_batch_aborted"),
        "completion_gate_outcome_unknown",
    ),
    ExtensionBoundary.SESSION_LIFECYCLE: _Abandonment(
        (ExtensionStatus.CANCELED, "session_lifecycle_recovery_canceled"), "hook_outcome_unknown"
    ),
}


def abandoned(entry: ExtensionEntry) -> list[UpdateExtensionJournal]:
    """The changes that end and settle an open entry: whatever it proposed is discarded."""
    return [UpdateExtensionJournal(entry.sequence, step) for step in _steps(entry)]


def _steps(entry: ExtensionEntry) -> list[InvocationStep]:
    rule = _ABANDONED[entry.invocation.boundary]
    discarded = InvocationSettled(ExtensionEffect.DISCARDED)
    if entry.status is ExtensionStatus.PREPARED:
        status, code = rule.unasked
        ended = InvocationEnded(status, code)
        return [ended] if status is ExtensionStatus.CANCELED else [ended, discarded]
    if entry.status is ExtensionStatus.PENDING:
        return [unknown_outcome(entry), discarded]
    return [discard(entry)]


def unknown_outcome(entry: ExtensionEntry) -> InvocationEnded:
    """The end of a component that was called and whose answer is lost."""
    return InvocationEnded(
        ExtensionStatus.OUTCOME_UNKNOWN, _ABANDONED[entry.invocation.boundary].unknown
    )


def discard(entry: ExtensionEntry) -> InvocationSettled:
    """Drop what an ended invocation has not done yet: its effect, its context, or both."""
    undone = entry.effect is ExtensionEffect.PENDING
    waits = entry.context is ContextDisposition.PENDING
    return InvocationSettled(
        ExtensionEffect.DISCARDED if undone else ExtensionEffect.NONE,
        ContextDisposition.DISCARDED if waits else ContextDisposition.NONE,
    )


def is_resumable_completion(state: SessionState) -> bool:
    """Whether a Run waits at its completion for gates of which none was interrupted."""
    run = state.active_run
    if run is None or run.open_attempts or state.journal:
        return False
    gates = [
        entry
        for entry in state.extensions.open.values()
        if entry.invocation.boundary is ExtensionBoundary.COMPLETION
    ]
    undisturbed = (ExtensionStatus.PREPARED, ExtensionStatus.SUCCEEDED)
    return bool(gates) and all(entry.status in undisturbed for entry in gates)


def recovered(state: SessionState, *, resumable: bool) -> list[UpdateExtensionJournal]:
    """What a crash asks of the journal.

    What belongs to a Run that can be resumed is left to it, except that a component which may have
    been called has an unknown outcome. What waits for a message that is still queued, or for the
    next Run, goes on waiting.
    """
    changes: list[UpdateExtensionJournal] = []
    for entry in state.extensions.open.values():
        if resumable and entry.invocation.boundary in (
            ExtensionBoundary.TOOL_PREFLIGHT,
            ExtensionBoundary.COMPLETION,
        ):
            if entry.status is ExtensionStatus.PENDING:
                changes.append(UpdateExtensionJournal(entry.sequence, unknown_outcome(entry)))
        elif not _still_waits(state, entry):
            changes += abandoned(entry)
    return changes


def _still_waits(state: SessionState, entry: ExtensionEntry) -> bool:
    if entry.effect is not ExtensionEffect.APPLIED or entry.invocation.boundary in OF_A_RUN:
        return False
    message_id = entry.invocation.message_id
    return message_id is None or state.queued(message_id) is not None
