"""Reading a Session from the tables of `postgresschema`."""

import sys
from collections.abc import Callable, Sequence
from typing import Any, cast

from anyio import to_thread
from pydantic_core import from_json

from agentslot.session.beginning import Beginning, beginning_of
from agentslot.session.codec import UnreadableError
from agentslot.session.facts import Fact
from agentslot.session.identity import AgentId, SessionId, WorkspaceId
from agentslot.session.listing import Listed
from agentslot.session.medium import Stored
from agentslot.session.message import Message
from agentslot.session.postgresdriver import Database
from agentslot.session.recent import REMEMBERED_COMMITS
from agentslot.session.requests import session_not_found
from agentslot.session.rows import (
    FactIndex,
    FactRow,
    SessionRow,
    SessionRows,
    SubjectRow,
    contexts_of,
    decode_if_readable,
    facts_of,
    newest_contexts_from,
    newest_from,
    recent_commits,
)
from agentslot.session.state import ContextView
from agentslot.session.store import SessionOverview

_COLUMNS = (
    "id, agent, workspace, revision, created_at, updated_at, model_config, active_run, lineage"
)
_SESSIONS = f"SELECT {_COLUMNS} FROM agentslot.sessions"  # noqa: S608  # made of constants

_OVERVIEW = f"""
SELECT {_COLUMNS}, payload FROM agentslot.sessions
LEFT JOIN LATERAL (
    SELECT payload FROM agentslot.facts
    WHERE session = id AND kind = 'message' AND origin IS NULL
    ORDER BY sequence LIMIT 1
) AS first_message ON true
"""  # noqa: S608  # made of constants


_NAMES = {
    "message": "id",
    "tool_call": "id",
    "tool_result": "call_id",
    "model_attempt": "attempt_id",
    "context_contribution": "source_key",
}

_NAME = " ".join(f"WHEN '{kind}' THEN '{name}'" for kind, name in _NAMES.items())

# PostgreSQL cannot look into JSON in which a text holds NUL, so that is left to us.
_SUBJECTS = rf"""
SELECT sequence, kind, run, step,
    CASE WHEN strange THEN NULL ELSE payload ->> CASE kind {_NAME} END END,
    CASE WHEN strange THEN NULL ELSE payload ->> 'status' END,
    CASE WHEN strange THEN payload END
FROM (
    SELECT *, position('\u0000' IN payload::text) > 0 AS strange
    FROM agentslot.facts WHERE session = $1 AND sequence > $2 ORDER BY sequence LIMIT $3
) AS fact
"""  # noqa: S608  # made of constants
_SUBJECTS_AT_ONCE = 8192

_FACTS = """
SELECT sequence, kind, run, step, at, actor_kind, actor, origin, payload
FROM agentslot.facts WHERE session = $1 AND sequence BETWEEN $2 AND $3 ORDER BY sequence
"""

_KEPT_CONTEXTS = """
SELECT coalesce(min(version), 0), coalesce(max(version), 0)
FROM agentslot.contexts WHERE session = $1
"""

_CONTEXTS = """
SELECT version, view
FROM agentslot.contexts WHERE session = $1 AND version BETWEEN $2 AND $3 ORDER BY version
"""


async def select_session(
    database: Database,
    session_id: SessionId,
    read_facts: Callable[[int, int], Sequence[Fact]],
    read_contexts: Callable[[int, int], Sequence[ContextView]],
) -> Stored:
    """Read a Session, in a transaction that sees it at one moment.

    Args:
        database: where it is.
        session_id: which one.
        read_facts: how its older facts are read, when they are asked for.
        read_contexts: likewise its older contexts, by their versions.

    Raises:
        ClassifiedError: `not_found/session_not_found`.
        UnreadableError: the rows do not make a Session.
    """

    async def select(question: str, *more: object) -> Sequence[tuple[Any, ...]]:
        return await database.fetch(question, session_id, *more)

    found = await select(f"{_SESSIONS} WHERE id = $1")
    if not found:
        raise session_not_found(session_id)
    index = await _select_index(database, session_id)
    journal = await select(
        "SELECT call, status, call_sequence FROM agentslot.journal WHERE session = $1 "
        "ORDER BY call_sequence"
    )
    first = newest_from(index.length, journal)
    ((oldest, newest_context),) = await select(_KEPT_CONTEXTS)
    contexts = await select(_CONTEXTS, newest_contexts_from(oldest, newest_context), newest_context)
    texts = await select("SELECT digest, text FROM agentslot.texts WHERE session = $1")
    newest = await select(
        "SELECT idempotency_key, fingerprint, revision, first_sequence, last_sequence "
        "FROM agentslot.commits WHERE session = $1 ORDER BY revision DESC LIMIT $2",
        REMEMBERED_COMMITS,
    )
    rows = SessionRows(
        SessionRow(*found[0]),
        index,
        [FactRow(*row) for row in await select(_FACTS, first, index.length)],
        read_facts,
        await select(
            "SELECT message, delivery FROM agentslot.queue WHERE session = $1 ORDER BY position"
        ),
        journal,
        oldest,
        [(version, view) for version, view in contexts],
        read_contexts,
        {digest: from_json(text) for digest, text in texts},
        await select(
            "SELECT sequence, entry FROM agentslot.extensions WHERE session = $1 ORDER BY sequence"
        ),
    )
    state = await to_thread.run_sync(rows.state)  # puts the index of all facts in order
    return Stored(state, recent_commits(reversed(newest)), ())


async def _select_index(database: Database, session_id: SessionId) -> FactIndex:
    index = FactIndex()
    while True:
        rows = await database.fetch(_SUBJECTS, session_id, index.length, _SUBJECTS_AT_ONCE)
        index.take(map(_subject_row, rows))
        if len(rows) < _SUBJECTS_AT_ONCE:
            return index


def _subject_row(row: Sequence[Any]) -> SubjectRow:  # as PostgreSQL gives it
    sequence, kind, run, step, name, status, payload_json = row
    if payload_json is not None:
        payload = from_json(payload_json)
        if not isinstance(payload, dict):
            raise UnreadableError(f"fact {sequence}: it is no object")
        payload = cast("dict[object, Any]", payload)
        name, status = payload.get(_NAMES.get(kind)), payload.get("status")
    return sequence, kind, run, step, name, status


async def select_facts(
    database: Database, session_id: SessionId, first: int, last: int
) -> list[Fact]:
    """The facts from one sequence to another.

    Raises:
        UnreadableError: the rows do not make them.
    """
    rows = await database.fetch(_FACTS, session_id, first, last)
    return facts_of(session_id, (FactRow(*row) for row in rows), first, last)


async def select_contexts(
    database: Database, session_id: SessionId, first: int, last: int
) -> list[ContextView]:
    """The contexts from one version to another.

    Raises:
        UnreadableError: the rows do not make them.
    """
    rows = await database.fetch(_CONTEXTS, session_id, first, last)
    return contexts_of(((version, view) for version, view in rows), first, last)


async def select_beginning(database: Database, session_id: SessionId) -> Beginning:
    """Look at every fact of a Session.

    Raises:
        ClassifiedError: `not_found/session_not_found`.
    """
    found = await database.fetch(f"{_SESSIONS} WHERE id = $1", session_id)
    if not found:
        raise session_not_found(session_id)
    last = await database.fetchval(
        "SELECT coalesce(max(last_sequence), 0) FROM agentslot.commits WHERE session = $1",
        session_id,
    )
    rows = await database.fetch(_FACTS, session_id, 1, sys.maxsize)
    facts = (FactRow(*row) for row in rows)
    return await to_thread.run_sync(beginning_of, SessionRow(*found[0]), facts, last)


async def select_revision(database: Database, session_id: SessionId) -> int | None:
    """The revision of a Session; None if there is no such Session."""
    question = "SELECT revision FROM agentslot.sessions WHERE id = $1"
    revision: int | None = await database.fetchval(question, session_id)
    return revision


async def select_scope(database: Database, agent: AgentId, workspace: WorkspaceId) -> list[Listed]:
    """The rows of a listing."""
    question = f"{_SESSIONS} WHERE agent = $1 AND workspace = $2"
    return [SessionRow(*row).listed() for row in await database.fetch(question, agent, workspace)]


async def select_overview(database: Database) -> list[SessionOverview]:
    """All Sessions, each with its first message that is no copy, if that can be read."""
    return [
        SessionOverview(SessionRow(*session).listed().summary, decode_if_readable(Message, message))
        for *session, message in await database.fetch(_OVERVIEW)
    ]
