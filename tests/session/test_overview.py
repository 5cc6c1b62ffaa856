"""All Sessions of a store at a glance, without reading them whole."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agentslot.session import (
    AppendMessage,
    CommitRequest,
    FileStore,
    Message,
    MessageInput,
    NewSession,
    SessionId,
    SessionState,
    SqliteStore,
    fork,
    start_from_summary,
)
from agentslot.session.durable import DurableStore
from agentslot.session.medium import Stored
from tests.session.files import file_of, write_session
from tests.session.scenario import MODEL, START, new_session, queued, user

Store = DurableStore[Stored]


def file_store(folder: Path) -> DurableStore[Stored]:
    return FileStore(folder)  # type: ignore[return-value]  # what it reads is a kind of Stored


def sqlite_store(folder: Path) -> DurableStore[Stored]:
    return SqliteStore(folder / "sessions.db")


async def say(store: Store, state: SessionState, *texts: str) -> SessionState:
    for number, text in enumerate(texts):
        key = f"{state.id}-{state.revision}"
        change = AppendMessage(user(f"{state.id}-m{number}-{text}", text, run=None))
        state = (await store.commit(CommitRequest(state.id, state.revision, key, (change,)))).state
    return state


def words(message: Message | None) -> str | None:
    return None if message is None else message.text


@pytest.mark.parametrize("make", [file_store, sqlite_store])
async def test_each_session_is_shown_with_the_first_thing_said_in_it(
    make: Callable[[Path], Store], tmp_path: Path
) -> None:
    async with make(tmp_path) as store:
        source = await say(store, await store.create(new_session("a")), "first", "second")
        child = await store.create(fork(source, SessionId("b")))
        await store.create(fork(source, SessionId("c")))
        await say(store, child, "another way")
        await store.create(summary_of(source))
        rows = await store.overview()
    assert [(row.summary.id, row.summary.parent, words(row.first_message)) for row in rows] == [
        ("d", "a", "in short"),
        ("b", "a", "another way"),
        ("c", "a", None),
        ("a", None, "first"),
    ]
    assert await make(tmp_path).overview() == rows


def summary_of(source: SessionState) -> NewSession:
    return start_from_summary(
        SessionId("d"),
        [MessageInput.of("in short")],
        agent=source.agent,
        workspace=source.workspace,
        now=START,
        model_config=MODEL,
        source=source,
    )


async def test_what_was_queued_is_not_said_yet(tmp_path: Path) -> None:
    await write_session(tmp_path, [queued("q1")])
    [row] = await FileStore(tmp_path).overview()
    assert row.first_message is None


async def test_damage_behind_the_first_message_is_not_even_read(tmp_path: Path) -> None:
    said = AppendMessage(user("m", "hello", run=None))
    await write_session(tmp_path, [said], [queued("q1")], [queued("q2")])
    path = file_of(tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"q1"', b'"q9"'))
    [row] = await FileStore(tmp_path).overview()
    assert words(row.first_message) == "hello"


async def test_damage_before_the_first_message_hides_it_only(tmp_path: Path) -> None:
    said = AppendMessage(user("m", "hello", run=None))
    await write_session(tmp_path, [queued("q1")], [said])
    path = file_of(tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"q1"', b'"q9"'))
    [row] = await FileStore(tmp_path).overview()
    assert (row.summary.id, row.first_message) == ("s1", None)
