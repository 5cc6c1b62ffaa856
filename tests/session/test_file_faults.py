"""The write path when the system says no: short writes, full disks, failing flushes."""

import errno
import os
import sys
from pathlib import Path

import anyio.to_thread
import pytest

from agentslot.session import (
    ClassifiedError,
    CommitRequest,
    FileOperations,
    FileStore,
    SessionState,
)
from tests.session.files import file_of, load
from tests.session.limiteddisk import fill
from tests.session.scenario import new_session, queued, request


class Faulty(FileOperations):
    """Fails the operations that are named, after `allowed_bytes` of each write."""

    def __init__(self) -> None:
        self.failing: set[str] = set()
        self.allowed_bytes = 0
        self.chunk: int | None = None

    def _may_fail(self, name: str) -> None:
        if name in self.failing:
            raise OSError(errno.ENOSPC, "No space left on device")

    def create(self, path: Path) -> int:
        self._may_fail("create")
        return super().create(path)

    def open(self, path: Path) -> int:
        self._may_fail("open")
        return super().open(path)

    def write(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        if "write" in self.failing:
            if self.allowed_bytes <= 0:
                self._may_fail("write")
            data = data[: self.allowed_bytes]
            self.allowed_bytes -= len(data)
        return super().write(descriptor, data[: self.chunk], offset)

    def flush(self, descriptor: int) -> None:
        self._may_fail("flush")
        super().flush(descriptor)

    def truncate(self, descriptor: int, size: int) -> None:
        self._may_fail("truncate")
        super().truncate(descriptor, size)

    def rename(self, source: Path, target: Path) -> None:
        self._may_fail("rename")
        super().rename(source, target)

    def flush_directory(self, directory: Path) -> None:
        self._may_fail("flush_directory")
        super().flush_directory(directory)


async def one_commit(store: FileStore) -> SessionState:
    state = await store.create(new_session())
    return (await store.commit(request(state, "first", queued("q1")))).state


async def refused(store: FileStore, commit: CommitRequest) -> None:
    with pytest.raises(ClassifiedError) as caught:
        await store.commit(commit)
    assert (caught.value.kind, caught.value.code) == ("unavailable", "not_durable")


async def test_a_short_write_is_continued(tmp_path: Path) -> None:
    faulty = Faulty()
    faulty.chunk = 7
    async with FileStore(tmp_path, operations=faulty) as store:
        state = await one_commit(store)
    assert await load(tmp_path) == state


@pytest.mark.parametrize("failing", ["open", "write", "flush"])
async def test_a_failed_commit_is_taken_back_and_can_be_sent_again(
    tmp_path: Path, failing: str
) -> None:
    faulty = Faulty()
    async with FileStore(tmp_path, operations=faulty) as store:
        state = await one_commit(store)
        before = file_of(tmp_path).read_bytes()
        commit = request(state, "second", queued("q2"))
        for allowed in (0, 1, 50):
            faulty.failing, faulty.allowed_bytes = {failing}, allowed
            if failing == "flush":  # the flush that takes the bytes back fails as well
                break
            await refused(store, commit)
            assert file_of(tmp_path).read_bytes() == before
            assert (await store.load(state.id)).state == state
        faulty.failing = set()
        made = await store.commit(commit)
        assert made.applied
    assert await load(tmp_path) == made.state
    assert [item.message.id for item in made.state.queue] == ["q1", "q2"]


@pytest.mark.parametrize(
    ("failing", "was_written"), [({"flush"}, False), ({"flush", "truncate"}, True)]
)
async def test_a_commit_in_doubt_is_refused_until_the_session_is_recovered_and_then_found_out(
    tmp_path: Path, failing: set[str], was_written: bool
) -> None:
    faulty = Faulty()
    async with FileStore(tmp_path, operations=faulty) as store:
        state = await one_commit(store)
        other = await store.create(new_session("s2"))
        commit = request(state, "second", queued("q2"))
        faulty.failing = failing
        await refused(store, commit)
        faulty.failing = set()
        await refused(store, commit)
        with pytest.raises(ClassifiedError, match="nobody knows"):
            await store.load(state.id)
        assert (await store.commit(request(other, "first", queued("q1")))).applied
        assert (await store.recover(state.id)).state.revision == (3 if was_written else 2)
        made = await store.commit(commit)
        assert made.applied is not was_written
        assert made.revision == 3
        again = await store.commit(commit)
        assert not again.applied
    assert await load(tmp_path) == made.state


async def test_torn_bytes_that_could_not_be_taken_back_are_not_fused_with_the_next_commit(
    tmp_path: Path,
) -> None:
    faulty = Faulty()
    async with FileStore(tmp_path, operations=faulty) as store:
        state = await one_commit(store)
        commit = request(state, "second", queued("q2"))
        faulty.failing, faulty.allowed_bytes = {"write", "truncate"}, 30
        await refused(store, commit)
        faulty.failing = set()
        assert (await store.recover(state.id)).repairs
        made = await store.commit(commit)
        assert made.applied
    assert await load(tmp_path) == made.state


@pytest.mark.parametrize("failing", ["create", "write", "flush", "rename"])
async def test_a_session_that_could_not_be_created_leaves_nothing(
    tmp_path: Path, failing: str
) -> None:
    faulty = Faulty()
    async with FileStore(tmp_path, operations=faulty) as store:
        faulty.failing, faulty.allowed_bytes = {failing}, 20
        with pytest.raises(ClassifiedError, match="could not be written"):
            await store.create(new_session())
        assert os.listdir(tmp_path) == [".lock"]
        faulty.failing = set()
        assert (await store.create(new_session())).revision == 1


async def test_a_session_whose_name_may_not_be_durable_is_there_all_the_same(
    tmp_path: Path,
) -> None:
    faulty = Faulty()
    async with FileStore(tmp_path, operations=faulty) as store:
        faulty.failing = {"flush_directory"}
        with pytest.raises(ClassifiedError, match="Nobody knows"):
            await store.create(new_session())
        faulty.failing = set()
        with pytest.raises(ClassifiedError) as caught:
            await store.create(new_session())
        assert caught.value.code == "session_already_exists"


async def test_what_a_crash_left_of_a_creation_is_removed(tmp_path: Path) -> None:
    leftover = tmp_path / ".agentslot-session-0123.tmp"
    leftover.write_bytes(b"half")
    async with FileStore(tmp_path):
        assert not leftover.exists()


async def test_a_file_changed_by_somebody_else_is_read_again(tmp_path: Path) -> None:
    async with FileStore(tmp_path) as store:
        state = await one_commit(store)
        with file_of(tmp_path).open("ab") as file:
            file.write(b"scribble")
        commit = request(state, "second", queued("q2"))
        await refused(store, commit)
        assert (await store.commit(commit)).applied
    assert len((await load(tmp_path)).queue) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files as Linux does")
async def test_a_full_disk_is_said_at_once_and_appends_work_when_there_is_room(
    tmp_path: Path,
) -> None:
    from agentslot.session.filereader import read_session

    count, said = await fill("FileStore", tmp_path, 65536)
    assert said == "not_durable"
    stored = await anyio.to_thread.run_sync(read_session, file_of(tmp_path))
    assert stored.repairs == ()
    assert len(stored.state.history) == count + 1
