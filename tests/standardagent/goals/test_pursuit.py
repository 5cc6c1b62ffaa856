"""Runs of a Session with a goal: they go on until it is met, blocked, or out of follow-ons."""

from agentslot.session import (
    GoalReason,
    GoalStatus,
    RunStatus,
)
from tests.standardagent.agents import agent, answer
from tests.standardagent.goals.pursuing import DONE, MORE, Judge, goals, texts


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
