"""Goals as an application has them: a store and an evaluator, or neither."""

from dataclasses import dataclass

from agentslot import Resolver
from agentslot.standardagent.goal.contract import (
    GOAL_EVALUATOR,
    GOAL_STORE,
    GoalEvaluator,
    GoalStore,
)
from agentslot.standardagent.goal.errors import HalfInstalledGoals


@dataclass(frozen=True, slots=True)
class Goals:
    """What the Runtime needs to measure Runs by goals."""

    store: GoalStore
    evaluator: GoalEvaluator


def install_goals(resolver: Resolver) -> Goals | None:
    """Both parts of an assembly, None if it has none of them.

    Raises:
        HalfInstalledGoals: it has only one.
    """
    store, evaluator = resolver.get(GOAL_STORE), resolver.get(GOAL_EVALUATOR)
    if store is not None and evaluator is not None:
        return Goals(store, evaluator)
    if store is None and evaluator is None:
        return None
    filled, empty = GOAL_STORE.id, GOAL_EVALUATOR.id
    if store is None:
        filled, empty = empty, filled
    raise HalfInstalledGoals(
        f"slot {filled!r} is filled and {empty!r} is not",
        fix="goals need both: add a module for the other, such as FileGoalsModule(directory) or"
        " ModelGoalEvaluatorModule(), or leave out the one there is",
        slot=empty,
    )
