"""Reading a Session from the tables of `sqliteschema`."""

import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from agentslot.session.beginning import Beginning, beginning_of
from agentslot.session.codec import UnreadableError
from agentslot.session.facts import Fact
from agentslot.session.identity import SessionId
from agentslot.session.listing import Listed
from agentslot.session.medium import Stored
from agentslot.session.message import Message
from agentslot.session.recent import REMEMBERED_COMMITS
from agentslot.session.requests import session_not_found
from agentslot.session.rows import (
    ContextRow,
    FactIndex,
    FactRow,
    SessionRow,
    SessionRows,
    contexts_of,
    decode_if_readable,
    facts_of,
    newest_contexts_from,
    newest_from,
    recent_commits,
)
from agentslot.session.state import ContextView

_SESSIONS = (
    "SELECT id, agent, workspace, revision, created_at, updated_at, model_config, active_run, "
    "lineage FROM sessions"
)

_CONTEXTS = """
SELECT coalesce((SELECT min(version) FROM contexts WHERE session = sessions.id), 0),
    coalesce((SELECT max(version) FROM contexts WHERE session = sessions.id), 0)
FROM sessions WHERE id = ?
"""

_SUBJECTS = """
SELECT sequence, kind, run, step,
    CASE kind
        WHEN 'message' THEN payload ->> '$.id'
        WHEN 'tool_call' THEN payload ->> '$.id'
        WHEN 'tool_result' THEN payload ->> '$.call_id'
        WHEN 'model_attempt' THEN payload ->> '$.attempt_id'
        WHEN 'context_contribution' THEN payload ->> '$.source_key'
    END,
    CASE WHEN kind IN ('run', 'model_attempt') THEN payload ->> '$.status' END
FROM facts WHERE session = ? ORDER BY sequence
"""


def select_session(
    database: sqlite3.Connection,
    session_id: SessionId,
    read_facts: Callable[[int, int], Sequence[Fact]],
    read_contexts: Callable[[int, int], Sequence[ContextView]],
) -> Stored:
    """Read a Session.

    Args:
        database: where it is.
        session_id: which one.
        read_facts: how its older facts are read, when they are asked for.
        read_contexts: likewise its older contexts, by their versions.

    Raises:
        ClassifiedError: `not_found/session_not_found`.
        UnreadableError: the rows do not make a Session.
    """

    def select(question: str, *more: object) -> sqlite3.Cursor:
        return database.execute(question, (session_id, *more))

    row = select(f"{_SESSIONS} WHERE id = ?").fetchone()
    if row is None:
        raise session_not_found(session_id)
    index = FactIndex()
    index.take(select(_SUBJECTS))
    journal = select(
        "SELECT call, status, call_sequence FROM journal WHERE session = ? ORDER BY call_sequence"
    ).fetchall()
    kept = select(_CONTEXTS).fetchone()
    rows = SessionRows(
        _session_row(row),
        index,
        _select_rows(database, session_id, newest_from(index.length, journal), index.length),
        read_facts,
        select("SELECT message, delivery FROM queue WHERE session = ? ORDER BY position"),
        journal,
        kept[0],
        _select_contexts(database, session_id, newest_contexts_from(*kept), kept[1]),
        read_contexts,
        dict(select("SELECT digest, text FROM texts WHERE session = ?")),
        select("SELECT sequence, entry FROM extensions WHERE session = ? ORDER BY sequence"),
    )
    newest = select(
        "SELECT idempotency_key, fingerprint, revision, first_sequence, last_sequence FROM commits "
        "WHERE session = ? ORDER BY revision DESC LIMIT ?",
        REMEMBERED_COMMITS,
    ).fetchall()
    return Stored(rows.state(), recent_commits(reversed(newest)), ())


def select_facts(
    database: sqlite3.Connection, session_id: SessionId, first: int, last: int
) -> list[Fact]:
    """The facts from one sequence to another.

    Raises:
        UnreadableError: the rows do not make them.
    """
    return facts_of(session_id, _select_rows(database, session_id, first, last), first, last)


def select_contexts(
    database: sqlite3.Connection, session_id: SessionId, first: int, last: int
) -> list[ContextView]:
    """The contexts from one version to another.

    Raises:
        UnreadableError: the rows do not make them.
    """
    return contexts_of(_select_contexts(database, session_id, first, last), first, last)


def select_beginning(database: sqlite3.Connection, session_id: SessionId) -> Beginning:
    """Look at every fact of a Session.

    Raises:
        ClassifiedError: `not_found/session_not_found`.
    """
    row = database.execute(f"{_SESSIONS} WHERE id = ?", (session_id,)).fetchone()
    if row is None:
        raise session_not_found(session_id)
    ((last,),) = database.execute(
        "SELECT coalesce(max(last_sequence), 0) FROM commits WHERE session = ?", (session_id,)
    )
    return beginning_of(_session_row(row), _rows_while_readable(database, session_id), last)


def _rows_while_readable(database: sqlite3.Connection, session_id: SessionId) -> Iterator[FactRow]:
    last = 0
    try:
        for row in _select_rows(database, session_id, 1, sys.maxsize):
            yield row
            last = row.sequence
    except sqlite3.DatabaseError as error:
        raise UnreadableError(f"what stands behind fact {last}: {error}") from error


def select_all(database: sqlite3.Connection) -> list[Listed]:
    """The rows of a listing."""
    return [_session_row(row).listed() for row in database.execute(_SESSIONS)]


def select_first_message(database: sqlite3.Connection, session_id: SessionId) -> Message | None:
    """The first message of a Session that is no copy, if it can be read."""
    row = database.execute(
        "SELECT payload FROM facts WHERE session = ? AND kind = 'message' AND origin IS NULL "
        "ORDER BY sequence LIMIT 1",
        (session_id,),
    ).fetchone()
    return None if row is None else decode_if_readable(Message, row[0])


def _session_row(row: tuple[Any, ...]) -> SessionRow:  # as SQLite gives it
    session_id, agent, workspace, revision, created_at, updated_at, *values = row
    created, updated = datetime.fromisoformat(created_at), datetime.fromisoformat(updated_at)
    return SessionRow(session_id, agent, workspace, revision, created, updated, *values)


def _select_rows(
    database: sqlite3.Connection, session_id: SessionId, first: int, last: int
) -> Iterator[FactRow]:
    rows = database.execute(
        "SELECT sequence, kind, run, step, at, actor_kind, actor, origin, payload FROM facts "
        "WHERE session = ? AND sequence BETWEEN ? AND ? ORDER BY sequence",
        (session_id, first, last),
    )
    for sequence, kind, run, step, at, *rest in rows:
        yield FactRow(sequence, kind, run, step, datetime.fromisoformat(at), *rest)


def _select_contexts(
    database: sqlite3.Connection, session_id: SessionId, first: int, last: int
) -> Iterator[ContextRow]:
    return database.execute(
        "SELECT version, view FROM contexts WHERE session = ? AND version BETWEEN ? AND ? "
        "ORDER BY version",
        (session_id, first, last),
    )
