"""Writing a Session to its rows: what is new between two states, and nothing else."""

import sqlite3
from collections.abc import Iterable

from agentslot.session.codec import encode
from agentslot.session.extensions import ExtensionEntry
from agentslot.session.facts import Fact
from agentslot.session.identity import SessionId
from agentslot.session.recent import Outcome
from agentslot.session.state import ActiveRun, QueueItem, SessionState


def insert_session(database: sqlite3.Connection, state: SessionState) -> None:
    """Write a new Session with the facts that it starts with."""
    database.execute(
        "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            state.id,
            state.agent,
            state.workspace,
            state.revision,
            state.created_at.isoformat(),
            state.updated_at.isoformat(),
            encode(state.model_config).decode(),
            None,
            encode(state.lineage).decode() if state.lineage else None,
        ),
    )
    _insert_facts(database, state.history)


def update_session(database: sqlite3.Connection, before: SessionState, after: SessionState) -> None:
    """Write what one commit changed."""
    database.execute(
        "UPDATE sessions SET revision = ?, updated_at = ? WHERE id = ?",
        (after.revision, after.updated_at.isoformat(), after.id),
    )
    new_facts = after.history[len(before.history) :]
    _insert_facts(database, new_facts)
    if after.model_config is not before.model_config:
        database.execute(
            "UPDATE sessions SET model_config = ? WHERE id = ?",
            (encode(after.model_config).decode(), after.id),
        )
    if after.active_run is not before.active_run:
        _update_run(database, after.id, after.active_run)
    if after.queue is not before.queue:
        _replace_queue(database, after.id, after.queue)
    if after.journal is not before.journal:
        _update_journal(database, before, after, new_facts)
    if after.extensions is not before.extensions:
        changed = after.extensions.changed_since(before.extensions)
        _replace_extensions(database, after.id, changed)
    if after.context is not before.context:
        _insert_context(database, after)
    for digest in after.texts.keys() - before.texts.keys():
        row = after.id, digest, after.texts[digest]
        database.execute("INSERT INTO texts VALUES (?, ?, ?)", row)


def insert_commit(
    database: sqlite3.Connection,
    session_id: SessionId,
    key: str,
    evidence: bytes,
    outcome: Outcome,
) -> None:
    """Remember a commit for when it is sent again."""
    database.execute(
        "INSERT INTO commits VALUES (?, ?, ?, ?, ?, ?)",
        (
            session_id,
            outcome.revision,
            key,
            evidence,
            outcome.first_sequence,
            outcome.last_sequence,
        ),
    )


def _insert_facts(database: sqlite3.Connection, facts: Iterable[Fact]) -> None:
    database.executemany(
        "INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                fact.session_id,
                fact.sequence,
                fact.kind,
                fact.run_id,
                fact.step_id,
                fact.at.isoformat(),
                fact.actor.kind,
                fact.actor.id,
                fact.origin_id,
                encode(fact.payload).decode(),
            )
            for fact in facts
        ),
    )


def _update_run(database: sqlite3.Connection, session_id: SessionId, run: ActiveRun | None) -> None:
    row = encode(run).decode() if run else None, session_id
    database.execute("UPDATE sessions SET active_run = ? WHERE id = ?", row)


def _replace_queue(
    database: sqlite3.Connection, session_id: SessionId, queue: tuple[QueueItem, ...]
) -> None:
    database.execute("DELETE FROM queue WHERE session = ?", (session_id,))
    database.executemany(
        "INSERT INTO queue VALUES (?, ?, ?, ?)",
        (
            (session_id, position, item.delivery, encode(item.message).decode())
            for position, item in enumerate(queue)
        ),
    )


def _update_journal(
    database: sqlite3.Connection,
    before: SessionState,
    after: SessionState,
    new_facts: Iterable[Fact],
) -> None:
    for call_id in before.journal.keys() - after.journal.keys():
        database.execute("DELETE FROM journal WHERE session = ? AND call = ?", (after.id, call_id))
    for fact in new_facts:
        payload = fact.payload
        if payload.kind == "tool_call" and payload.id in after.journal:
            status = after.journal[payload.id].status
            new_row = after.id, fact.sequence, payload.id, status
            database.execute("INSERT INTO journal VALUES (?, ?, ?, ?)", new_row)
    for call_id, entry in after.journal.items():
        known = before.journal.get(call_id)
        if known is not None and known is not entry:
            row = entry.status, after.id, call_id
            database.execute("UPDATE journal SET status = ? WHERE session = ? AND call = ?", row)


def _replace_extensions(
    database: sqlite3.Connection, session_id: SessionId, entries: Iterable[ExtensionEntry]
) -> None:
    database.executemany(
        "INSERT OR REPLACE INTO extensions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                session_id,
                entry.sequence,
                entry.invocation.descriptor.key,
                entry.invocation.boundary,
                entry.invocation.run_id,
                entry.status,
                entry.effect,
                encode(entry).decode(),
            )
            for entry in entries
        ),
    )


def _insert_context(database: sqlite3.Connection, state: SessionState) -> None:
    view = state.context
    if view is None:
        return
    new_row = state.id, view.version, encode(view).decode()
    database.execute("INSERT INTO contexts VALUES (?, ?, ?)", new_row)
    if not state.retained_contexts:
        row = state.id, view.version
        database.execute("DELETE FROM contexts WHERE session = ? AND version < ?", row)
