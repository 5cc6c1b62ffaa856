"""What stores on any medium share: ownership, memory, cancellation."""

from pathlib import Path

import anyio
import pytest

from agentslot.session import FileOperations, FileStore, SessionId, durable
from tests.session.files import load
from tests.session.scenario import new_session, queued, request


async def test_sessions_that_rest_make_room_in_memory_and_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable, "_SESSIONS_IN_MEMORY", 2)
    async with FileStore(tmp_path) as store:
        states = [await store.create(new_session(f"s{number}")) for number in range(5)]
        for state in states:
            made = await store.commit(request(state, "key", queued("q1")))
            assert made.revision == 2
        again = await store.commit(request(states[0], "key", queued("q1")))
        assert not again.applied


class Held(FileOperations):
    """Waits in the middle of a flush until it is let go."""

    def __init__(self) -> None:
        self.holding = False
        self.reached = anyio.Event()
        self.go_on = anyio.Event()

    def flush(self, descriptor: int) -> None:
        if self.holding:
            anyio.from_thread.run_sync(self.reached.set)
            anyio.from_thread.run(self.go_on.wait)
        super().flush(descriptor)


async def test_a_commit_that_has_begun_is_finished_when_its_caller_is_cancelled(
    tmp_path: Path,
) -> None:
    held = Held()
    async with FileStore(tmp_path, operations=held) as store:
        state = await store.create(new_session())
        held.holding = True
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(store.commit, request(state, "key", queued("q1")))
            await held.reached.wait()
            tasks.cancel_scope.cancel()
            held.go_on.set()
        held.holding = False
        again = await store.commit(request(state, "key", queued("q1")))
        assert (again.applied, again.revision) == (False, 2)
    assert (await load(tmp_path)).revision == 2


async def test_sessions_do_not_wait_for_each_other(tmp_path: Path) -> None:
    held = Held()
    async with FileStore(tmp_path, operations=held) as store:
        one, other = [await store.create(new_session(name)) for name in ("one", "other")]
        held.holding = True
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(store.commit, request(one, "key", queued("q1")))
            await held.reached.wait()
            held.holding = False
            assert (await store.commit(request(other, "key", queued("q1")))).applied
            assert (await store.load(SessionId("other"))).state.revision == 2
            held.go_on.set()
    assert (await load(tmp_path, "one")).revision == 2
