"""Reading a Session from the tables of `postgresschema`."""

from collections.abc import Sequence
from typing import Any

from pydantic_core import from_json

from agentslot.session.identity import AgentId, SessionId, WorkspaceId
from agentslot.session.listing import Listed
from agentslot.session.medium import Stored
from agentslot.session.message import Message
from agentslot.session.postgresdriver import Database
from agentslot.session.recent import REMEMBERED_COMMITS
from agentslot.session.requests import session_not_found
from agentslot.session.rows import FactRow, SessionRow, SessionRows, decode, recent_commits
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


async def select_session(database: Database, session_id: SessionId) -> Stored:
    """Read a Session, in a transaction that sees it at one moment.

    Raises:
        ClassifiedError: `not_found/session_not_found`.
        UnreadableError: the rows do not make a Session.
    """

    async def select(question: str, *more: object) -> Sequence[tuple[Any, ...]]:
        return await database.fetch(question, session_id, *more)

    found = await select(f"{_SESSIONS} WHERE id = $1")
    if not found:
        raise session_not_found(session_id)
    facts = await select(
        "SELECT sequence, kind, run, step, at, actor_kind, actor, origin, payload "
        "FROM agentslot.facts WHERE session = $1 ORDER BY sequence"
    )
    contexts = await select(
        "SELECT view FROM agentslot.contexts WHERE session = $1 ORDER BY version"
    )
    texts = await select("SELECT digest, text FROM agentslot.texts WHERE session = $1")
    newest = await select(
        "SELECT idempotency_key, fingerprint, revision, first_sequence, last_sequence "
        "FROM agentslot.commits WHERE session = $1 ORDER BY revision DESC LIMIT $2",
        REMEMBERED_COMMITS,
    )
    rows = SessionRows(
        SessionRow(*found[0]),
        (FactRow(*row) for row in facts),
        await select(
            "SELECT message, delivery FROM agentslot.queue WHERE session = $1 ORDER BY position"
        ),
        await select(
            "SELECT call, status FROM agentslot.journal WHERE session = $1 ORDER BY call_sequence"
        ),
        (view for (view,) in contexts),
        {digest: from_json(text) for digest, text in texts},
        await select(
            "SELECT sequence, entry FROM agentslot.extensions WHERE session = $1 ORDER BY sequence"
        ),
    )
    return Stored(rows.state(), recent_commits(reversed(newest)), ())


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
    """All Sessions, each with its first message that is no copy."""
    return [
        SessionOverview(
            SessionRow(*session).listed().summary,
            None if message is None else decode(Message, message),
        )
        for *session, message in await database.fetch(_OVERVIEW)
    ]
