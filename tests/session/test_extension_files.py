"""Hooks on the disk: the label of a file, and that the journal comes back exactly."""

from pathlib import Path

import pytest

from agentslot.session import (
    CommitRequest,
    ExtensionBoundary,
    ExtensionDecision,
    FileStore,
    InvocationSucceeded,
    LifecyclePhase,
    SessionDamagedError,
    SessionId,
    SessionState,
    SqliteStore,
)
from agentslot.session.fileformat import seal, unseal
from tests.session.extensions import (
    ACCEPTED,
    APPLIED,
    BEGUN,
    CONSUMED,
    FAILED,
    prepare,
    step,
)
from tests.session.scenario import new_session, queued, request

V1, V2 = b"agentslot.session-file/v1", b"agentslot.session-file/v2"
REJECTED = InvocationSucceeded(ExtensionDecision.REJECT, "not \U0001f378 today")


def the_file(folder: Path) -> Path:
    (path,) = folder.glob("*.jsonl")
    return path


def lines(folder: Path) -> list[bytes]:
    return the_file(folder).read_bytes().splitlines()


async def gate(store: FileStore, state: SessionState, key: str = "gate") -> SessionState:
    changes = prepare(state, ExtensionBoundary.INPUT_GATE, key)
    return (await store.commit(request(state, key, *changes))).state


async def test_a_session_that_asks_no_hooks_stays_a_file_of_version_1(tmp_path: Path) -> None:
    async with FileStore(tmp_path) as store:
        state = await store.create(new_session())
        await store.commit(request(state, "k", queued("q1")))
    assert V1 in lines(tmp_path)[0]
    assert not any(V2 in line for line in lines(tmp_path))


async def test_the_first_hook_makes_it_a_file_of_version_2_for_good(tmp_path: Path) -> None:
    async with FileStore(tmp_path) as store:
        state = await gate(store, await store.create(new_session()))
        state = (await store.commit(request(state, "k2", *step(1, BEGUN)))).state
    assert [V2 in line for line in lines(tmp_path)] == [False, True, False, False]
    async with FileStore(tmp_path) as store:
        loaded = await store.load(state.id)
        assert loaded.state == state
        assert loaded.repairs == ()
        again = await gate(store, state, "2")
        assert (await store.load(state.id)).state == again
    assert sum(V2 in line for line in lines(tmp_path)) == 1


@pytest.mark.parametrize("kind", [FileStore, SqliteStore])
async def test_what_was_asked_and_answered_comes_back_exactly(
    tmp_path: Path, kind: type[FileStore | SqliteStore]
) -> None:
    place = tmp_path / "sessions"
    async with kind(place) as store:
        state = await store.create(new_session())
        for boundary in (ExtensionBoundary.INPUT_GATE, ExtensionBoundary.SESSION_LIFECYCLE):
            names = [f"{boundary}{n}" for n in range(3)]
            first = len(state.extensions) + 1
            changes = prepare(state, boundary, *names)
            state = (await store.commit(request(state, f"{boundary}", *changes))).state
            changes = [*step(first, BEGUN, FAILED), *step(first + 1, BEGUN)]
            state = (await store.commit(request(state, f"{boundary}2", *changes))).state
        done = [*step(2, ACCEPTED, APPLIED), *step(3, BEGUN, REJECTED, APPLIED)]
        state = (await store.commit(request(state, "done", *done))).state
        assert state.extensions[4].invocation.phase is LifecyclePhase.OPEN
    async with kind(place) as store:
        assert (await store.load(state.id)).state == state
        consumed = (await store.commit(request(state, "c", *step(2, CONSUMED)))).state
    async with kind(place) as store:
        assert (await store.load(state.id)).state == consumed


async def test_a_first_hook_whose_write_was_torn_leaves_the_session_as_it_was(
    tmp_path: Path,
) -> None:
    async with FileStore(tmp_path) as store:
        before = await store.create(new_session())
        await gate(store, before)
    path = the_file(tmp_path)
    whole = path.read_bytes()
    start = whole.index(b'{"type":"format"')
    for size in range(start, len(whole)):
        path.write_bytes(whole[:size])
        async with FileStore(tmp_path) as store:
            loaded = (await store.load(before.id)).state
            assert loaded == before or size == len(whole) - 1
            if size % 97 == 0:
                after = await gate(store, loaded, "again")
                assert (await store.load(before.id)).state == after


async def test_hooks_in_a_file_of_version_1_are_damage(tmp_path: Path) -> None:
    async with FileStore(tmp_path) as store:
        await gate(store, await store.create(new_session()))
    path = the_file(tmp_path)
    header, _, commit = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(header + commit)
    with pytest.raises(SessionDamagedError, match="line 2: a file of format"):
        await FileStore(tmp_path).load(SessionId("s1"))


async def test_a_label_that_is_not_known_is_damage(tmp_path: Path) -> None:
    async with FileStore(tmp_path) as store:
        state = await gate(store, await store.create(new_session()))
    path = the_file(tmp_path)
    header, label, commit = path.read_bytes().splitlines(keepends=True)
    for change in (label.replace(V2, V2[:-1] + b"3"), label.replace(b'"rev":1', b'"rev":2')):
        path.write_bytes(header + seal(unseal(change), state.updated_at) + commit)
        with pytest.raises(SessionDamagedError, match="line 2: the file becomes format"):
            await FileStore(tmp_path).load(SessionId("s1"))


async def test_the_commit_that_relabels_is_answered_for_when_it_is_sent_again(
    tmp_path: Path,
) -> None:
    async with FileStore(tmp_path) as store:
        state = await store.create(new_session())
        changes = prepare(state, ExtensionBoundary.INPUT_GATE, "1")
        asked = CommitRequest(state.id, state.revision, "key", tuple(changes))
        await store.commit(asked)
    async with FileStore(tmp_path) as store:
        again = await store.commit(asked)
    assert (again.applied, again.revision) == (False, 2)
