"""Extension diagnostics: what people may see of the extension journal, without any content."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from agentslot.session.errors import ClassifiedError, ErrorKind
from agentslot.session.extensionjournal import ExtensionJournal
from agentslot.session.extensions import (
    ContextDisposition,
    ExtensionDecision,
    ExtensionEffect,
    ExtensionEntry,
    ExtensionInvocation,
    ExtensionStatus,
)
from agentslot.session.identity import MessageId, RunId
from agentslot.session.state import SessionState

DEFAULT_PAGE_DIAGNOSTICS = 50
MAX_PAGE_DIAGNOSTICS = 100


@dataclass(frozen=True, slots=True)
class ExtensionDiagnostic:
    """One invocation of a hook: everything but the messages that it was shown or proposed.

    Attributes:
        sequence: position in the journal, contiguous from 1; the cursor of pages.
        context_bytes: size of the proposed context in its canonical spelling, 0 if there was none.
    """

    sequence: int
    invocation: ExtensionInvocation
    prepared_at: datetime
    pending_at: datetime | None
    finished_at: datetime | None
    status: ExtensionStatus
    decision: ExtensionDecision | None
    reason: str
    error_code: str
    error_reason: str
    effect: ExtensionEffect
    context: ContextDisposition
    context_digest: str
    context_bytes: int


def diagnostic(entry: ExtensionEntry) -> ExtensionDiagnostic:
    """The one projection of an entry that leaves the Session."""
    return ExtensionDiagnostic(
        entry.sequence,
        entry.invocation,
        entry.prepared_at,
        entry.pending_at,
        entry.finished_at,
        entry.status,
        entry.decision,
        entry.reason,
        entry.error_code,
        entry.error_reason,
        entry.effect,
        entry.context,
        entry.context_digest,
        entry.context_bytes,
    )


def diagnostics_page(
    journal: ExtensionJournal, *, before_sequence: int = 0, limit: int = 0
) -> tuple[tuple[ExtensionDiagnostic, ...], bool]:
    """The newest invocations before one, newest first, and whether anything older remains.

    Args:
        journal: the journal of one Session.
        before_sequence: sequence of the oldest invocation known already; 0 for the end.
        limit: how many at most, 1 to 100; 0 for 50.

    Raises:
        ClassifiedError: `invalid_input/invalid_limit`.
    """
    limit = limit or DEFAULT_PAGE_DIAGNOSTICS
    if not 1 <= limit <= MAX_PAGE_DIAGNOSTICS or before_sequence < 0:
        raise ClassifiedError(
            ErrorKind.INVALID_INPUT,
            "invalid_limit",
            f"limit must be 1 to {MAX_PAGE_DIAGNOSTICS} and before_sequence no less than 0, "
            f"not {limit} and {before_sequence}",
        )
    newest = min(before_sequence - 1, len(journal)) if before_sequence else len(journal)
    oldest = max(newest - limit, 0)
    return tuple(diagnostic(journal[s]) for s in range(newest, oldest, -1)), oldest > 0


def run_diagnostics(
    state: SessionState, run_id: RunId, message_id: MessageId
) -> tuple[tuple[ExtensionDiagnostic, ...], bool]:
    """At most 100 invocations of a Run and of the message it began with, newest first.

    Returns:
        The invocations, and whether there are more.
    """
    found = list(islice(_of_run(state, run_id, message_id), MAX_PAGE_DIAGNOSTICS + 1))
    shown = tuple(map(diagnostic, found[:MAX_PAGE_DIAGNOSTICS]))
    return shown, len(found) > MAX_PAGE_DIAGNOSTICS


def _of_run(state: SessionState, run_id: RunId, message_id: MessageId) -> Iterator[ExtensionEntry]:
    start, message = state.history.run_start(run_id), state.history.message(message_id)
    if start is None or message is None:
        return
    began = min(start.at, message.created_at)
    for entry in reversed(state.extensions):
        if entry.prepared_at < began:
            return
        invocation = entry.invocation
        if run_id == invocation.run_id or message_id == invocation.message_id:
            yield entry
