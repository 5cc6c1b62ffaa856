"""A Session that is longer than what a database has in memory of it, for each kind of database."""

from collections.abc import Callable

from agentslot.session import (
    AppendMessage,
    MessageId,
    PostgresStore,
    SessionState,
    SqliteStore,
    read_history,
)
from tests.session.scenario import new_session, request, user

LENGTH = 20


async def write_long_session(store: SqliteStore | PostgresStore) -> SessionState:
    state = await store.create(new_session())
    for number in range(LENGTH):
        text = f"text {number}" if number % 2 else f"NUL \0 {number}"
        message = AppendMessage(user(f"u{number}", text if number else "text 0", run=None))
        state = (await store.commit(request(state, f"key-{number}", message))).state
    return state


async def goes_on_behind_stored_facts(
    open_store: Callable[[], SqliteStore | PostgresStore],
) -> None:
    """Open a long Session anew: it is the same, and the next commit stands behind it."""
    async with open_store() as store:
        written = await write_long_session(store)
    async with open_store() as store:
        loaded = (await store.recover(written.id)).state
        assert 0 < loaded.history.stored < LENGTH
        assert loaded.history.has_message(MessageId("u3"))
        assert not loaded.history.has_message(MessageId("more"))
        message = AppendMessage(user("more", run=None))
        made = (await store.commit(request(loaded, "more", message))).state
    facts = await read_history(made.history, list, made.history)
    assert facts[:LENGTH] == list(written.history)
    assert [fact.sequence for fact in facts] == list(range(1, LENGTH + 2))
    found = await read_history(loaded.history, loaded.history.message, MessageId("u4"))
    assert found == written.history.message(MessageId("u4"))
