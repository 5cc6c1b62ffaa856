"""Reading a Session from the tables of `sqliteschema`."""

import sqlite3
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from agentslot.session.identity import SessionId
from agentslot.session.listing import Listed
from agentslot.session.medium import Stored
from agentslot.session.message import Message
from agentslot.session.recent import REMEMBERED_COMMITS
from agentslot.session.requests import session_not_found
from agentslot.session.rows import FactRow, SessionRow, SessionRows, decode, recent_commits

_SESSIONS = (
    "SELECT id, agent, workspace, revision, created_at, updated_at, model_config, active_run, "
    "lineage FROM sessions"
)


def select_session(database: sqlite3.Connection, session_id: SessionId) -> Stored:
    """Read a Session.

    Raises:
        ClassifiedError: `not_found/session_not_found`.
        UnreadableError: the rows do not make a Session.
    """

    def select(question: str, *more: object) -> sqlite3.Cursor:
        return database.execute(question, (session_id, *more))

    row = select(f"{_SESSIONS} WHERE id = ?").fetchone()
    if row is None:
        raise session_not_found(session_id)
    rows = SessionRows(
        _session_row(row),
        _select_facts(database, session_id),
        select("SELECT message, delivery FROM queue WHERE session = ? ORDER BY position"),
        select("SELECT call, status FROM journal WHERE session = ? ORDER BY call_sequence"),
        (
            view
            for (view,) in select("SELECT view FROM contexts WHERE session = ? ORDER BY version")
        ),
        dict(select("SELECT digest, text FROM texts WHERE session = ?")),
        select("SELECT sequence, entry FROM extensions WHERE session = ? ORDER BY sequence"),
    )
    newest = select(
        "SELECT idempotency_key, fingerprint, revision, first_sequence, last_sequence FROM commits "
        "WHERE session = ? ORDER BY revision DESC LIMIT ?",
        REMEMBERED_COMMITS,
    ).fetchall()
    return Stored(rows.state(), recent_commits(reversed(newest)), ())


def select_all(database: sqlite3.Connection) -> list[Listed]:
    """The rows of a listing."""
    return [_session_row(row).listed() for row in database.execute(_SESSIONS)]


def select_first_message(database: sqlite3.Connection, session_id: SessionId) -> Message | None:
    """The first message of a Session that is no copy."""
    row = database.execute(
        "SELECT payload FROM facts WHERE session = ? AND kind = 'message' AND origin IS NULL "
        "ORDER BY sequence LIMIT 1",
        (session_id,),
    ).fetchone()
    return None if row is None else decode(Message, row[0])


def _session_row(row: tuple[Any, ...]) -> SessionRow:  # as SQLite gives it
    session_id, agent, workspace, revision, created_at, updated_at, *values = row
    created, updated = datetime.fromisoformat(created_at), datetime.fromisoformat(updated_at)
    return SessionRow(session_id, agent, workspace, revision, created, updated, *values)


def _select_facts(database: sqlite3.Connection, session_id: SessionId) -> Iterator[FactRow]:
    rows = database.execute(
        "SELECT sequence, kind, run, step, at, actor_kind, actor, origin, payload FROM facts "
        "WHERE session = ? ORDER BY sequence",
        (session_id,),
    )
    for sequence, kind, run, step, at, *rest in rows:
        yield FactRow(sequence, kind, run, step, datetime.fromisoformat(at), *rest)
