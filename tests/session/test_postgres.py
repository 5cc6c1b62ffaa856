"""A PostgreSQL database that several processes share, and a connection that breaks."""

import logging
from pathlib import Path
from typing import Any

import anyio
import asyncpg  # type: ignore[import-untyped]  # it has none
import pytest

from agentslot import Application
from agentslot.session import (
    SESSION_STORE,
    AgentId,
    AppendMessage,
    ClassifiedError,
    Commit,
    CommitRequest,
    ExtensionBoundary,
    PostgresStore,
    PostgresStoreModule,
    RevisionConflictError,
    SessionDamagedError,
    SessionId,
    WorkspaceId,
    fork,
)
from agentslot.session import rows as reading
from agentslot.session.conformance import CHECKS, DURABILITY_CHECKS, Check, run_check
from agentslot.session.postgresdriver import connect
from agentslot.session.postgreserrors import reading as reading_words
from agentslot.session.postgreserrors import writing
from tests.session.brokenline import broken_line
from tests.session.extensions import BEGUN, DISCARDED, FAILED, prepare, step
from tests.session.longsessions import goes_on_behind_stored_contexts, goes_on_behind_stored_facts
from tests.session.scenario import new_session, queued, request, user


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def ask(dsn: str, sql: str, *parameters: object) -> object:
    connections = await connect(dsn, 1)
    try:
        async with connections.lend() as database:
            return await database.fetchval(sql, *parameters)
    finally:
        await connections.close()


@pytest.mark.parametrize("check", [*CHECKS, *DURABILITY_CHECKS], ids=lambda check: check.__name__)
async def test_the_postgres_store_conforms(check: Check, postgres: str) -> None:
    await run_check(check, lambda: PostgresStore(postgres))


async def test_a_session_can_be_asked_in_sql(postgres: str) -> None:
    async with PostgresStore(postgres) as store:
        state = await store.create(new_session())
        message = AppendMessage(user("u1", "caf\u00e9\u2028", run=None))
        await store.commit(request(state, "key", message))
    sql = "SELECT payload #>> '{parts,0,text}' FROM agentslot.facts WHERE kind = $1"
    assert await ask(postgres, sql, "message") == "caf\u00e9\u2028"


async def test_the_journal_of_hooks_comes_back_with_the_session_and_can_be_asked_in_sql(
    postgres: str,
) -> None:
    async with PostgresStore(postgres) as store:
        state = await store.create(new_session())
        steps = [
            prepare(state, ExtensionBoundary.INPUT_GATE, "one"),
            step(1, BEGUN),
            step(1, FAILED),
            step(1, DISCARDED),
        ]
        for changes in steps:
            made = await store.commit(request(state, f"k{state.revision}", *changes))
            state = made.state
        changes = prepare(state, ExtensionBoundary.INPUT_GATE, "two")
        state = (await store.commit(request(state, "two", *changes))).state
    async with PostgresStore(postgres) as store:
        assert (await store.load(state.id)).state == state
    sql = "SELECT string_agg(hook || ' ' || status, ', ' ORDER BY sequence) FROM {}"
    asked = await ask(postgres, sql.format("agentslot.extensions"))
    assert asked == "hook-one failed, hook-two prepared"


async def test_each_session_is_shown_with_the_first_thing_said_in_it(postgres: str) -> None:
    async with PostgresStore(postgres) as store:
        state = await store.create(new_session())
        message = AppendMessage(user("u1", "hello", run=None))
        state = (await store.commit(request(state, "key", message))).state
        await store.create(fork(state, SessionId("s2")))
        rows = await store.overview()
    said = [(row.summary.id, row.first_message and row.first_message.text) for row in rows]
    assert said == [("s2", None), ("s1", "hello")]


async def race(store: PostgresStore, commit: CommitRequest, outcomes: list[object]) -> None:
    try:
        outcomes.append(await store.commit(commit))
    except RevisionConflictError as error:
        outcomes.append(error)


async def test_of_two_processes_that_commit_at_once_one_wins_and_the_other_is_told(
    postgres: str,
) -> None:
    async with PostgresStore(postgres) as one, PostgresStore(postgres) as other:
        state = await one.create(new_session())
        for number in range(10):
            outcomes: list[object] = []
            async with anyio.create_task_group() as tasks:
                for store, key in ((one, f"one-{number}"), (other, f"other-{number}")):
                    commit = request(state, key, queued(key))
                    tasks.start_soon(race, store, commit, outcomes)
            (won,) = [outcome for outcome in outcomes if isinstance(outcome, Commit)]
            (lost,) = [o for o in outcomes if isinstance(o, RevisionConflictError)]
            assert lost.current_revision == won.revision == state.revision + 1
            state = won.state
        assert (await one.load(state.id)).state == (await other.load(state.id)).state == state


async def test_a_process_sees_what_another_has_committed(postgres: str) -> None:
    async with PostgresStore(postgres) as one, PostgresStore(postgres) as other:
        state = await one.create(new_session())
        await other.recover(state.id)
        first = request(state, "first", queued("q1"))
        made = await one.commit(first)
        assert (await other.load(state.id)).state == made.state
        again = await other.commit(first)
        assert (again.applied, again.revision) == (False, 2)
        second = await other.commit(request(made.state, "second", queued("q2")))
        third = await one.commit(request(second.state, "third", queued("q3")))
        assert [item.message.id for item in third.state.queue] == ["q1", "q2", "q3"]
        with pytest.raises(RevisionConflictError) as caught:
            await other.commit(request(state, "late", queued("q4")))
        assert caught.value.current_revision == 4


async def test_two_processes_may_make_the_tables_at_once(postgres: str) -> None:
    async def open_and_close() -> None:
        async with PostgresStore(postgres):
            pass

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(open_and_close)


@pytest.mark.parametrize(("lost", "was_saved"), [("question", False), ("answer", True)])
async def test_after_a_broken_connection_sending_a_commit_again_finds_out(
    postgres: str, lost: str, was_saved: bool
) -> None:
    async with broken_line(postgres) as line, PostgresStore(line.dsn) as store:
        state = await store.create(new_session())
        state = (await store.commit(request(state, "first", queued("q1")))).state
        commit = request(state, "key", AppendMessage(user("u1", run=None)))
        line.loses = lost
        with pytest.raises(ClassifiedError) as caught:
            await store.commit(commit)
        assert (caught.value.kind, caught.value.code) == ("unavailable", "not_durable")
        line.loses = None
        made = await store.commit(commit)
        assert (made.applied, made.revision) == (not was_saved, 3)
        assert (await store.load(state.id)).state == made.state


async def test_what_the_database_cannot_keep_is_refused_and_nothing_is_saved(
    postgres: str,
) -> None:
    async with PostgresStore(postgres) as store:
        state = await store.create(new_session())
        with pytest.raises(ClassifiedError) as caught:
            await store.commit(request(state, "a\0b", queued("q1")))
        assert caught.value.code == "text_not_storable"
        assert (await store.commit(request(state, "ab", queued("q1")))).revision == 2


async def test_rows_that_make_no_session_are_refused(postgres: str) -> None:
    async with PostgresStore(postgres) as store:
        state = await store.create(new_session())
        for number in range(3):
            message = AppendMessage(user(f"u{number}", run=None))
            state = (await store.commit(request(state, f"k{number}", message))).state
        await ask(postgres, "DELETE FROM agentslot.facts WHERE sequence = 2")
    async with PostgresStore(postgres) as store:
        with pytest.raises(SessionDamagedError, match="fact 3"):
            await store.load(SessionId("s1"))


async def test_a_session_goes_on_behind_the_facts_that_stay_on_the_server(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "PAGE_FACTS", 3)
    monkeypatch.setattr(reading, "NEWEST_FACTS", 2)
    await goes_on_behind_stored_facts(lambda: PostgresStore(postgres))


async def test_a_session_goes_on_behind_the_contexts_that_stay_on_the_server(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "PAGE_CONTEXTS", 3)
    monkeypatch.setattr(reading, "NEWEST_CONTEXTS", 2)
    await goes_on_behind_stored_contexts(lambda: PostgresStore(postgres))


async def test_tables_that_somebody_has_altered_are_damage_and_not_an_outage(postgres: str) -> None:
    async with PostgresStore(postgres) as store:
        state = await store.create(new_session())
        await ask(postgres, "ALTER TABLE agentslot.sessions RENAME COLUMN lineage TO line")
        reads = [store.list_sessions(state.agent, state.workspace), store.overview()]
        for read in [*reads, PostgresStore.load(store, SessionId("other"))]:
            with pytest.raises(SessionDamagedError, match="lineage"):
                await read


@pytest.mark.parametrize("name", ["nul \0", "half \ud800"])
async def test_a_session_of_a_name_that_the_database_cannot_keep_is_not_there(
    postgres: str, name: str
) -> None:
    async with PostgresStore(postgres) as store:
        with pytest.raises(ClassifiedError) as caught:
            await store.load(SessionId(name))
        assert caught.value.code == "session_not_found"
        page = await store.list_sessions(AgentId(name), WorkspaceId("workspace"))
        assert page.sessions == []


async def until_somebody_waits_for_a_lock(dsn: str) -> None:
    with anyio.fail_after(20):
        while not await ask(dsn, "SELECT count(*) FROM pg_locks WHERE NOT granted"):
            pass


async def test_whoever_stops_waiting_for_a_session_leaves_the_connection_in_order(
    postgres: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The driver used to complain on the terminal of an open transaction that it had to end."""
    locker = await connect(postgres, 1)
    async with PostgresStore(postgres, max_connections=1) as store:
        state = await store.create(new_session())
        async with PostgresStore(postgres, max_connections=1) as reader:
            async with locker.lend() as database, database.transaction():
                await database.execute("LOCK TABLE agentslot.sessions")
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(reader.load, state.id)
                    await until_somebody_waits_for_a_lock(postgres)
                    tasks.cancel_scope.cancel()
            assert (await reader.load(state.id)).state == state
    await locker.close()
    assert not [entry for entry in caplog.records if entry.levelno >= logging.ERROR]


async def test_a_commit_that_the_server_gave_up_was_not_saved(postgres: str) -> None:
    database_name = postgres.partition("?")[0].rpartition("/")[2]
    locker = await connect(postgres, 1)
    async with PostgresStore(postgres) as store:
        state = await store.create(new_session())
    await ask(postgres, f"ALTER DATABASE {database_name} SET statement_timeout = '100ms'")
    async with PostgresStore(postgres) as store:
        await store.recover(state.id)
        commit = request(state, "key", queued("q1"))
        await ask(postgres, f"ALTER DATABASE {database_name} RESET ALL")
        async with locker.lend() as database, database.transaction():
            await database.execute("SELECT id FROM agentslot.sessions FOR UPDATE")
            with pytest.raises(ClassifiedError, match="Nothing was saved") as caught:
                await store.commit(commit)
        assert (caught.value.kind, caught.value.code) == ("unavailable", "not_durable")
        assert (await store.commit(commit)).applied
    await locker.close()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (asyncpg.InternalClientError("cannot switch to state 15"), "cannot switch to state 15"),
        (TimeoutError(), "did not answer within 60 seconds"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_what_the_driver_raises_on_a_lost_connection_is_said_in_our_words(
    error: Exception, words: str
) -> None:
    with pytest.raises(ClassifiedError, match=words) as caught, writing():
        raise error
    assert (caught.value.kind, caught.value.code) == ("unavailable", "not_durable")
    with pytest.raises(ClassifiedError, match=words) as caught, reading_words():
        raise error
    assert (caught.value.kind, caught.value.code) == ("unavailable", "unreadable")


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://me:hun@ter2:x/y@127.0.0.1/sessions",
        "postgresql://me:1/hunter2@127.0.0.1/sessions",
        "postgresql://127.0.0.1:hunter2/sessions",
    ],
)
async def test_a_dsn_that_cannot_be_read_is_refused_with_how_to_write_it(dsn: str) -> None:
    with pytest.raises(ClassifiedError, match="Write postgresql://user@host:port") as caught:
        async with PostgresStore(dsn):
            pass
    assert (caught.value.kind, caught.value.code) == ("invalid_input", "invalid_dsn")
    assert "ter2" not in str(caught.value)


def test_what_is_no_dsn_is_refused_at_once_with_what_to_write() -> None:
    """As by `agentslot conformance`, which makes stores for a folder."""
    folder: Any = Path("folder")
    with pytest.raises(ClassifiedError, match="postgresql://user@host/database") as caught:
        PostgresStore(folder)
    assert caught.value.code == "invalid_dsn"


async def test_tables_of_another_version_are_refused(postgres: str) -> None:
    async with PostgresStore(postgres):
        await ask(postgres, "UPDATE agentslot.format SET version = 9")
    with pytest.raises(ClassifiedError, match="are of version 9, and this release") as caught:
        async with PostgresStore(postgres):
            pass
    assert (caught.value.kind, caught.value.code) == ("unavailable", "other_version")


async def test_a_server_that_is_not_there_is_unavailable_and_the_password_stays_secret() -> None:
    store = PostgresStore("postgresql://me:hunter2@127.0.0.1:1/sessions")
    with pytest.raises(ClassifiedError) as caught:
        async with store:
            pass
    assert caught.value.kind == "unavailable"
    assert "hunter2" not in str(caught.value)


def test_on_trio_it_says_that_it_needs_asyncio() -> None:
    async def enter() -> None:
        async with PostgresStore("postgresql://127.0.0.1/sessions"):
            pass

    with pytest.raises(ClassifiedError, match="runs on asyncio alone"):
        anyio.run(enter, backend="trio")


async def test_the_module_is_connected_while_the_application_runs(postgres: str) -> None:
    application = Application("app", [PostgresStoreModule(postgres)], [SESSION_STORE.required()])
    store = application.build()[SESSION_STORE]
    with pytest.raises(ClassifiedError, match="not open"):
        await store.create(new_session())
    async with application.start():
        await store.create(new_session())
    with pytest.raises(ClassifiedError, match="not open"):
        await store.load(SessionId("s1"))
