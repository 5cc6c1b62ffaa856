"""A PostgreSQL server that answers and does not do what it is asked: what is said, what is kept."""

import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from agentslot.session import (
    ClassifiedError,
    Commit,
    PostgresStore,
    RevisionConflictError,
    SessionState,
    postgresdriver,
)
from agentslot.session.postgresdriver import Database, connect
from tests.session.scenario import new_session, queued, request
from tests.session.test_postgres import ask, race, until_somebody_waits_for_a_lock


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def holding(dsn: str, sql: str) -> AsyncGenerator[Database]:
    """Somebody else's transaction, which has locked something."""
    connections = await connect(dsn, 1)
    async with connections.lend() as database, database.transaction():
        await database.execute(sql)
        yield database
    await connections.close()


async def fail_writes_with(dsn: str, state: str, table: str = "queue") -> None:
    """Let the server refuse to write to a table, as it does when it is out of something."""
    await ask(
        dsn,
        f"""CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN RAISE EXCEPTION USING ERRCODE = ''{state}'', MESSAGE = ''for a reason''; END'""",
    )
    await ask(
        dsn,
        f"CREATE TRIGGER refuse BEFORE INSERT ON agentslot.{table}"
        " FOR EACH ROW EXECUTE FUNCTION refuse()",
    )


def database_of(dsn: str) -> str:
    return dsn.partition("?")[0].rpartition("/")[2]


@pytest.mark.parametrize(
    ("state", "advice"),
    [
        ("25006", "give the address of the primary"),
        ("40001", "another transaction came first: try again"),
        ("40P01", "another transaction came first: try again"),
        ("42501", "let the owner of the schema `agentslot` grant"),
        ("53100", "make room on the disk of the server"),
        ("53200", "for a reason"),
        ("55P03", "or raise `lock_timeout`"),
        ("57014", "or raise `statement_timeout`"),
    ],
)
async def test_a_server_that_refuses_to_write_has_saved_nothing_and_it_is_said_what_helps(
    postgres: str, state: str, advice: str
) -> None:
    async with PostgresStore(postgres) as store:
        session = await store.create(new_session())
        await fail_writes_with(postgres, state)
        commit = request(session, "key", queued("q1"))
        with pytest.raises(ClassifiedError, match="Nothing was saved") as caught:
            await store.commit(commit)
        assert (caught.value.kind, caught.value.code) == ("unavailable", "not_durable")
        assert advice in str(caught.value)
        assert (await store.load(session.id)).state == session
        await ask(postgres, "DROP TRIGGER refuse ON agentslot.queue")
        assert (await store.commit(commit)).applied


def test_a_store_without_connections_is_refused_at_once() -> None:
    """It used to say that the DSN cannot be read."""
    with pytest.raises(ClassifiedError, match="needs at least 1 connection, not 0") as caught:
        PostgresStore("postgresql://127.0.0.1/sessions", max_connections=0)
    assert caught.value.code == "invalid_max_connections"


async def test_whoever_waits_too_long_for_a_connection_is_told_and_nothing_was_saved(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with PostgresStore(postgres, max_connections=1) as store:
        state = await store.create(new_session())
        waiting = request(state, "key", queued("q1"))
        made: list[Commit] = []

        async def commit() -> None:
            made.append(await store.commit(waiting))

        async with holding(postgres, "SELECT id FROM agentslot.sessions FOR UPDATE"):
            tasks = anyio.create_task_group()
            await tasks.__aenter__()
            tasks.start_soon(commit)
            await until_somebody_waits_for_a_lock(postgres)
            monkeypatch.setattr(postgresdriver, "COMMAND_SECONDS", 0.05)
            with pytest.raises(ClassifiedError, match="all 1 connections of this store") as caught:
                await store.overview()
            assert (caught.value.kind, caught.value.code) == ("unavailable", "unreadable")
            with pytest.raises(ClassifiedError, match="Nothing was saved") as caught:
                await store.create(new_session("other"))
            assert (caught.value.kind, caught.value.code) == ("unavailable", "not_durable")
        await tasks.__aexit__(None, None, None)
        assert made[0].applied
        assert (await store.load(state.id)).state == made[0].state


async def test_a_lock_timeout_of_the_server_is_not_taken_for_a_broken_connection(
    postgres: str,
) -> None:
    async with PostgresStore(postgres) as store:
        state = await store.create(new_session())
    await ask(postgres, f"ALTER DATABASE {database_of(postgres)} SET lock_timeout = '50ms'")
    async with PostgresStore(postgres) as store:
        await store.recover(state.id)
        commit = request(state, "key", queued("q1"))
        async with holding(postgres, "SELECT id FROM agentslot.sessions FOR UPDATE"):
            with pytest.raises(
                ClassifiedError, match=r"or raise `lock_timeout`\. Nothing was saved"
            ):
                await store.commit(commit)
        assert (await store.commit(commit)).applied


async def test_a_server_that_can_only_be_read_is_read_and_says_where_to_write(
    postgres: str,
) -> None:
    async with PostgresStore(postgres) as store:
        state = await store.create(new_session())
    database = database_of(postgres)
    await ask(postgres, f"ALTER DATABASE {database} SET default_transaction_read_only = on")
    async with PostgresStore(postgres) as store:
        assert (await store.load(state.id)).state == state
        with pytest.raises(ClassifiedError, match="give the address of the primary") as caught:
            await store.commit(request(state, "key", queued("q1")))
        assert (caught.value.kind, caught.value.code) == ("unavailable", "not_durable")


async def restricted(dsn: str, role: str) -> str:
    """Where the same database is for a user who is no superuser."""
    await ask(dsn, f"CREATE ROLE {role} LOGIN")
    return dsn.replace("//postgres:", f"//{role}:")


async def test_a_server_that_has_no_connection_left_has_saved_nothing(postgres: str) -> None:
    role = f"guest_of_{database_of(postgres)}"
    dsn = await restricted(postgres, role)
    await ask(postgres, f"CREATE SCHEMA agentslot AUTHORIZATION {role}")
    async with PostgresStore(dsn, max_connections=2) as store:
        state = await store.create(new_session())
        await ask(postgres, f"ALTER ROLE {role} CONNECTION LIMIT 1")
        commit = request(state, "key", queued("q1"))
        await terminate(postgres, role)
        async with PostgresStore(dsn, max_connections=1):
            with pytest.raises(ClassifiedError, match=r"raise `max_connections`.*Nothing") as told:
                await store.commit(commit)
        assert (told.value.kind, told.value.code) == ("unavailable", "not_durable")
        assert (await store.commit(commit)).applied


async def terminate(dsn: str, role: str) -> None:
    """End the connections of a user and wait until the server has done so."""
    await ask(
        dsn,
        "SELECT bool_and(pg_terminate_backend(pid, 20000)) FROM pg_stat_activity"
        " WHERE usename = $1",
        role,
    )


async def test_a_user_who_may_make_no_schema_takes_the_one_that_is_there(postgres: str) -> None:
    role = f"tenant_of_{database_of(postgres)}"
    dsn = await restricted(postgres, role)
    with pytest.raises(ClassifiedError, match="permission denied for database"):
        async with PostgresStore(dsn):
            pass
    await ask(postgres, f"CREATE SCHEMA agentslot AUTHORIZATION {role}")
    async with PostgresStore(dsn) as store:
        state = await store.create(new_session())
        assert (await store.commit(request(state, "key", queued("q1")))).applied


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
async def test_a_lost_race_is_a_conflict_whatever_isolation_the_database_prefers(
    postgres: str, isolation: str
) -> None:
    """It used to be `unavailable`, since the server calls it a failed serialization."""
    await ask(
        postgres,
        f"ALTER DATABASE {database_of(postgres)} SET default_transaction_isolation = '{isolation}'",
    )
    async with PostgresStore(postgres) as one, PostgresStore(postgres) as other:
        state = await one.create(new_session())
        await other.recover(state.id)
        outcomes: list[object] = []
        async with holding(postgres, "SELECT id FROM agentslot.sessions FOR UPDATE"):
            tasks = anyio.create_task_group()
            await tasks.__aenter__()
            for store in (one, other):
                commit = request(state, f"key-{id(store)}", queued("q1"))
                tasks.start_soon(race, store, commit, outcomes)
            await until_they_wait_for_a_lock(postgres, 2)
        await tasks.__aexit__(None, None, None)
        (won,) = [outcome for outcome in outcomes if isinstance(outcome, Commit)]
        (lost,) = [outcome for outcome in outcomes if isinstance(outcome, RevisionConflictError)]
        assert lost.current_revision == won.revision


async def until_they_wait_for_a_lock(dsn: str, how_many: int) -> None:
    with anyio.fail_after(20):
        while await ask(dsn, "SELECT count(*) FROM pg_locks WHERE NOT granted") != how_many:
            pass


async def test_what_is_acknowledged_is_on_the_disk_whatever_the_database_prefers(
    postgres: str,
) -> None:
    database = database_of(postgres)
    for preferred, got in (("off", "local"), ("remote_apply", "remote_apply")):
        await ask(postgres, f"ALTER DATABASE {database} SET synchronous_commit = '{preferred}'")
        assert await ask(postgres, "SHOW synchronous_commit") == got


async def creates(store: PostgresStore, outcomes: list[object]) -> None:
    try:
        outcomes.append(await store.create(new_session()))
    except ClassifiedError as error:
        outcomes.append(error.code)


async def test_of_two_processes_that_create_the_same_session_one_does(postgres: str) -> None:
    outcomes: list[object] = []
    async with (
        PostgresStore(postgres) as one,
        PostgresStore(postgres) as other,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(creates, one, outcomes)
        tasks.start_soon(creates, other, outcomes)
    (state,) = [outcome for outcome in outcomes if isinstance(outcome, SessionState)]
    assert outcomes.count("session_already_exists") == 1
    assert state.revision == 1


async def test_a_commit_to_a_server_that_hangs_ends_and_is_found_out_about_later(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with PostgresStore(postgres) as store:
        state = await store.create(new_session())
    commit = request(state, "key", queued("q1"))
    monkeypatch.setattr(postgresdriver, "COMMAND_SECONDS", 0.2)
    async with PostgresStore(postgres, max_connections=1) as store:
        await store.recover(state.id)
        monkeypatch.undo()
        name = database_of(postgres)
        sql = "SELECT max(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()"
        pid: Any = await ask(postgres, sql, name)
        os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(ClassifiedError, match="Send the same commit again") as caught:
                await store.commit(commit)
        finally:
            os.kill(pid, signal.SIGCONT)
        assert (caught.value.kind, caught.value.code) == ("unavailable", "not_durable")
        made = await store.commit(commit)
        assert made.revision == 2
        assert (await store.load(state.id)).state == made.state
