"""One process at a time owns a directory of Sessions."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anyio.to_thread
import pytest

from agentslot.session import ClassifiedError, FileStore, SessionId, SqliteStore
from agentslot.session.lockfile import LockFile
from tests.session.files import load
from tests.session.scenario import new_session, queued, request

_ROOT = Path(__file__).parents[2]

_WRITE_FOR_EVER = """
import sys, anyio
from agentslot.session import FileStore
from tests.session.scenario import *

async def main():
    async with FileStore(sys.argv[1]) as store:
        state = await store.create(new_session())
        print("ready", flush=True)
        for number in range(1_000_000):
            message = AppendMessage(user(f"u{number}", "x" * 8192, run=None))
            state = (await store.commit(request(state, f"key-{number}", message))).state
            print(state.revision, flush=True)

anyio.run(main)
"""


async def test_a_second_store_is_refused_and_told_who_has_the_directory(tmp_path: Path) -> None:
    async with FileStore(tmp_path):
        with pytest.raises(ClassifiedError) as caught:
            async with FileStore(tmp_path):
                pass
        assert caught.value.code == "sessions_in_use"
        assert f"process {os.getpid()} on " in str(caught.value)
        assert str(tmp_path) in str(caught.value)
    async with FileStore(tmp_path):
        pass


def sqlite_in(folder: Path) -> SqliteStore:
    return SqliteStore(folder / "sessions.db")


@pytest.mark.parametrize(
    ("place", "reason"),
    [("file", "it is no folder"), ("file/below", "Not a directory"), ("locked", "Is a directory")],
)
@pytest.mark.parametrize("make", [FileStore, sqlite_in])
async def test_a_place_that_cannot_be_written_is_refused_by_name(
    make: Callable[[Path], FileStore | SqliteStore], place: str, reason: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("a note", encoding="utf-8")
    (tmp_path / "locked" / ".lock").mkdir(parents=True)
    (tmp_path / "locked" / "sessions.db.lock").mkdir()
    with pytest.raises(ClassifiedError, match=rf"{place}\b.*{reason}") as caught:
        async with make(tmp_path / place):
            pass
    assert caught.value.code == "not_writable"
    assert (tmp_path / "file").read_text(encoding="utf-8") == "a note"


async def test_whoever_does_not_own_the_directory_can_read_it(tmp_path: Path) -> None:
    async with FileStore(tmp_path) as owner:
        state = await owner.create(new_session())
        reader = FileStore(tmp_path)
        assert (await reader.load(state.id)).state == state
        assert len((await reader.list_sessions(state.agent, state.workspace)).sessions) == 1
        for attempt in (
            reader.commit(request(state, "key", queued("q1"))),
            reader.recover(state.id),
            reader.create(new_session("s2")),
        ):
            with pytest.raises(ClassifiedError, match="not open"):
                await attempt


def kill_a_writer_in_the_middle(directory: Path) -> int:
    """Start a process that commits without end, kill it; the last revision it was told of."""
    command = [sys.executable, "-c", _WRITE_FOR_EVER, str(directory)]
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=_ROOT, env=environment
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if line.strip() == "20":
                break
        with pytest.raises(ClassifiedError, match=f"process {child.pid} on "):
            LockFile(directory / ".lock").acquire(directory)
        child.send_signal(signal.SIGKILL)
        return max(20, *map(int, child.stdout.read().split()), 0)


@pytest.mark.skipif(sys.platform == "win32", reason="kills as POSIX does")
async def test_a_killed_owner_gives_the_directory_back_and_its_file_loads(tmp_path: Path) -> None:
    acknowledged = await anyio.to_thread.run_sync(kill_a_writer_in_the_middle, tmp_path)
    async with FileStore(tmp_path) as store:
        state = (await store.recover(SessionId("s1"))).state
        assert state.revision >= acknowledged
        assert len(state.history) == state.revision - 1
        await store.commit(request(state, "mine", queued("q1")))
    assert (await load(tmp_path)).revision == state.revision + 1
