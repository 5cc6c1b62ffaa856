"""A database of Sessions: questions in SQL, other files, a full disk, a second owner."""

import os
import sqlite3
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.to_thread import run_sync

from agentslot.session import (
    AgentId,
    AppendMessage,
    ClassifiedError,
    SessionDamagedError,
    SessionId,
    SqliteStore,
    WorkspaceId,
)
from tests.session.limiteddisk import fill
from tests.session.scenario import new_session, request, user


def ask(path: Path, question: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database, database:
        return database.execute(question, values).fetchall()


async def test_a_session_can_be_asked_in_sql(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    async with SqliteStore(path) as store:
        state = await store.create(new_session())
        message = AppendMessage(user("u1", "caf\u00e9\u2028", run=None))
        await store.commit(request(state, "key", message))
        text = await run_sync(
            ask, path, "SELECT payload ->> '$.parts[0].text' FROM facts WHERE kind = 'message'"
        )
    assert text == [("caf\u00e9\u2028",)]
    assert path.stat().st_mode & 0o777 == 0o600


async def test_a_session_of_a_name_that_nobody_can_write_down_is_not_there(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "sessions.db") as store:
        with pytest.raises(ClassifiedError) as caught:
            await store.load(SessionId("half \ud800"))
    assert caught.value.code == "session_not_found"


async def test_no_other_process_gets_in_while_a_store_is_open(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    async with SqliteStore(path) as store:
        state = await store.create(new_session())
        with pytest.raises(ClassifiedError) as caught:
            async with SqliteStore(path):
                pass
        assert caught.value.code == "sessions_in_use"
        assert f"process {os.getpid()} on " in str(caught.value)
        reader = SqliteStore(path)
        assert (await reader.load(state.id)).state == state
        assert len((await reader.list_sessions(state.agent, state.workspace)).sessions) == 1


async def test_sessions_that_are_created_written_and_read_at_once_keep_apart(
    tmp_path: Path,
) -> None:
    async with SqliteStore(tmp_path / "sessions.db") as store:

        async def live(number: int) -> None:
            state = await store.create(new_session(f"s{number}"))
            for turn in range(10):
                message = AppendMessage(user(f"u{turn}", "hello", run=None))
                state = (await store.commit(request(state, f"key-{turn}", message))).state
                await SqliteStore(tmp_path / "sessions.db").load(state.id)
                await store.list_sessions(state.agent, state.workspace)
            assert len(state.history) == 10

        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(live, number)
        for number in range(20):
            assert len((await store.load(SessionId(f"s{number}"))).state.history) == 10


async def test_a_file_that_is_no_database_of_sessions_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_bytes(b"These are notes, many of them.\n" * 100)
    other = tmp_path / "other.db"
    await run_sync(ask, other, "CREATE TABLE mine (x)")
    for path in (text, other):
        before = path.read_bytes()
        with pytest.raises(SessionDamagedError):
            async with SqliteStore(path):
                pass
        assert path.read_bytes() == before


async def test_rows_that_make_no_session_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    async with SqliteStore(path) as store:
        state = await store.create(new_session())
        for number in range(3):
            message = AppendMessage(user(f"u{number}", run=None))
            state = (await store.commit(request(state, f"k{number}", message))).state
    await run_sync(ask, path, "DELETE FROM facts WHERE sequence = 2")
    with pytest.raises(SessionDamagedError, match="fact 3"):
        await SqliteStore(path).load(SessionId("s1"))


class Unreliable(sqlite3.Connection):
    """Fails every question with the code that is set."""

    code = 0

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        if self.code and sql.startswith("SELECT"):
            error = sqlite3.DatabaseError("it cannot be asked")
            error.sqlite_errorcode = self.code
            raise error
        return super().execute(sql, parameters)


@pytest.fixture
def unreliable(monkeypatch: pytest.MonkeyPatch) -> type[Unreliable]:
    connection = type("Connection", (Unreliable,), {})
    connect: Callable[..., sqlite3.Connection] = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", partial(connect, factory=connection))
    return connection


async def every_way_to_read(path: Path, store: SqliteStore) -> AsyncGenerator[ClassifiedError]:
    """What each of them raises."""
    reader = SqliteStore(path)
    ways: list[Callable[[], Awaitable[object]]] = [
        lambda: reader.load(SessionId("s1")),
        reader.overview,
        lambda: reader.list_sessions(AgentId("agent"), WorkspaceId("workspace")),
        lambda: store.load(SessionId("s2")),
        lambda: store.recover(SessionId("s2")),
        lambda: store.list_sessions(AgentId("agent"), WorkspaceId("workspace")),
    ]
    for way in ways:
        with pytest.raises(ClassifiedError) as caught:
            await way()
        yield caught.value


@pytest.mark.parametrize(
    ("code", "is_damage"),
    [
        (sqlite3.SQLITE_IOERR_READ, False),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, False),
        (sqlite3.SQLITE_CANTOPEN, False),
        (sqlite3.SQLITE_CORRUPT_INDEX, True),
        (sqlite3.SQLITE_NOTADB, True),
    ],
)
async def test_what_cannot_be_reached_is_unavailable_and_what_is_broken_is_damage(
    tmp_path: Path, unreliable: type[Unreliable], code: int, is_damage: bool
) -> None:
    path = tmp_path / "sessions.db"
    async with SqliteStore(path) as store:
        await store.create(new_session("s1"))
        unreliable.code = code
        async for error in every_way_to_read(path, store):
            assert isinstance(error, SessionDamagedError) is is_damage
            if not is_damage:
                assert (error.kind, error.code) == ("unavailable", "unreadable")
        unreliable.code = 0
        assert (await store.load(SessionId("s1"))).state.revision == 1


async def test_a_database_that_cannot_be_opened_is_unavailable(tmp_path: Path) -> None:
    folder = tmp_path / "sessions.db"
    folder.mkdir()
    with pytest.raises(ClassifiedError) as caught:
        await SqliteStore(folder).load(SessionId("s1"))
    assert (caught.value.kind, caught.value.code) == ("unavailable", "unreadable")


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files as Linux does")
async def test_a_full_disk_is_said_at_once_and_commits_work_when_there_is_room(
    tmp_path: Path,
) -> None:
    path = tmp_path / "sessions.db"
    count, said = await fill("SqliteStore", path, 262144)
    assert said == "not_durable"
    state = (await SqliteStore(path).load(SessionId("s1"))).state
    assert len(state.history) == count + 1


async def test_a_missing_database_has_no_sessions(tmp_path: Path) -> None:
    with pytest.raises(ClassifiedError, match="no database"):
        await SqliteStore(tmp_path / "sessions.db").load(SessionId("s1"))
