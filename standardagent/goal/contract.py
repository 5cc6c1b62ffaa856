"""The contracts of goals: who keeps the goal of a Session, and who judges whether it is met."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from agentslot import One
from agentslot.model import AttemptRecorder, ModelRequest, Transcript
from agentslot.session import (
    Goal,
    GoalReason,
    GoalReference,
    GoalStatus,
    ModelConfig,
    RunId,
    SessionId,
    StepId,
)


class GoalDecision(StrEnum):
    """What becomes of a Run that would complete: it goes on, the goal is met, nobody can go on."""

    CONTINUE = "continue"
    DONE = "done"
    BLOCKED = "blocked"


REASONS = {
    GoalDecision.CONTINUE: frozenset({GoalReason.PROGRESS_POSSIBLE}),
    GoalDecision.DONE: frozenset({GoalReason.OBJECTIVE_MET}),
    GoalDecision.BLOCKED: frozenset(
        {
            GoalReason.NEEDS_INPUT,
            GoalReason.EXTERNAL_BLOCKER,
            GoalReason.FOLLOW_ON_LIMIT,
            GoalReason.EVALUATOR_FAILURE,
        }
    ),
}
"""The reasons that each decision may have."""


@dataclass(frozen=True, slots=True)
class GoalEvaluation:
    """A judgement on a Run that would complete.

    Attributes:
        next_instruction: what the model is told to go on with; exactly a decision to continue has
            one.
    """

    decision: GoalDecision
    reason: GoalReason
    next_instruction: str = ""

    def __post_init__(self) -> None:
        if self.reason not in REASONS[self.decision]:
            msg = f"{self.reason} is no reason for the decision {self.decision}"
            raise ValueError(msg)
        continues = self.decision is GoalDecision.CONTINUE
        if continues != bool(self.next_instruction.strip()):
            msg = "exactly a decision to continue says what to go on with"
            raise ValueError(msg)

    @classmethod
    def go_on(cls, instruction: str) -> "GoalEvaluation":
        """There is more to do, beginning with this."""
        return cls(GoalDecision.CONTINUE, GoalReason.PROGRESS_POSSIBLE, instruction)

    @classmethod
    def done(cls) -> "GoalEvaluation":
        """The goal is met."""
        return cls(GoalDecision.DONE, GoalReason.OBJECTIVE_MET)

    @classmethod
    def blocked(cls, reason: GoalReason) -> "GoalEvaluation":
        """It is not met, and going on would not help."""
        return cls(GoalDecision.BLOCKED, reason)


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """A decision about a goal as it is made durable.

    Attributes:
        id: names the decision; recorded again, it has no further effect.
        goal: the goal that was judged, at the version that was judged.
        at: when it was decided, aware.
    """

    id: str
    session_id: SessionId
    goal: GoalReference
    run_id: RunId
    step_id: StepId
    decision: GoalDecision
    reason: GoalReason
    at: datetime


class GoalStore(Protocol):
    """Keeps at most one goal a Session, and its decisions.

    Every change names the version that it was decided on; another current one is a conflict, and
    nothing is changed. What was acknowledged is durable, as far as the store is.
    """

    async def current(self, session_id: SessionId) -> Goal | None:
        """The goal of the Session, in whatever status; None if none was ever set."""
        ...

    async def set(
        self, session_id: SessionId, objective: str, *, expected_version: int, max_follow_ons: int
    ) -> Goal:
        """Give the Session a new, active goal in the place of the one it has.

        Args:
            session_id: whose goal.
            objective: what to achieve; white space around it is dropped.
            expected_version: that of the current goal; 0 if there is none.
            max_follow_ons: how often Runs may go on for it, at least 1.

        Raises:
            GoalVersionConflict: the current version is another.
            ClassifiedError: `invalid_input/invalid_goal`, `unavailable/…`.
        """
        ...

    async def change_status(
        self, session_id: SessionId, status: GoalStatus, *, expected_version: int
    ) -> Goal:
        """Pause, complete or cancel an active goal, activate or cancel a paused one.

        The status that it has already changes nothing.

        Raises:
            GoalVersionConflict: the current version is another.
            ClassifiedError: `conflict/goal_transition`: the goal is over;
                `not_found/goal_not_found`, `unavailable/…`.
        """
        ...

    async def record_decision(self, record: DecisionRecord) -> Goal:
        """Apply a decision to an active goal; the goal after it.

        `continue` counts a follow-on, `blocked` pauses, `done` completes. The same record again
        gives the same goal again. The time of a goal never goes back: a record that is older leaves
        it as it is.

        Raises:
            GoalVersionConflict: the goal is another by now, or at another version.
            ClassifiedError: `conflict/goal_record_conflict`: another decision has that id;
                `conflict/goal_not_active`; `conflict/follow_on_limit`; `not_found/goal_not_found`,
                `unavailable/…`.
        """
        ...


@dataclass(frozen=True, slots=True)
class GoalQuestion:
    """A Run whose model asks for nothing more, and the goal that it is measured by.

    Attributes:
        config: the Run's frozen selection; requests for the evaluation are made with it.
        transcript: the conversation so far, with calls and results, oldest first. It may be long:
            read it from its end.
    """

    goal: Goal
    run_id: RunId
    step_id: StepId
    revision: int
    config: ModelConfig
    transcript: Transcript


RecordAttempts = Callable[[ModelRequest], AttemptRecorder]
"""Makes the recorder for the attempts of one request; they count against the Run's budgets."""


class GoalEvaluator(Protocol):
    """Judges whether a goal is met."""

    async def evaluate(self, question: GoalQuestion, record: RecordAttempts) -> GoalEvaluation:
        """Judge one natural completion. Any exception blocks the goal as `evaluator_failure`.

        Args:
            question: the goal, and what has been done.
            record: makes the recorder for a request to a model; the request carries the ids and the
                config of the question.
        """
        ...


GOAL_STORE = One[GoalStore]("goal.store", filled_by="FileGoalsModule(directory)")
GOAL_EVALUATOR = One[GoalEvaluator]("goal.evaluator", filled_by="ModelGoalEvaluatorModule()")
