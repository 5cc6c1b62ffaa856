"""Reading a Session from its rows."""

import sqlite3
from collections.abc import Iterator
from datetime import datetime
from itertools import count
from typing import Any, TypeVar

from agentslot.session.codec import Decoder, UnreadableError
from agentslot.session.durable import Stored
from agentslot.session.extensionjournal import ExtensionJournal
from agentslot.session.extensions import ExtensionEntry
from agentslot.session.facts import (
    ContextContribution,
    Fact,
    ModelAttempt,
    ModelConfigChanged,
    Payload,
    RunBudgetExceeded,
    RunFact,
    RunLimitExceeded,
)
from agentslot.session.history import History
from agentslot.session.identity import Actor, ActorKind, SessionId, ToolCallId
from agentslot.session.listing import Listed
from agentslot.session.message import Message
from agentslot.session.modelconfig import ModelConfig
from agentslot.session.recent import REMEMBERED_COMMITS, Outcome, RecentCommits
from agentslot.session.requests import session_not_found
from agentslot.session.sharedlist import SharedList
from agentslot.session.state import (
    ActiveRun,
    ContextView,
    Delivery,
    JournalEntry,
    JournalStatus,
    Lineage,
    QueueItem,
    SessionState,
)
from agentslot.session.store import SessionSummary
from agentslot.session.toolcall import ToolCall, ToolResult

T = TypeVar("T")

_PAYLOADS: dict[str, type[Payload]] = {
    "message": Message,
    "tool_call": ToolCall,
    "tool_result": ToolResult,
    "run": RunFact,
    "model_attempt": ModelAttempt,
    "model_config_changed": ModelConfigChanged,
    "context_contribution": ContextContribution,
    "run_budget_exceeded": RunBudgetExceeded,
    "run_limit_exceeded": RunLimitExceeded,
}


def select_session(database: sqlite3.Connection, session_id: SessionId) -> Stored:
    """Read a Session.

    Raises:
        ClassifiedError: `not_found/session_not_found`.
        UnreadableError: the rows do not make a Session.
    """
    row = database.execute(
        "SELECT agent, workspace, revision, created_at, updated_at, model_config, active_run, "
        "lineage FROM sessions WHERE id = ?",
        (session_id,),
    ).fetchone()
    if row is None:
        raise session_not_found(session_id)
    agent, workspace, revision, created_at, updated_at, model_config, active_run, lineage = row
    history = History(_select_facts(database, session_id))
    views = list(_select_contexts(database, session_id))
    state = SessionState(
        session_id,
        agent,
        workspace,
        revision,
        history,
        _decode(ModelConfig, model_config),
        datetime.fromisoformat(created_at),
        datetime.fromisoformat(updated_at),
        tuple(_select_queue(database, session_id)),
        _select_journal(database, session_id, history),
        None if active_run is None else _decode(ActiveRun, active_run),
        None if lineage is None else _decode(Lineage, lineage),
        views[-1] if views else None,
        SharedList(views[:-1]),
        dict(database.execute("SELECT digest, text FROM texts WHERE session = ?", (session_id,))),
        _select_extensions(database, session_id),
    )
    return Stored(state, _select_recent(database, session_id), ())


def select_all(database: sqlite3.Connection) -> list[Listed]:
    """The rows of a listing."""
    rows = database.execute(
        "SELECT id, agent, workspace, revision, updated_at, created_at, lineage FROM sessions"
    )
    return [
        Listed(
            SessionSummary(
                session_id,
                agent,
                workspace,
                revision,
                datetime.fromisoformat(updated_at),
                None if lineage is None else _decode(Lineage, lineage).parent,
            ),
            datetime.fromisoformat(created_at),
        )
        for session_id, agent, workspace, revision, updated_at, created_at, lineage in rows
    ]


def select_first_message(database: sqlite3.Connection, session_id: SessionId) -> Message | None:
    """The first message of a Session that is no copy."""
    row = database.execute(
        "SELECT payload FROM facts WHERE session = ? AND kind = 'message' AND origin IS NULL "
        "ORDER BY sequence LIMIT 1",
        (session_id,),
    ).fetchone()
    return None if row is None else _decode(Message, row[0])


_decoders: dict[type, Any] = {}  # each decodes the class it stands under


def _decode(shape: type[T], text: str) -> T:
    decoder: Decoder[T] | None = _decoders.get(shape)
    if decoder is None:
        decoder = _decoders[shape] = Decoder(shape)
    return decoder(text.encode())


def _select_facts(database: sqlite3.Connection, session_id: SessionId) -> Iterator[Fact]:
    rows = database.execute(
        "SELECT sequence, kind, run, step, at, actor_kind, actor, origin, payload FROM facts "
        "WHERE session = ? ORDER BY sequence",
        (session_id,),
    )
    due = count(1)
    for sequence, kind, run, step, at, actor_kind, actor, origin, payload in rows:
        if sequence != next(due) or kind not in _PAYLOADS:
            raise UnreadableError(f"fact {sequence}, a {kind!r}, has no place there")
        yield Fact(
            session_id,
            sequence,
            run,
            step,
            datetime.fromisoformat(at),
            Actor(ActorKind(actor_kind), actor),
            _decode(_PAYLOADS[kind], payload),
            origin,
        )


def _select_contexts(database: sqlite3.Connection, session_id: SessionId) -> Iterator[ContextView]:
    rows = database.execute(
        "SELECT view FROM contexts WHERE session = ? ORDER BY version", (session_id,)
    )
    for (view,) in rows:
        yield _decode(ContextView, view)


def _select_queue(database: sqlite3.Connection, session_id: SessionId) -> Iterator[QueueItem]:
    rows = database.execute(
        "SELECT message, delivery FROM queue WHERE session = ? ORDER BY position", (session_id,)
    )
    for message, delivery in rows:
        yield QueueItem(_decode(Message, message), Delivery(delivery))


def _select_journal(
    database: sqlite3.Connection, session_id: SessionId, history: History
) -> dict[ToolCallId, JournalEntry]:
    rows = database.execute(
        "SELECT call, status FROM journal WHERE session = ? ORDER BY call_sequence", (session_id,)
    )
    journal: dict[ToolCallId, JournalEntry] = {}
    for call_id, status in rows:
        call = history.call(call_id)
        if call is None or history.result(call_id) is not None:
            raise UnreadableError(f"tool call {call_id!r} is not what its journal entry says")
        journal[call_id] = JournalEntry(call, JournalStatus(status))
    return journal


def _select_extensions(database: sqlite3.Connection, session_id: SessionId) -> ExtensionJournal:
    rows = database.execute(
        "SELECT sequence, entry FROM extensions WHERE session = ? ORDER BY sequence", (session_id,)
    )
    entries = {sequence: _decode(ExtensionEntry, entry) for sequence, entry in rows}
    if list(entries) != list(range(1, len(entries) + 1)):
        raise UnreadableError("the journal of hooks has gaps")
    return ExtensionJournal().updated(entries) if entries else ExtensionJournal()


def _select_recent(database: sqlite3.Connection, session_id: SessionId) -> RecentCommits[bytes]:
    rows = database.execute(
        "SELECT idempotency_key, fingerprint, revision, first_sequence, last_sequence FROM commits "
        "WHERE session = ? ORDER BY revision DESC LIMIT ?",
        (session_id, REMEMBERED_COMMITS),
    ).fetchall()
    recent = RecentCommits[bytes]()
    for key, evidence, *outcome in reversed(rows):
        recent.add(key, evidence, Outcome(*outcome))
    return recent
