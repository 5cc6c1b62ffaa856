"""Goal stores: ours pass the suite they are sold with, and the suite notices what is broken."""

import contextlib
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agentslot.session import ClassifiedError, ErrorKind, Goal, GoalStatus, SessionId
from agentslot.standardagent.goal import (
    DecisionRecord,
    FileGoals,
    GoalDecision,
    GoalStore,
    MemoryGoals,
)
from agentslot.standardagent.goal.conformance import (
    CHECKS,
    DURABILITY_CHECKS,
    Check,
    ConformanceFailure,
    OpenGoals,
    check_goal_store,
    run_check,
)
from agentslot.standardagent.goal.conformance.check import SESSION, new_goal, record
from tests.session.test_file_faults import Faulty


def opener(make: Callable[[], GoalStore]) -> OpenGoals:
    @asynccontextmanager
    async def open_goals() -> AsyncGenerator[GoalStore]:
        yield make()

    return open_goals


def files(folder: Path, pattern: str = "*.json") -> list[Path]:
    return list(folder.glob(pattern))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_goals_in_memory_conform(check: Check) -> None:
    await run_check(check, opener(MemoryGoals))


@pytest.mark.parametrize("check", [*CHECKS, *DURABILITY_CHECKS], ids=lambda check: check.__name__)
async def test_goals_in_files_conform(check: Check, tmp_path: Path) -> None:
    await run_check(check, lambda: FileGoals(tmp_path / "goals"))


class Careless(MemoryGoals):
    """Never looks at a version."""

    async def set(
        self, session_id: SessionId, objective: str, *, expected_version: int, max_follow_ons: int
    ) -> Goal:
        del expected_version
        current = await self.current(session_id)
        version = 0 if current is None else current.version
        return await super().set(
            session_id, objective, expected_version=version, max_follow_ons=max_follow_ons
        )


class Eager(MemoryGoals):
    """Applies a decision as often as it is recorded."""

    async def record_decision(self, record: DecisionRecord) -> Goal:
        goal = await self.current(record.session_id)
        if goal is None:
            return await super().record_decision(record)
        again = replace(record, id=f"{record.id}-{goal.version}", goal=goal.reference)
        return await super().record_decision(again)


class Lenient(MemoryGoals):
    """Brings goals back that are over."""

    async def change_status(
        self, session_id: SessionId, status: GoalStatus, *, expected_version: int
    ) -> Goal:
        with contextlib.suppress(ClassifiedError):
            return await super().change_status(
                session_id, status, expected_version=expected_version
            )
        goal = await self.current(session_id)
        assert goal is not None
        return replace(goal, status=status)


class Raising(MemoryGoals):
    """Has a fault of its own."""

    async def current(self, session_id: SessionId) -> Goal | None:
        raise KeyError(session_id)


@pytest.mark.parametrize("broken", [Careless, Eager, Lenient, Raising])
async def test_the_suite_notices_a_store_that_breaks_its_contract(
    broken: Callable[[], GoalStore],
) -> None:
    with pytest.raises(ConformanceFailure):
        await check_goal_store(lambda: opener(broken), volatile=True)


async def test_the_suite_notices_a_store_that_forgets() -> None:
    with pytest.raises(ConformanceFailure, match="goals_survive_a_restart"):
        await check_goal_store(lambda: opener(MemoryGoals))


@pytest.mark.parametrize("failing", ["create", "write", "flush", "rename"])
async def test_a_change_that_cannot_be_written_has_not_happened(
    failing: str, tmp_path: Path
) -> None:
    operations = Faulty()
    async with FileGoals(tmp_path, operations=operations) as store:
        goal = await new_goal(store)
        operations.failing.add(failing)
        decided = record(goal, GoalDecision.CONTINUE)
        await refused(store.record_decision(decided))
        assert await store.current(SESSION) == goal
        operations.failing.clear()
        after = await store.record_decision(decided)
    assert (after.version, after.follow_ons) == (2, 1)
    assert not files(tmp_path, "*.tmp")


async def test_a_change_whose_name_may_not_be_durable_is_recognized_when_tried_again(
    tmp_path: Path,
) -> None:
    operations = Faulty()
    async with FileGoals(tmp_path, operations=operations) as store:
        decided = record(await new_goal(store), GoalDecision.CONTINUE)
        operations.failing.add("flush_directory")
        await refused(store.record_decision(decided))
        operations.failing.clear()
        after = await store.record_decision(decided)
        assert await store.current(SESSION) == after
    assert (after.version, after.follow_ons) == (2, 1)


async def refused(attempt: Any) -> None:
    with pytest.raises(ClassifiedError) as caught:
        await attempt
    assert (caught.value.kind, caught.value.code) == (ErrorKind.UNAVAILABLE, "not_durable")


async def test_one_process_at_a_time_has_the_folder(tmp_path: Path) -> None:
    async with FileGoals(tmp_path) as store:
        await new_goal(store)
        with pytest.raises(ClassifiedError, match="is in use by process"):
            async with FileGoals(tmp_path):
                pass
        assert await FileGoals(tmp_path).current(SESSION) == await store.current(SESSION)


async def test_a_place_that_is_no_folder_is_refused_by_name(tmp_path: Path) -> None:
    place = tmp_path / "goals"
    place.write_text("a file", encoding="utf-8")
    with pytest.raises(ClassifiedError, match="goals cannot be opened for writing") as caught:
        async with FileGoals(place):
            pass
    assert caught.value.code == "not_writable"


async def test_what_a_crash_left_half_written_is_removed(tmp_path: Path) -> None:
    leftover = tmp_path / ".agentslot-session-0123.tmp"
    leftover.write_bytes(b'{"format":')
    async with FileGoals(tmp_path):
        assert not leftover.exists()


@pytest.mark.parametrize(
    "content", [b"", b"{}", b'{"format":"agentslot.goal-file/v9","goal":{}}', b"\xff"]
)
async def test_a_damaged_file_is_refused_and_left_alone(content: bytes, tmp_path: Path) -> None:
    async with FileGoals(tmp_path) as store:
        goal = await new_goal(store)
        (path,) = files(tmp_path)
        path.write_bytes(content)
        with pytest.raises(ClassifiedError) as caught:
            await store.record_decision(record(goal, GoalDecision.DONE))
        assert caught.value.code == "goal_damaged"
        assert path.read_bytes() == content


async def test_a_file_of_another_session_is_refused(tmp_path: Path) -> None:
    async with FileGoals(tmp_path) as store:
        await new_goal(store)
        (mine,) = files(tmp_path)
        await store.set(SessionId("other"), "x", expected_version=0, max_follow_ons=1)
        (other,) = set(files(tmp_path)) - {mine}
        other.write_bytes(mine.read_bytes())
        with pytest.raises(ClassifiedError, match="it holds a goal of Session"):
            await store.current(SessionId("other"))


async def test_goals_are_for_their_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "goals"
    async with FileGoals(folder) as store:
        await new_goal(store)
    (path,) = files(folder)
    assert (folder.stat().st_mode & 0o777, path.stat().st_mode & 0o777) == (0o700, 0o600)


async def test_a_clock_that_steps_back_does_not_take_a_goal_along() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    times = iter([now, now - timedelta(hours=1)])
    store = MemoryGoals(clock=lambda: next(times))
    await new_goal(store)
    paused = await store.change_status(SESSION, GoalStatus.PAUSED, expected_version=1)
    assert paused.updated_at == now


async def test_a_text_that_no_file_can_hold_is_refused(tmp_path: Path) -> None:
    async with FileGoals(tmp_path) as store:
        with pytest.raises(ClassifiedError) as caught:
            await store.set(SESSION, "half \ud800", expected_version=0, max_follow_ons=1)
    assert caught.value.code == "text_not_unicode"


@pytest.mark.parametrize(
    "wrong",
    [
        {"objective": ""},
        {"objective": " padded"},
        {"objective": "x" * 16_001},
        {"max_follow_ons": 0},
        {"follow_ons": 4},
        {"follow_ons": -1},
        {"version": 0},
        {"updated_at": datetime(2026, 1, 1)},
    ],
)
async def test_an_impossible_goal_cannot_be_made(wrong: dict[str, Any]) -> None:
    goal = await new_goal(MemoryGoals())
    with pytest.raises(ValueError, match=r"objective|goal"):
        replace(goal, **wrong)
