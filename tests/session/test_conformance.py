"""Our stores pass the suite that they are sold with, and the suite notices what is broken."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agentslot.session import (
    Commit,
    CommitRequest,
    FileStore,
    Loaded,
    MemoryStore,
    SessionId,
    SessionStore,
    SqliteStore,
)
from agentslot.session.conformance import (
    CHECKS,
    DURABILITY_CHECKS,
    Check,
    ConformanceFailure,
    OpenStore,
    check_store,
    run_check,
)


def opener(make: Callable[[], SessionStore]) -> OpenStore:
    @asynccontextmanager
    async def open_store() -> AsyncGenerator[SessionStore]:
        yield make()

    return open_store


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_the_memory_store_conforms(check: Check) -> None:
    await run_check(check, opener(MemoryStore))


@pytest.mark.parametrize("check", [*CHECKS, *DURABILITY_CHECKS], ids=lambda check: check.__name__)
async def test_the_file_store_conforms(check: Check, tmp_path: Path) -> None:
    await run_check(check, lambda: FileStore(tmp_path / "sessions"))


@pytest.mark.parametrize("check", [*CHECKS, *DURABILITY_CHECKS], ids=lambda check: check.__name__)
async def test_the_sqlite_store_conforms(check: Check, tmp_path: Path) -> None:
    await run_check(check, lambda: SqliteStore(tmp_path / "sessions.db"))


async def test_the_suite_runs_all_checks_of_a_store(tmp_path: Path) -> None:
    directories = iter(range(100))

    def fresh() -> OpenStore:
        directory = tmp_path / str(next(directories))
        return lambda: FileStore(directory)

    await check_store(fresh)
    assert next(directories) == len(CHECKS) + len(DURABILITY_CHECKS)


class Forgetful(MemoryStore):
    """Says that a commit was made, and does not make it."""

    async def commit(self, request: CommitRequest) -> Commit:
        before = (await self.load(request.session_id)).state
        made = await super().commit(request)
        self._states[request.session_id] = before
        return made


class Eager(MemoryStore):
    """Recovers when it is asked to load."""

    async def load(self, session_id: SessionId) -> Loaded:
        return await self.recover(session_id)


class Clumsy(MemoryStore):
    """Fails in a way of its own when there is no such Session."""

    async def load(self, session_id: SessionId) -> Loaded:
        return Loaded(self._states[session_id])


@pytest.mark.parametrize("store", [Forgetful, Eager, Clumsy])
async def test_the_suite_notices_a_broken_store(store: type[MemoryStore]) -> None:
    with pytest.raises(ConformanceFailure) as caught:
        await check_store(lambda: opener(store), volatile=True)
    assert caught.value.check
    assert caught.value.detail
