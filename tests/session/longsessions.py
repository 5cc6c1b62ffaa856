"""A Session that is longer than what a database has in memory of it, for each kind of database."""

from collections.abc import Callable

from anyio.to_thread import run_sync

from agentslot.session import (
    AppendMessage,
    AppendRun,
    ContextRange,
    ContextView,
    MessageId,
    PostgresStore,
    RunFact,
    RunId,
    RunStatus,
    SessionState,
    SetContext,
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


async def write_many_contexts(store: SqliteStore | PostgresStore) -> SessionState:
    """A Session in the middle of a Run, with every request of it retained."""
    state = await store.create(new_session())
    run = RunFact(RunId("run-1"), RunStatus.STARTED, state.model_config, state.revision)
    begin = AppendRun(run), AppendMessage(user("u1"))
    state = (await store.commit(request(state, "begin", *begin))).state
    for number in range(LENGTH):
        state = (await store.commit(request(state, f"key-{number}", next_context(state)))).state
    return state


def next_context(state: SessionState, *, retain: bool = True) -> SetContext:
    version = 1 if state.context is None else state.context.version + 1
    view = ContextView(
        version,
        state.revision,
        RunId("run-1"),
        state.model_config,
        (ContextRange(1, state.history.last_sequence),),
        None,
        None,
        10 + version,
    )
    return SetContext(view, retain_previous=retain)


async def goes_on_behind_stored_contexts(
    open_store: Callable[[], SqliteStore | PostgresStore],
) -> None:
    """Open a Session with many contexts anew: it is the same, and keeps them or lets them go."""
    async with open_store() as store:
        written = await write_many_contexts(store)
    assert [view.version for view in written.retained_contexts] == list(range(1, LENGTH))
    async with open_store() as store:
        loaded = (await store.load(written.id)).state
        assert loaded.context == written.context
        assert await run_sync(list, loaded.retained_contexts) == list(written.retained_contexts)
        made = (await store.commit(request(loaded, "more", next_context(loaded)))).state
        kept = await run_sync(list, made.retained_contexts)
        assert kept == [*written.retained_contexts, written.context]
    async with open_store() as store:
        loaded = (await store.load(written.id)).state
        assert await run_sync(list, loaded.retained_contexts) == kept
        last = next_context(loaded, retain=False)
        made = (await store.commit(request(loaded, "last", last))).state
        assert len(made.retained_contexts) == 0
    async with open_store() as store:
        loaded = (await store.load(written.id)).state
        assert (loaded.context, len(loaded.retained_contexts)) == (last.context, 0)
