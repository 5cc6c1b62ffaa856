"""Goals in an application: both parts or none, and who fills them."""

import pytest

from agentslot import Module
from agentslot.interaction import ChangeGoal, InProcessChannel, SetGoal
from agentslot.session import ClassifiedError, GoalStatus
from agentslot.standardagent.goal import (
    GOAL_EVALUATOR,
    GOAL_STORE,
    FileGoals,
    FileGoalsModule,
    GoalVersionConflict,
    HalfInstalledGoals,
    MemoryGoals,
    MemoryGoalsModule,
    ModelGoalEvaluator,
    ModelGoalEvaluatorModule,
)
from tests.standardagent.agents import ScriptedModel, agent, scripted_application
from tests.standardagent.goals.pursuing import DONE, Judge, goals


@pytest.mark.parametrize(
    ("module", "empty"),
    [(MemoryGoalsModule(), "goal.evaluator"), (ModelGoalEvaluatorModule(), "goal.store")],
)
def test_one_part_without_the_other_is_refused_at_build(module: Module, empty: str) -> None:
    application = scripted_application(ScriptedModel([]), InProcessChannel(), modules=[module])
    with pytest.raises(HalfInstalledGoals, match=f"'{empty}' is not") as caught:
        application.build()
    assert caught.value.slot == empty


def test_a_default_store_gives_way_to_another(tmp_path: object) -> None:
    default, other = MemoryGoalsModule(default=True), FileGoalsModule(str(tmp_path))
    evaluator = ModelGoalEvaluatorModule()
    for modules, kind in (([default], MemoryGoals), ([other, default], FileGoals)):
        application = scripted_application(
            ScriptedModel([]), InProcessChannel(), modules=[*modules, evaluator]
        )
        assembly = application.build()
        assert isinstance(assembly[GOAL_STORE], kind)
        assert isinstance(assembly[GOAL_EVALUATOR], ModelGoalEvaluator)


async def test_an_application_without_goals_says_so() -> None:
    async with agent([]) as session:
        for attempt in (session.goal, session.pause_goal, session.cancel_goal):
            with pytest.raises(ClassifiedError, match="keeps no goals: add") as caught:
                await attempt()
            assert caught.value.code == "goals_not_installed"


async def test_a_goal_belongs_to_an_open_session() -> None:
    async with agent([], modules=goals(Judge(DONE))) as session:
        with pytest.raises(ClassifiedError, match="session_not_open"):
            await session.access.goal("nobody")


async def test_whoever_names_a_version_is_told_if_it_is_another() -> None:
    async with agent([], modules=goals(Judge(DONE))) as session:
        access = session.access
        await access.set_goal(SetGoal(session.id, "one", expected_version=0))
        with pytest.raises(GoalVersionConflict) as caught:
            await access.set_goal(SetGoal(session.id, "two", expected_version=0))
        assert caught.value.current_version == 1
        with pytest.raises(GoalVersionConflict):
            await access.change_goal(ChangeGoal(session.id, GoalStatus.PAUSED, expected_version=2))
        goal = await session.goal()
        assert goal.objective == "one"


async def test_a_goal_that_is_over_is_not_brought_back() -> None:
    async with agent([], modules=goals(Judge(DONE))) as session:
        with pytest.raises(ClassifiedError, match="goal_not_found"):
            await session.resume_goal()
        await session.set_goal("one")
        await session.cancel_goal()
        with pytest.raises(ClassifiedError, match="set a new one"):
            await session.resume_goal()
        assert (await session.set_goal("two")).version == 3


async def test_a_goal_in_files_is_there_in_the_next_process(tmp_path: object) -> None:
    folder = f"{tmp_path}/goals"
    modules = [FileGoalsModule(folder), ModelGoalEvaluatorModule()]
    async with agent([], modules=modules) as session:
        goal = await session.set_goal("one")
    assert await FileGoals(folder).current(goal.session_id) == goal
