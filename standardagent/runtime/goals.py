"""Goals at the completion boundary: what is asked of the store and the evaluator, and when.

A decision is made durable in the goal's store before it has any effect on the Run. The store is
called under the Session's lock where that is needed, so that no message gets in between.
"""

import logging
from collections.abc import Awaitable
from datetime import datetime
from functools import partial
from typing import TypeVar

from agentslot.model import AttemptRecorder, ModelRequest
from agentslot.session import (
    ClassifiedError,
    ErrorKind,
    Goal,
    GoalReason,
    GoalReference,
    GoalStatus,
)
from agentslot.session.text import is_unicode
from agentslot.standardagent.goal.contract import (
    DecisionRecord,
    GoalEvaluation,
    GoalQuestion,
    GoalStore,
)
from agentslot.standardagent.goal.errors import GoalVersionConflict
from agentslot.standardagent.goal.installed import Goals
from agentslot.standardagent.runtime.attempts import EvaluationRecorder
from agentslot.standardagent.runtime.hooks.asking import call
from agentslot.standardagent.runtime.run import Run

log = logging.getLogger(__name__)

T = TypeVar("T")


async def active_goal(run: Run) -> Goal | None:
    """The goal that the Run is measured by, if there is one.

    Raises:
        ClassifiedError: the store failed.
    """
    goals = run.owner.components.goals
    if goals is None:
        return None
    goal = await _stored(goals.store.current(run.owner.id))
    return goal if goal is not None and goal.status is GoalStatus.ACTIVE else None


async def evaluated(run: Run, goal: Goal) -> GoalEvaluation | None:
    """The judgement on a Run that would complete; None if the Run ends before there is one."""
    if goal.follow_ons >= goal.max_follow_ons:
        return GoalEvaluation.blocked(GoalReason.FOLLOW_ON_LIMIT)
    owner = run.owner
    goals = _installed(run)
    transcript = owner.projection.of(owner.state.history, run.id, run.step_id)
    question = GoalQuestion(goal, run.id, run.step_id, owner.state.revision, run.config, transcript)

    async def evaluate() -> GoalEvaluation | None:
        try:
            return await goals.evaluator.evaluate(question, partial(_recorder, run))
        except ClassifiedError:
            if run.termination is None:
                raise
            return None  # a limit of the Run, which is recorded, let it ask no more

    evaluation: object = None
    with run.interruptible():
        name = type(goals.evaluator).__name__
        evaluation = await call(owner, name, evaluate, what="goal evaluator")
    if run.cancel_requested or run.termination is not None:
        return None
    if isinstance(evaluation, GoalEvaluation) and is_unicode(evaluation.next_instruction):
        return evaluation
    return GoalEvaluation.blocked(GoalReason.EVALUATOR_FAILURE)


async def decision_recorded(
    run: Run, goal: GoalReference, evaluation: GoalEvaluation, at: datetime
) -> bool:
    """Make a decision durable, once per step and version; False if the goal has changed meanwhile.

    Raises:
        ClassifiedError: the store failed; the decision may have been recorded or not.
    """
    record = DecisionRecord(
        f"goal-{run.id}-{run.step_id}-{goal.version}",
        run.owner.id,
        goal,
        run.id,
        run.step_id,
        evaluation.decision,
        evaluation.reason,
        at,
    )
    store: GoalStore = _installed(run).store
    try:
        await _stored(store.record_decision(record))
    except GoalVersionConflict:
        return False
    return True


def _recorder(run: Run, request: ModelRequest) -> AttemptRecorder:
    place = (request.session_id, request.run_id, request.step_id, request.config)
    if place != (run.owner.id, run.id, run.step_id, run.config):
        raise ClassifiedError(
            ErrorKind.INVALID_INPUT,
            "evaluation_invalid",
            "a request for an evaluation carries the ids and the config of the question",
        )
    return EvaluationRecorder(run, request)


def _installed(run: Run) -> Goals:
    goals = run.owner.components.goals
    if goals is None:  # a restart without them, in the middle of a completion
        raise ClassifiedError(
            ErrorKind.CONFLICT,
            "goals_not_installed",
            "a goal is to be completed, and the application keeps no goals any more",
        )
    return goals


async def _stored(answer: Awaitable[T]) -> T:
    """What a store answers; whatever else it raises becomes an error that can be recorded."""
    try:
        return await answer
    except ClassifiedError:
        raise
    except Exception as error:
        log.exception("the goal store failed")
        raise ClassifiedError(
            ErrorKind.INTERNAL,
            "goal_store_failed",
            "the goal store failed unexpectedly; its log entry has the cause",
        ) from error
