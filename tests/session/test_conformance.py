"""Our stores pass the suite that they are sold with, and the suite notices what is broken."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio.lowlevel
import pytest

from agentslot.session import (
    AgentId,
    AppendAttempt,
    AppendMessage,
    Change,
    ClassifiedError,
    Commit,
    CommitRequest,
    FileStore,
    Loaded,
    MemoryStore,
    NewSession,
    SessionId,
    SessionState,
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
from agentslot.session.conformance.sidebyside import (
    a_commit_that_fails_fails_alone,
    sessions_side_by_side_keep_apart,
)
from agentslot.session.conformance.texts import (
    a_continuation_is_a_json_value,
    no_text_of_any_change_escapes,
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


class Mending(MemoryStore):
    """Leaves out what it could not keep."""

    async def commit(self, request: CommitRequest) -> Commit:
        changes = tuple(map(self.mended, request.changes))
        return await super().commit(replace(request, changes=changes))

    def mended(self, change: Change) -> Change:
        if isinstance(change, AppendAttempt):
            served = change.attempt.served_model.encode(errors="ignore").decode()
            return replace(change, attempt=replace(change.attempt, served_model=served))
        return change


class Indifferent(Mending):
    """Takes any text for what a model wants back."""

    def mended(self, change: Change) -> Change:
        if isinstance(change, AppendMessage) and change.message.continuation is not None:
            return replace(change, message=replace(change.message, continuation=None))
        return change


class Copying(MemoryStore):
    """Does not look at what it starts a Session with."""

    async def create(self, new: NewSession) -> SessionState:
        return await super().create(replace(new, agent=AgentId("agent")))


@pytest.mark.parametrize(
    ("check", "store", "said"),
    [
        (no_text_of_any_change_escapes, Mending, "pair at $.changes[1].attempt.served_model"),
        (no_text_of_any_change_escapes, Copying, "is created with half a surrogate pair at $.ag"),
        (a_continuation_is_a_json_value, Indifferent, "'invalid_continuation', gave Commit"),
    ],
)
async def test_texts_show_which_store_takes_anything(
    check: Check, store: type[MemoryStore], said: str
) -> None:
    with pytest.raises(ConformanceFailure) as caught:
        await run_check(check, opener(store))
    assert caught.value.check == check.__name__
    assert said in caught.value.detail


class OneTransaction(MemoryStore):
    """All commits go through one transaction, which whoever reads or creates takes back."""

    def __init__(self) -> None:
        super().__init__()
        self._writing = set[SessionId]()

    def _take_back(self) -> None:
        self._writing.clear()

    async def commit(self, request: CommitRequest) -> Commit:
        before = (await super().load(request.session_id)).state
        made = await super().commit(request)
        self._writing.add(request.session_id)
        await anyio.lowlevel.checkpoint()
        if request.session_id in self._writing:
            self._writing.remove(request.session_id)
        else:
            self._states[request.session_id] = before
        return made


class TakesBackForOthers(OneTransaction):
    """The Sessions that others create."""

    async def create(self, new: NewSession) -> SessionState:
        self._take_back()
        return await super().create(new)


class TakesBackForReaders(OneTransaction):
    """The Sessions that others read."""

    async def load(self, session_id: SessionId) -> Loaded:
        self._take_back()
        return await super().load(session_id)


class TakesBackForFailures(OneTransaction):
    """The commits that are refused."""

    async def commit(self, request: CommitRequest) -> Commit:
        try:
            return await super().commit(request)
        except ClassifiedError:
            self._take_back()
            raise


class KnowsKeysOfAll(MemoryStore):
    """Takes a key that another Session has used for the same commit."""

    async def create(self, new: NewSession) -> SessionState:
        state = await super().create(new)
        self._recent[new.id] = next(iter(self._recent.values()))
        return state


@pytest.mark.parametrize(
    ("check", "store"),
    [
        (sessions_side_by_side_keep_apart, TakesBackForOthers),
        (sessions_side_by_side_keep_apart, TakesBackForReaders),
        (sessions_side_by_side_keep_apart, KnowsKeysOfAll),
        (a_commit_that_fails_fails_alone, TakesBackForFailures),
    ],
)
async def test_sessions_side_by_side_show_what_one_does_to_another(
    check: Check, store: type[MemoryStore]
) -> None:
    with pytest.raises(ConformanceFailure) as caught:
        await run_check(check, opener(store))
    assert caught.value.check == check.__name__


@pytest.mark.parametrize("store", [Forgetful, Eager, Clumsy])
async def test_the_suite_notices_a_broken_store(store: type[MemoryStore]) -> None:
    with pytest.raises(ConformanceFailure) as caught:
        await check_store(lambda: opener(store), volatile=True)
    assert caught.value.check
    assert caught.value.detail
