"""Goals: what a Session is to achieve, and Runs that go on until it is achieved."""

from typing import TYPE_CHECKING

from agentslot._lazy import imports_when_used

if TYPE_CHECKING or not imports_when_used(__name__):
    from agentslot.standardagent.goal.contract import (
        GOAL_EVALUATOR,
        GOAL_STORE,
        DecisionRecord,
        GoalDecision,
        GoalEvaluation,
        GoalEvaluator,
        GoalQuestion,
        GoalStore,
        RecordAttempts,
    )
    from agentslot.standardagent.goal.errors import GoalVersionConflict, HalfInstalledGoals
    from agentslot.standardagent.goal.evaluator import ModelGoalEvaluator
    from agentslot.standardagent.goal.file import FileGoals
    from agentslot.standardagent.goal.memory import MemoryGoals
    from agentslot.standardagent.goal.modules import (
        FileGoalsModule,
        MemoryGoalsModule,
        ModelGoalEvaluatorModule,
    )

__all__ = [
    "GOAL_EVALUATOR",
    "GOAL_STORE",
    "DecisionRecord",
    "FileGoals",
    "FileGoalsModule",
    "GoalDecision",
    "GoalEvaluation",
    "GoalEvaluator",
    "GoalQuestion",
    "GoalStore",
    "GoalVersionConflict",
    "HalfInstalledGoals",
    "MemoryGoals",
    "MemoryGoalsModule",
    "ModelGoalEvaluator",
    "ModelGoalEvaluatorModule",
    "RecordAttempts",
]
