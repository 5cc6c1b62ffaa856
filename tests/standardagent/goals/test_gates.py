"""A goal that is found to be met waits for the completion gates; only then is it completed."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agentslot import Module
from agentslot.session import (
    SESSION_STORE,
    ClassifiedError,
    Commit,
    CommitRequest,
    ErrorKind,
    FileStoreModule,
    Goal,
    GoalStatus,
    MemoryStore,
    RunStatus,
    TerminationSource,
)
from agentslot.standardagent.goal import DecisionRecord, GoalStore, MemoryGoals
from agentslot.standardagent.hook import CompletionGateResult
from tests.standardagent.agents import agent, answer
from tests.standardagent.goals.pursuing import DONE, MORE, Judge, goals, texts
from tests.standardagent.goals.test_pursuit import FailingGoals
from tests.standardagent.hooks.crashes import image_after
from tests.standardagent.hooks.hooking import Hook, fails, told
from tests.standardagent.hooks.test_completion_gate import gate, goes_on, installed
from tests.standardagent.test_resume import resumed


def pursuing(*gates: Hook, judge: Judge | None = None, store: GoalStore | None = None) -> Any:
    return [*goals(judge or Judge(DONE), store), *installed(*gates)]


async def test_the_goal_is_completed_when_all_gates_agree() -> None:
    store = MemoryGoals()
    seen: list[Goal | None] = []

    async def look(session_id: Any) -> None:
        seen.append(await store.current(session_id))

    gates = gate("a"), Looking("b", look)
    async with agent([answer("done")], modules=pursuing(*gates, store=store)) as session:
        goal = await session.set_goal("all of it")
        result = await session.send_and_wait("go")
        after = await session.goal()
    assert seen == [goal]
    assert gates[0].views[0].goal == goal.reference
    assert [d.invocation.goal for d in result.diagnostics] == [goal.reference] * 2
    assert (result.status, after.status) == (RunStatus.COMPLETED, GoalStatus.COMPLETED)
    assert after.updated_at >= max(d.prepared_at for d in result.diagnostics)
    assert told(result.diagnostics) == [
        "a succeeded/applied complete",
        "b succeeded/applied complete",
    ]


class Looking(Hook):
    """A gate that looks at the goal while it is asked."""

    def __init__(self, key: str, look: Any) -> None:
        super().__init__(key, lambda _: CompletionGateResult.complete())
        self._look = look

    async def evaluate(self, view: Any) -> Any:
        await self._look(view.session_id)
        return await super().evaluate(view)


async def test_a_gate_that_goes_on_leaves_the_goal_as_it_is() -> None:
    judge = Judge(DONE)
    gates = gate("a"), gate("b", goes_on(1))
    script = [answer("done?"), answer("done!")]
    async with agent(script, modules=pursuing(*gates, judge=judge)) as session:
        await session.set_goal("all of it")
        result = await session.send_and_wait("go")
        goal = await session.goal()
    assert result.text == "done!"
    assert [question.goal.version for question in judge.questions] == [1, 1]
    assert (goal.status, goal.version) == (GoalStatus.COMPLETED, 2)


async def test_gates_are_not_asked_while_the_goal_goes_on() -> None:
    judge, asked = Judge(MORE, DONE), gate("a")
    async with agent([answer("1"), answer("2")], modules=pursuing(asked, judge=judge)) as session:
        await session.set_goal("all of it")
        await session.send_and_wait("go")
    assert [view.goal.version for view in asked.views] == [2]
    assert [view.follow_ons for view in asked.views] == [0]


async def test_a_gate_that_fails_leaves_the_goal_active() -> None:
    async with agent([answer("done")], modules=pursuing(gate("a", fails))) as session:
        await session.set_goal("all of it")
        result = await session.send_and_wait("go")
        goal = await session.goal()
    assert result.status is RunStatus.INTERRUPTED
    assert (goal.status, goal.version) == (GoalStatus.ACTIVE, 1)


async def test_a_steer_supersedes_the_gates_and_the_goal_is_judged_again() -> None:
    held, judge = gate("a", hold=True), Judge(DONE)
    script = [answer("done?"), answer("done!")]
    async with agent(script, modules=pursuing(held, judge=judge)) as session:
        await session.set_goal("all of it")
        await session.send("go")
        await held.entered()
        await session.steer("wait")
        held.open()
        await session.when_idle()
        goal = await session.goal()
        assert texts(session.executor.requests[1]) == ["go", "done?", "wait"]
    assert [question.goal.version for question in judge.questions] == [1, 1]
    assert (goal.status, goal.version) == (GoalStatus.COMPLETED, 2)


async def test_a_goal_that_changes_while_gates_are_asked_is_judged_anew() -> None:
    held, judge = gate("a", hold=True), Judge(DONE)
    async with agent([answer("done")], modules=pursuing(held, judge=judge)) as session:
        await session.set_goal("all of it")
        await session.send("go")
        await held.entered()
        await session.set_goal("more than that")
        held.open()
        await session.when_idle()
        view = await session.view()
        goal = await session.goal()
    assert [q.goal.objective for q in judge.questions] == ["all of it", "more than that"]
    assert (goal.status, goal.version) == (GoalStatus.COMPLETED, 3)
    assert told(view.recent_extension_diagnostics) == [
        "a succeeded/discarded complete",
        "a succeeded/applied complete",
    ]


async def test_a_goal_that_cannot_be_recorded_fails_the_run_and_settles_the_gates() -> None:
    store = FailingGoals("record")
    async with agent([answer("done")], modules=pursuing(gate("a"), store=store)) as session:
        await session.set_goal("all of it")
        result = await session.send_and_wait("go")
        goal = await session.goal()
    assert result.status is RunStatus.FAILED
    assert result.termination.source is TerminationSource.SESSION
    assert result.termination.code == "completion_goal_commit_failed"
    assert goal.status is GoalStatus.ACTIVE
    assert told(result.diagnostics) == ["a succeeded/discarded complete"]


class Deaf(MemoryStore):
    """Refuses to record what completion gates have applied, so many times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self._left = times

    async def commit(self, request: CommitRequest) -> Commit:
        if "completion-gates-applied" in request.idempotency_key and self._left:
            self._left -= 1
            raise ClassifiedError(ErrorKind.UNAVAILABLE, "not_durable", "the disk is full")
        return await super().commit(request)


@pytest.mark.parametrize(
    ("times", "status", "code"),
    [
        (1, RunStatus.COMPLETED, None),
        (2, RunStatus.INTERRUPTED, "completion_goal_application_failed"),
    ],
)
async def test_a_completed_goal_is_applied_again_once(
    times: int, status: RunStatus, code: str | None
) -> None:
    session_store = partial(Module, "store", SESSION_STORE.set(Deaf(times)))
    modules = pursuing(gate("a"), gate("b"))
    async with agent([answer("done")], modules=modules, store=session_store) as session:
        await session.set_goal("all of it")
        result = await session.send_and_wait("go")
        goal = await session.goal()
    assert result.status is status
    assert (result.termination and result.termination.code) == code
    assert (goal.status, goal.version) == (GoalStatus.COMPLETED, 2)


async def finished(folder: Path, store: GoalStore) -> str:
    """A Session whose goal was completed with two gates."""
    modules = pursuing(gate("a"), gate("b"), store=store)
    kept = partial(FileStoreModule, folder)
    async with agent([answer("done")], modules=modules, store=kept) as session:
        await session.set_goal("all of it")
        await session.send_and_wait("go")
        session_id: str = session.id
    return session_id


class Remembering(MemoryGoals):
    """Outlives the process, and can forget the newest decision, as a kill before it would."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[DecisionRecord] = []

    async def record_decision(self, record: DecisionRecord) -> Goal:
        self.records.append(record)
        return await super().record_decision(record)


async def test_a_decision_is_recorded_once_wherever_its_process_is_killed(tmp_path: Path) -> None:
    folder, store = tmp_path / "sessions", Remembering()
    session_id = await finished(folder, store)
    completed = await store.current(session_id)  # type: ignore[arg-type]  # an id all the same
    for label, asked in (("completion-gates-prepare", 1), ("completion-gates-ends", 0)):
        disk = image_after(folder, label)
        gates = gate("a"), gate("b")
        judge = Judge(MORE)
        modules = pursuing(*gates, judge=judge, store=store)
        async with resumed(disk, session_id, [], modules=modules) as session:
            await session.when_idle()
            view = await session.view()
            goal = await session.goal()
        # The goal is there already: the store recognizes the decision and changes nothing.
        assert goal == completed
        assert judge.questions == []
        assert [len(each.views) for each in gates] == [asked, asked]
        assert told(view.recent_extension_diagnostics) == [
            "a succeeded/applied complete",
            "b succeeded/applied complete",
        ]
        assert view.recent_history[-1].payload.status is RunStatus.COMPLETED
    assert len(store.records) == 3
    assert len(set(store.records)) == 1


async def test_a_goal_that_is_gone_after_a_crash_fails_the_run(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    session_id = await finished(folder, MemoryGoals())
    store = MemoryGoals()
    judge = Judge(DONE)
    disk = image_after(folder, "completion-gates-ends")
    modules = pursuing(gate("a"), gate("b"), judge=judge, store=store)
    async with resumed(disk, session_id, [], modules=modules) as session:
        await session.when_idle()
        view = await session.view()
    # A store that has lost the goal has none to complete.
    assert view.recent_history[-1].payload.status is RunStatus.FAILED
    assert view.recent_history[-1].payload.termination.code == "completion_goal_commit_failed"


async def test_an_agent_without_goals_does_not_complete_one(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    session_id = await finished(folder, MemoryGoals())
    disk = image_after(folder, "completion-gates-prepare")
    async with resumed(disk, session_id, [], modules=installed(gate("a"), gate("b"))) as session:
        await session.when_idle()
        view = await session.view()
    assert view.recent_history[-1].payload.termination.code == "completion_goal_commit_failed"
