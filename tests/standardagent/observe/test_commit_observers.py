"""Commit notices: in order within a Session, side by side between Sessions, after the fact."""

import anyio
import pytest

from agentslot import Module
from agentslot.interaction import CreateSession, SendMessage, SessionCommand
from agentslot.session import (
    AgentId,
    MessageInput,
    ModelConfig,
    RunStatus,
    SessionId,
    WorkspaceId,
)
from agentslot.standardagent import COMMIT_OBSERVERS, CommitNotice
from tests.standardagent.agents import agent, answer


class Observer:
    """Keeps the notices; Sessions in `held` wait inside until `released`."""

    def __init__(self) -> None:
        self.notices: list[CommitNotice] = []
        self.held: set[SessionId] = set()
        self.released = anyio.Event()
        self._news = anyio.Event()

    async def observe_session_commit(self, notice: CommitNotice) -> None:
        if notice.session_id in self.held:
            await self.released.wait()
        self.notices.append(notice)
        self._news.set()
        self._news = anyio.Event()

    async def until(self, session_id: SessionId, revision: int) -> list[CommitNotice]:
        """The notices of the Session, once there is one of that revision."""
        while True:
            mine = [notice for notice in self.notices if notice.session_id == session_id]
            if mine and mine[-1].revision >= revision:
                return mine
            await self._news.wait()

    def module(self, module_id: str = "test.observer") -> Module:
        return Module(module_id, COMMIT_OBSERVERS.append(self))


class Raising:
    def __init__(self, error: BaseException) -> None:
        self._error = error

    async def observe_session_commit(self, notice: CommitNotice) -> None:
        raise self._error


async def test_every_commit_is_told_once_and_in_order_with_the_facts_it_appended() -> None:
    observer = Observer()
    async with agent([answer("ok")], modules=[observer.module()]) as session:
        await session.send_and_wait("go")
        revision = await session.access.revision(session.id)
        notices = await observer.until(session.id, revision)
        facts = (await session.view()).recent_history
    assert [notice.revision for notice in notices] == list(range(2, revision + 1))
    told = [
        sequence
        for notice in notices
        if notice.first_sequence
        for sequence in range(notice.first_sequence, notice.last_sequence + 1)
    ]
    assert told == [fact.sequence for fact in facts]


async def test_a_commit_without_facts_has_no_sequences() -> None:
    observer = Observer()
    hold = anyio.Event()
    async with agent([answer("ok", hold=hold)], modules=[observer.module()]) as session:
        await session.send("go")
        await session.executor.streaming.wait()
        queued = await session.send("later")
        notices = await observer.until(session.id, queued.revision)
        hold.set()
    (notice,) = [notice for notice in notices if notice.revision == queued.revision]
    assert (notice.first_sequence, notice.last_sequence) == (0, 0)


async def test_a_slow_observer_of_one_session_keeps_no_run_and_no_other_session_waiting() -> None:
    observer = Observer()
    async with agent([answer("one"), answer("two")], modules=[observer.module()]) as session:
        new = CreateSession(AgentId("tester"), WorkspaceId("default"))
        other = (await session.access.create_session(new)).session_id
        observer.held.add(session.id)
        result = await session.send_and_wait("go")
        assert result.status is RunStatus.COMPLETED
        await session.access.send_and_wait(SendMessage(other, MessageInput.of("go")))
        await observer.until(other, await session.access.revision(other))
        assert session.id not in {notice.session_id for notice in observer.notices}
        observer.released.set()
        await observer.until(session.id, await session.access.revision(session.id))


@pytest.mark.parametrize("error", [RuntimeError("no index"), SystemExit(3)])
async def test_an_observer_that_raises_disturbs_nobody(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    observer = Observer()
    broken = Module("test.broken", COMMIT_OBSERVERS.append(Raising(error)))
    async with agent([answer("ok")], modules=[broken, observer.module()]) as session:
        result = await session.send_and_wait("go")
        revision = await session.access.revision(session.id)
        await observer.until(session.id, revision)
    assert result.status is RunStatus.COMPLETED
    assert caplog.text.count("observer Raising failed") == 1


async def test_notices_of_a_closed_session_are_discarded() -> None:
    observer = Observer()
    async with agent([answer("ok")], modules=[observer.module()]) as session:
        observer.held.add(session.id)
        await session.send_and_wait("go")
        await session.close()
        observer.released.set()
        await anyio.wait_all_tasks_blocked()
        assert observer.notices == []


async def test_a_switch_of_the_model_is_a_commit_like_any_other() -> None:
    observer = Observer()
    async with agent([], modules=[observer.module()]) as session:
        other = ModelConfig(provider="test", model="other")
        command = SessionCommand(session.id)
        revision = await session.access.update_model_config(command, other)
        (notice,) = await observer.until(session.id, revision)
    assert (notice.first_sequence, notice.last_sequence) == (1, 1)


async def test_without_observers_no_task_runs_for_a_session() -> None:
    async with agent([answer("ok")]) as session:
        await session.send_and_wait("go")
        names = {task.name or "" for task in anyio.get_running_tasks()}
    assert not [name for name in names if "observers" in name]
