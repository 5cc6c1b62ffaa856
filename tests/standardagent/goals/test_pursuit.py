"""Runs of a Session with a goal: they go on until it is met, blocked, or out of follow-ons."""

from typing import Any

import anyio
import pytest

from agentslot import Module
from agentslot.session import (
    ClassifiedError,
    ErrorKind,
    Goal,
    GoalReason,
    GoalStatus,
    RunStatus,
    SessionId,
    TerminationSource,
)
from agentslot.standardagent.goal import (
    DecisionRecord,
    GoalEvaluation,
    GoalQuestion,
    MemoryGoals,
    RecordAttempts,
)
from agentslot.standardagent.hook import AGENT_HOOKS
from tests.standardagent.agents import agent, answer, kinds
from tests.standardagent.goals.pursuing import DONE, MORE, HeldJudge, Judge, goals, texts
from tests.standardagent.hooks.hooking import note


async def test_a_run_goes_on_until_its_goal_is_met() -> None:
    judge = Judge(MORE, DONE)
    async with agent([answer("half"), answer("whole")], modules=goals(judge)) as session:
        goal = await session.set_goal("  all of it ")
        result = await session.send_and_wait("go")
        first, second = session.executor.requests
        after = await session.goal()
    assert (result.status, result.text) == (RunStatus.COMPLETED, "whole")
    assert texts(second) == ["go", "half", "look again"]
    assert first.run_id == second.run_id
    assert (goal.objective, goal.status, goal.version) == ("all of it", GoalStatus.ACTIVE, 1)
    assert (after.status, after.version, after.follow_ons) == (GoalStatus.COMPLETED, 3, 1)
    assert after.reason is GoalReason.OBJECTIVE_MET
    assert [question.goal.version for question in judge.questions] == [1, 2]
    assert [texts_of(question) for question in judge.questions] == [
        ["go", "half"],
        ["go", "half", "look again", "whole"],
    ]


def texts_of(question: GoalQuestion) -> list[str]:
    return [getattr(each, "text", "") for each in question.transcript]


async def test_a_session_without_an_active_goal_is_not_judged() -> None:
    judge = Judge(DONE)
    script = [answer("1"), answer("2"), answer("3")]
    async with agent(script, modules=goals(judge)) as session:
        await session.send_and_wait("one")
        await session.set_goal("all of it")
        await session.pause_goal()
        await session.send_and_wait("two")
        await session.resume_goal()
        await session.cancel_goal()
        await session.send_and_wait("three")
        goal = await session.goal()
    assert judge.questions == []
    assert (goal.status, goal.version) == (GoalStatus.CANCELED, 4)


async def test_an_installed_goal_that_is_not_set_costs_no_commit() -> None:
    async def revision(modules: list[Module]) -> int:
        async with agent([answer("1")], modules=modules) as session:
            return (await session.send_and_wait("one")).revision  # type: ignore[no-any-return]

    assert await revision(goals(Judge(DONE))) == await revision([])


async def test_a_blocked_goal_is_paused_and_its_run_completes() -> None:
    judge = Judge(GoalEvaluation.blocked(GoalReason.NEEDS_INPUT))
    async with agent([answer("which one?")], modules=goals(judge)) as session:
        await session.set_goal("all of it")
        result = await session.send_and_wait("go")
        goal = await session.goal()
    assert result.status is RunStatus.COMPLETED
    assert (goal.status, goal.reason) == (GoalStatus.PAUSED, GoalReason.NEEDS_INPUT)


async def test_follow_ons_are_counted_over_runs_and_end_without_asking() -> None:
    judge = Judge(MORE)
    async with agent([answer(str(n)) for n in range(4)], modules=goals(judge)) as session:
        await session.set_goal("all of it", max_follow_ons=2)
        await session.send_and_wait("go")
        goal = await session.goal()
    assert (goal.status, goal.reason) == (GoalStatus.PAUSED, GoalReason.FOLLOW_ON_LIMIT)
    assert (goal.follow_ons, len(judge.questions)) == (2, 2)


class Nonsense:
    async def evaluate(self, question: GoalQuestion, record: RecordAttempts) -> Any:
        del question, record
        return "done"


class TimesOut:
    async def evaluate(self, question: GoalQuestion, record: RecordAttempts) -> Any:
        del question, record
        with anyio.fail_after(0):
            await anyio.sleep_forever()


UNSAYABLE = GoalEvaluation.go_on("half \ud800")


@pytest.mark.parametrize(
    "judge", [Judge(RuntimeError("secret")), Nonsense(), TimesOut(), Judge(UNSAYABLE)]
)
async def test_an_evaluator_that_fails_blocks_the_goal_and_not_the_run(judge: object) -> None:
    async with agent([answer("half")], modules=goals(judge)) as session:
        await session.set_goal("all of it")
        result = await session.send_and_wait("go")
        goal = await session.goal()
    assert result.status is RunStatus.COMPLETED
    assert (goal.status, goal.reason) == (GoalStatus.PAUSED, GoalReason.EVALUATOR_FAILURE)


@pytest.mark.parametrize("judgement", [MORE, DONE, GoalEvaluation.blocked(GoalReason.NEEDS_INPUT)])
async def test_a_message_that_steers_meanwhile_drops_the_decision(
    judgement: GoalEvaluation,
) -> None:
    judge, store = HeldJudge(judgement, DONE), MemoryGoals()
    async with agent([answer("half"), answer("whole")], modules=goals(judge, store)) as session:
        await session.set_goal("all of it")
        await session.send("go")
        await judge.entered()
        await session.steer("this way")
        judge.open()
        await session.when_idle()
        goal = await session.goal()
        second = session.executor.requests[1]
    assert texts(second) == ["go", "half", "this way"]
    assert [question.goal.version for question in judge.questions] == [1, 1]
    assert (goal.version, goal.follow_ons, goal.status) == (2, 0, GoalStatus.COMPLETED)


async def test_a_goal_that_changes_meanwhile_is_judged_anew() -> None:
    judge = HeldJudge(MORE, DONE)
    async with agent([answer("half")], modules=goals(judge)) as session:
        await session.set_goal("all of it")
        await session.send("go")
        await judge.entered()
        await session.set_goal("half of it")
        judge.open()
        await session.when_idle()
        goal = await session.goal()
        view = await session.view()
    assert [question.goal.objective for question in judge.questions] == ["all of it", "half of it"]
    assert (goal.status, goal.version) == (GoalStatus.COMPLETED, 3)
    assert kinds(view.recent_history)[-1] == "run:completed"


async def test_a_goal_that_is_canceled_meanwhile_lets_the_run_complete() -> None:
    judge = HeldJudge(MORE)
    async with agent([answer("half")], modules=goals(judge)) as session:
        await session.set_goal("all of it")
        await session.send("go")
        await judge.entered()
        await session.cancel_goal()
        judge.open()
        await session.when_idle()
        view = await session.view()
    assert len(judge.questions) == 1
    assert kinds(view.recent_history)[-1] == "run:completed"


async def test_canceling_the_run_ends_the_evaluation_and_leaves_the_goal() -> None:
    judge = HeldJudge(DONE)
    async with agent([answer("half")], modules=goals(judge)) as session:
        await session.set_goal("all of it")
        await session.send("go")
        await judge.entered()
        await session.cancel()
        await session.when_idle()
        goal = await session.goal()
        view = await session.view()
    assert kinds(view.recent_history)[-1] == "run:canceled"
    assert (goal.status, goal.version) == (GoalStatus.ACTIVE, 1)


class Proposing:
    """An agent hook that has one more thing to say, once."""

    def __init__(self) -> None:
        self.asked = 0

    async def before_run_complete(self, view: object) -> Any:
        del view
        self.asked += 1
        return [note("one more thing")] if self.asked == 1 else []


async def test_agent_hooks_are_asked_only_where_no_goal_is_active() -> None:
    hook = Proposing()
    modules = [*goals(Judge(DONE)), Module("hooks", AGENT_HOOKS.append(hook))]
    script = [answer("1"), answer("2"), answer("3")]
    async with agent(script, modules=modules) as session:
        await session.set_goal("all of it")
        await session.send_and_wait("go")
        while_active = hook.asked
        await session.send_and_wait("go")
    assert (while_active, hook.asked) == (0, 2)


class FailingGoals(MemoryGoals):
    """Fails at what it is told to."""

    def __init__(self, *failing: str, error: Exception | None = None) -> None:
        super().__init__()
        self.failing = set(failing)
        self._error = error or ClassifiedError(
            ErrorKind.UNAVAILABLE, "not_durable", "the disk is full"
        )

    async def current(self, session_id: SessionId) -> Goal | None:
        self._check("current")
        return await super().current(session_id)

    async def record_decision(self, record: DecisionRecord) -> Goal:
        self._check("record")
        return await super().record_decision(record)

    def _check(self, what: str) -> None:
        if what in self.failing:
            raise self._error


@pytest.mark.parametrize("failing", ["current", "record"])
@pytest.mark.parametrize(
    ("error", "code"), [(None, "not_durable"), (RuntimeError("secret"), "goal_store_failed")]
)
async def test_a_store_that_fails_fails_the_run(
    failing: str, error: Exception | None, code: str
) -> None:
    store = FailingGoals(error=error)
    async with agent([answer("half"), answer("on")], modules=goals(Judge(DONE), store)) as session:
        await session.set_goal("all of it")
        store.failing.add(failing)
        result = await session.send_and_wait("go")
        store.failing.clear()
        again = await session.send_and_wait("go on")
        goal = await session.goal()
    assert result.status is RunStatus.FAILED
    assert result.termination.source is TerminationSource.SESSION
    assert result.termination.code == code
    assert "secret" not in result.termination.message
    assert again.status is RunStatus.COMPLETED
    assert goal.status is GoalStatus.COMPLETED
