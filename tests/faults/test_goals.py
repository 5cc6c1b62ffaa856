"""Wherever the process of a goal is stopped: no follow-on without its decision, and none twice."""

from pathlib import Path

import pytest

from agentslot.session import GoalStatus, Message, Role, SessionState
from agentslot.standardagent.goal import FileGoals
from tests.faults import goalscenarios
from tests.faults.harness import Trial, count_points, telling
from tests.faults.media import FILES
from tests.faults.scenario import SCENARIOS, Scenario

pytestmark = pytest.mark.faults

GOALS = {name: each for name, each in SCENARIOS.items() if name in vars(goalscenarios)}

each_scenario = pytest.mark.parametrize("scenario", GOALS.values(), ids=GOALS)


def follow_ons(state: SessionState) -> int:
    """How often a Run went on for the goal."""
    messages = (fact.payload for fact in state.history if isinstance(fact.payload, Message))
    return sum(m.role is Role.USER and m.text == goalscenarios.INSTRUCTION for m in messages)


async def check_goals(folder: Path) -> None:
    store, goals = FILES.store(folder), FileGoals(folder / "goals")
    for session_id in FILES.sessions(folder):
        goal = await goals.current(session_id)
        taken = follow_ons((await store.load(session_id)).state)
        if goal is None:
            assert taken == 0
            continue
        # A process may end between the decision and its effect; then nothing makes up for it.
        assert taken <= goal.follow_ons <= taken + 1
        # The last Run ended with an answer that reaches any goal that was still pursued.
        assert goal.status is not GoalStatus.ACTIVE


async def stop_at_every(step: int, scenario: Scenario, folder: Path) -> None:
    count = await count_points(scenario, folder / "whole")
    await check_goals(folder / "whole")
    for point in range(list(GOALS).index(scenario.name) % step, count, step):
        trial = Trial(scenario, folder / f"{point}")
        with telling(f"{scenario.name} stopped at point {point}", trial.world):
            trial.world.begin_process(point)
            await trial.play()
            await trial.check_crash()
            await check_goals(trial.folder)


@each_scenario
async def test_a_decision_has_at_most_one_effect(scenario: Scenario, folder: Path) -> None:
    await stop_at_every(6, scenario, folder)


@pytest.mark.heavy
@each_scenario
async def test_a_decision_has_at_most_one_effect_wherever_its_process_ends(
    scenario: Scenario, folder: Path
) -> None:
    await stop_at_every(1, scenario, folder)
