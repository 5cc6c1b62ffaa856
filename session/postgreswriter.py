"""Writing a Session to PostgreSQL: what is new between two states, in few statements.

A statement costs a way to the server and back. What every commit does is one statement, and most
commits need no other.
"""

from collections.abc import Iterable, Iterator, Sequence

from pydantic_core import to_json

from agentslot.session.codec import encode
from agentslot.session.extensions import ExtensionEntry
from agentslot.session.facts import Fact
from agentslot.session.recent import Outcome
from agentslot.session.state import JournalStatus, SessionState

Statement = tuple[str, tuple[object, ...]]
"""SQL and its parameters."""

_FACTS = (
    "unnest(${}::bigint[], ${}::text[], ${}::text[], ${}::text[], ${}::timestamptz[], ${}::text[],"
    " ${}::text[], ${}::text[], ${}::json[])"
)

_CREATE = f"""
WITH created AS (
    INSERT INTO agentslot.sessions VALUES ($1, $2, $3, $4, $5, $6, $7, NULL, $8) RETURNING id
)
INSERT INTO agentslot.facts
SELECT created.id, fact.* FROM created, {_FACTS.format(*range(9, 18))} AS fact
"""  # noqa: S608  # made of constants

_MOVE_ON = f"""
WITH moved AS (
    UPDATE agentslot.sessions
    SET revision = $3, updated_at = $4, model_config = $5, active_run = $6
    WHERE id = $1 AND revision = $2
    RETURNING id, revision
), remembered AS (
    INSERT INTO agentslot.commits SELECT id, revision, $7, $8, $9, $10 FROM moved
), appended AS (
    INSERT INTO agentslot.facts
    SELECT moved.id, fact.* FROM moved, {_FACTS.format(*range(11, 20))} AS fact
)
SELECT count(*) FROM moved
"""  # noqa: S608  # made of constants


_ENQUEUE = """
INSERT INTO agentslot.queue
SELECT $1, item.* FROM unnest($2::bigint[], $3::text[], $4::json[]) AS item
"""

_ENTER = """
INSERT INTO agentslot.journal
SELECT $1, entry.* FROM unnest($2::bigint[], $3::text[], $4::text[]) AS entry
"""

_KEEP_EXTENSIONS = """
INSERT INTO agentslot.extensions
SELECT $1, entry.* FROM unnest(
    $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::json[]
) AS entry
ON CONFLICT (session, sequence) DO UPDATE
SET status = excluded.status, effect = excluded.effect, entry = excluded.entry
"""


def creation(state: SessionState) -> Statement:
    """Write a new Session with the facts that it starts with."""
    return _CREATE, (
        state.id,
        state.agent,
        state.workspace,
        state.revision,
        state.created_at,
        state.updated_at,
        _json(state.model_config),
        None if state.lineage is None else _json(state.lineage),
        *_columns(state.history),
    )


def next_revision(
    before: SessionState, after: SessionState, key: str, evidence: bytes, outcome: Outcome
) -> Statement:
    """Move the Session on and append its facts; says 0, and does nothing, if it has moved since."""
    run = after.active_run
    return _MOVE_ON, (
        after.id,
        before.revision,
        after.revision,
        after.updated_at,
        _json(after.model_config),
        None if run is None else _json(run),
        key,
        evidence,
        outcome.first_sequence,
        outcome.last_sequence,
        *_columns(after.history[len(before.history) :]),
    )


def other_changes(before: SessionState, after: SessionState) -> Iterator[Statement]:
    """Write what else a commit changed: nothing, most of the time."""
    if after.queue is not before.queue:
        yield from _replace_queue(after)
    if after.journal is not before.journal:
        yield from _update_journal(before, after)
    if after.extensions is not before.extensions:
        yield from _keep_extensions(after, after.extensions.changed_since(before.extensions))
    if after.context is not before.context:
        yield from _add_context(after)
    for digest in after.texts.keys() - before.texts.keys():
        text = to_json(after.texts[digest]).decode()  # NUL is no character of PostgreSQL's `text`
        yield "INSERT INTO agentslot.texts VALUES ($1, $2, $3)", (after.id, digest, text)


def _json(value: object) -> str:
    return encode(value).decode()


def _columns(facts: Iterable[Fact]) -> Sequence[tuple[object, ...]]:
    """Facts as columns, which `unnest` makes rows of."""
    rows = [
        (
            fact.sequence,
            fact.kind,
            fact.run_id,
            fact.step_id,
            fact.at,
            fact.actor.kind,
            fact.actor.id,
            fact.origin_id,
            _json(fact.payload),
        )
        for fact in facts
    ]
    return list(zip(*rows, strict=True)) or [()] * 9


def _replace_queue(state: SessionState) -> Iterator[Statement]:
    yield "DELETE FROM agentslot.queue WHERE session = $1", (state.id,)
    positions = list(range(len(state.queue)))
    deliveries = [item.delivery for item in state.queue]
    messages = [_json(item.message) for item in state.queue]
    yield _ENQUEUE, (state.id, positions, deliveries, messages)


def _update_journal(before: SessionState, after: SessionState) -> Iterator[Statement]:
    gone = list(before.journal.keys() - after.journal.keys())
    if gone:
        yield (
            "DELETE FROM agentslot.journal WHERE session = $1 AND call = ANY($2)",
            (after.id, gone),
        )
    new = [
        (fact.sequence, fact.payload.id, after.journal[fact.payload.id].status)
        for fact in after.history[len(before.history) :]
        if fact.payload.kind == "tool_call" and fact.payload.id in after.journal
    ]
    if new:
        yield _ENTER, (after.id, *zip(*new, strict=True))
    begun = [
        call_id
        for call_id, entry in after.journal.items()
        if call_id in before.journal and before.journal[call_id] is not entry
    ]
    if begun:
        yield (
            "UPDATE agentslot.journal SET status = $3 WHERE session = $1 AND call = ANY($2)",
            (after.id, begun, JournalStatus.PENDING),
        )


def _keep_extensions(state: SessionState, entries: Sequence[ExtensionEntry]) -> Iterator[Statement]:
    rows = [
        (
            entry.sequence,
            entry.invocation.descriptor.key,
            entry.invocation.boundary,
            entry.invocation.run_id,
            entry.status,
            entry.effect,
            _json(entry),
        )
        for entry in entries
    ]
    if rows:
        yield _KEEP_EXTENSIONS, (state.id, *zip(*rows, strict=True))


def _add_context(state: SessionState) -> Iterator[Statement]:
    view = state.context
    if view is None:
        return
    new_row = state.id, view.version, _json(view)
    yield "INSERT INTO agentslot.contexts VALUES ($1, $2, $3)", new_row
    if not state.retained_contexts:
        yield (
            "DELETE FROM agentslot.contexts WHERE session = $1 AND version < $2",
            (state.id, view.version),
        )
