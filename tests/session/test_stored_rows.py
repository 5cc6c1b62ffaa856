"""Opening a Session in a database: the newest facts are in memory, older ones are asked for."""

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
from anyio.to_thread import run_sync
from hypothesis import settings
from hypothesis.stateful import (
    run_state_machine_as_test,  # pyright: ignore[reportUnknownVariableType]  # untyped there
)

from agentslot.session import (
    Change,
    ContextView,
    MessageId,
    SessionDamagedError,
    SessionId,
    SqliteStore,
    read_history,
)
from agentslot.session import rows as reading
from agentslot.session.aggregate import create
from agentslot.session.recent import outcome_of
from agentslot.session.rows import decode
from agentslot.session.sqlitereader import (
    select_beginning,
    select_contexts,
    select_facts,
    select_session,
)
from agentslot.session.sqliteschema import SCHEMA
from agentslot.session.sqlitewriter import insert_commit, insert_session, update_session
from tests.session.everychange import EveryChange
from tests.session.longsessions import (
    goes_on_behind_stored_contexts,
    goes_on_behind_stored_facts,
    write_long_session,
    write_many_contexts,
)
from tests.session.scenario import user

T = TypeVar("T")


@pytest.fixture
def short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of three facts or contexts, of which only the newest two are in memory."""
    monkeypatch.setattr(reading, "PAGE_FACTS", 3)
    monkeypatch.setattr(reading, "NEWEST_FACTS", 2)
    monkeypatch.setattr(reading, "PAGE_CONTEXTS", 3)
    monkeypatch.setattr(reading, "NEWEST_CONTEXTS", 2)


class StoredSessions(EveryChange):
    """The same Sessions, each also in a database."""

    def __init__(self) -> None:
        super().__init__()
        self.database = sqlite3.connect(":memory:")
        self.database.executescript(SCHEMA)
        insert_session(self.database, self.state)

    def commit(self, *changes: Change) -> None:
        before = self.state
        super().commit(*changes)
        update_session(self.database, before, self.state)
        outcome = outcome_of(self.state.revision, before.history, self.state.history)
        insert_commit(self.database, self.state.id, f"key-{before.revision}", b"", outcome)

    def teardown(self) -> None:
        state = self.state
        with closing(self.database) as database:
            stored = select_session(
                database,
                state.id,
                partial(select_facts, database, state.id),
                partial(select_contexts, database, state.id),
            ).state
            assert stored == state
            assert list(stored.journal.items()) == list(state.journal.items())
            beginning = select_beginning(database, state.id)
            assert (beginning.problem, beginning.facts) == ("", len(state.history))
            if beginning.kept:
                saved = create(beginning.salvaged(SessionId("saved")), state.updated_at)
                assert len(saved.history) == beginning.kept
            for position, fact in enumerate(state.history):
                assert stored.history[position] == fact
            for fact in state.history:
                if fact.payload.kind == "message":
                    assert stored.history.message(fact.payload.id) == fact.payload
                if fact.payload.kind == "tool_call":
                    assert stored.history.call(fact.payload.id) == fact.payload
                    result = state.history.result(fact.payload.id)
                    assert stored.history.result(fact.payload.id) == result
                if fact.run_id is not None:
                    assert stored.history.run_start(fact.run_id) == state.history.run_start(
                        fact.run_id
                    )


def test_the_rows_make_the_session_that_was_written(short_pages: None) -> None:
    run_state_machine_as_test(
        StoredSessions, settings=settings(max_examples=40, stateful_step_count=40)
    )


async def test_a_session_goes_on_behind_the_facts_that_stay_in_the_database(
    tmp_path: Path, short_pages: None
) -> None:
    await goes_on_behind_stored_facts(lambda: SqliteStore(tmp_path / "sessions.db"))


async def test_a_session_goes_on_behind_the_contexts_that_stay_in_the_database(
    tmp_path: Path, short_pages: None
) -> None:
    await goes_on_behind_stored_contexts(lambda: SqliteStore(tmp_path / "sessions.db"))


async def test_opening_reads_the_newest_contexts_alone(
    tmp_path: Path, short_pages: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded = list[type]()

    def counting(shape: type[T], text: str) -> T:
        decoded.append(shape)
        return decode(shape, text)

    async with SqliteStore(tmp_path / "sessions.db") as store:
        state = await write_many_contexts(store)
    monkeypatch.setattr(reading, "decode", counting)
    async with SqliteStore(tmp_path / "sessions.db") as store:
        opened = (await store.load(state.id)).state
        assert decoded.count(ContextView) == 2
        await run_sync(opened.retained_contexts.__getitem__, 4)
        assert decoded.count(ContextView) == 2 + 3
        assert await run_sync(list, opened.retained_contexts) == list(state.retained_contexts)


async def test_contexts_that_somebody_has_deleted_are_damage_when_they_are_read(
    tmp_path: Path, short_pages: None
) -> None:
    path = tmp_path / "sessions.db"

    def delete() -> None:
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("DELETE FROM contexts WHERE version = 5")

    async with SqliteStore(path) as store:
        state = await write_many_contexts(store)
    retained = (await SqliteStore(path).load(state.id)).state.retained_contexts
    await run_sync(delete)
    with pytest.raises(SessionDamagedError, match="of the contexts 4 to 6"):
        await run_sync(list, retained)
    assert await run_sync(retained.__getitem__, 0) == state.retained_contexts[0]


async def test_rows_that_vanish_after_the_session_was_opened_are_damage_when_they_are_read(
    tmp_path: Path, short_pages: None
) -> None:
    path = tmp_path / "sessions.db"

    def delete() -> None:
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("DELETE FROM facts WHERE sequence = 5")

    async with SqliteStore(path) as store:
        state = await write_long_session(store)
    history = (await SqliteStore(path).load(state.id)).state.history
    await run_sync(delete)
    with pytest.raises(SessionDamagedError, match="fact 6"):
        await read_history(history, list, history)
    message = await read_history(history, history.message, MessageId("u0"))
    assert message == user("u0", "text 0", run=None)
