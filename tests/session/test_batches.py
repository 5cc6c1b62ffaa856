"""Commits of many Sessions at once: together where that is cheaper, and each with its own fate."""

import asyncio  # noqa: TID251  # its native cancellation is what is tested
import errno
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import anyio
import pytest
from anyio.to_thread import run_sync

from agentslot.session import (
    AppendMessage,
    ClassifiedError,
    CommitRequest,
    FileOperations,
    FileStore,
    SessionId,
    SessionStore,
    SqliteStore,
)
from agentslot.session.batches import Batches
from agentslot.session.directory import SessionDirectory
from tests.session.scenario import new_session, request, user


class Held:
    """Work that waits in its first batch until it is let go; jobs below 0 fail."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.reached = anyio.Event()
        self.go_on = anyio.Event()

    def __call__(self, jobs: Sequence[int]) -> list[Exception | None]:
        self.batches.append(list(jobs))
        if len(self.batches) == 1:
            anyio.from_thread.run_sync(self.reached.set)
            anyio.from_thread.run(self.go_on.wait)
        if 0 in jobs:
            raise RuntimeError("the work itself is broken")
        return [ValueError(job) if job < 0 else None for job in jobs]


async def run(work: Held, *waiting: int) -> dict[int, Exception | None]:
    """Start job 1, and the others while it is under way; what each ended with."""
    batches, ends = Batches(work, anyio.CapacityLimiter(1)), dict[int, Exception | None]()

    async def do(job: int) -> None:
        try:
            await batches.do(job)
            ends[job] = None
        except (ValueError, RuntimeError) as error:
            ends[job] = error

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(do, 1)
        await work.reached.wait()
        for job in waiting:
            tasks.start_soon(do, job)
        await anyio.wait_all_tasks_blocked()
        work.go_on.set()
    await batches.do(9)
    return ends


async def test_what_waits_for_a_thread_goes_along_with_the_next() -> None:
    work = Held()
    await run(work, 2, 3, 4)
    assert [sorted(batch) for batch in work.batches] == [[1], [2, 3, 4], [9]]


async def test_a_job_that_fails_fails_alone() -> None:
    ends = await run(Held(), 2, -3, 4)
    assert (ends[1], ends[2], ends[4]) == (None, None, None)
    assert isinstance(ends[-3], ValueError)


async def test_work_that_breaks_fails_its_batch_and_the_next_one_is_done() -> None:
    ends = await run(Held(), 0, 3)
    assert isinstance(ends[0], RuntimeError)
    assert isinstance(ends[3], RuntimeError)


async def commit_at_once(store: SessionStore) -> dict[str, str]:
    """Commit to ten Sessions at once; the codes of those that failed."""
    states = [await store.create(new_session(f"s{number}")) for number in range(10)]
    failed: dict[str, str] = {}

    async def commit(one: CommitRequest) -> None:
        try:
            await store.commit(one)
        except ClassifiedError as error:
            failed[one.session_id] = error.code

    async with anyio.create_task_group() as tasks:
        for state in states:
            message = AppendMessage(user("u1", run=None))
            tasks.start_soon(commit, request(state, "key", message))
    for state in states:
        found = (await store.load(state.id)).state
        assert found.revision == (1 if state.id in failed else 2)
    return failed


class FullFor(FileOperations):
    """Has no room for one of the files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._refused = -1

    def open(self, path: Path) -> int:
        descriptor = super().open(path)
        if path == self.path:
            self._refused = descriptor
        return descriptor

    def write(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        if descriptor == self._refused:
            self._refused = -1
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(descriptor, data, offset)


async def test_a_file_without_room_does_not_keep_the_others_from_being_saved(
    tmp_path: Path,
) -> None:
    full = FullFor(SessionDirectory(tmp_path).file_of(SessionId("s7")))
    async with FileStore(tmp_path, operations=full) as store:
        assert await commit_at_once(store) == {"s7": "not_durable"}


def refuse(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON facts WHEN NEW.session = 's7' "
            "BEGIN SELECT RAISE(ABORT, 'no'); END"
        )


async def test_a_row_that_is_refused_does_not_keep_the_others_from_being_saved(
    tmp_path: Path,
) -> None:
    path = tmp_path / "sessions.db"
    async with SqliteStore(path) as store:
        await run_sync(refuse, path)
        assert await commit_at_once(store) == {"s7": "not_durable"}


@pytest.mark.parametrize("cancelled", [0, 1], ids=["the task with the thread", "a task that waits"])
def test_a_task_that_asyncio_itself_cancels_takes_no_thread_with_it(cancelled: int) -> None:
    async def main() -> list[BaseException | None]:
        work = Held()
        batches = Batches(work, anyio.CapacityLimiter(1))
        tasks = [asyncio.create_task(batches.do(1))]
        await work.reached.wait()
        tasks += [asyncio.create_task(batches.do(job)) for job in (2, 3)]
        await anyio.wait_all_tasks_blocked()
        tasks[cancelled].cancel()
        await anyio.wait_all_tasks_blocked()
        work.go_on.set()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        await batches.do(9)
        return ends

    ends = anyio.run(main, backend="asyncio")
    assert [end is None for end in ends] == [number != cancelled for number in range(3)]
