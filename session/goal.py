"""What a Session is to achieve: the vocabulary of goals.

A goal stands beside the Session, not in its History: it has a store and a version of its own.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from agentslot.session.identity import GoalId, SessionId

MAX_OBJECTIVE_CHARS = 16_000


class GoalStatus(StrEnum):
    """Whether Runs of the Session are measured by the goal; only an `active` one is."""

    ACTIVE = "active"
    PAUSED = "paused"
    COMPLETED = "completed"
    CANCELED = "canceled"


class GoalReason(StrEnum):
    """Why a goal was decided on as it was.

    `progress_possible` lets a Run go on, `objective_met` completes the goal, the others pause it.
    """

    PROGRESS_POSSIBLE = "progress_possible"
    OBJECTIVE_MET = "objective_met"
    NEEDS_INPUT = "needs_input"
    EXTERNAL_BLOCKER = "external_blocker"
    FOLLOW_ON_LIMIT = "follow_on_limit"
    EVALUATOR_FAILURE = "evaluator_failure"


@dataclass(frozen=True, slots=True)
class GoalReference:
    """A goal as somebody has seen it."""

    id: GoalId
    version: int


@dataclass(frozen=True, slots=True)
class Goal:
    """The one goal of a Session.

    Attributes:
        objective: what is to be achieved, in words for the model; at most 16,000 characters.
        version: grows by 1 with each change, over all goals of the Session.
        follow_ons: how often a Run went on for it, at most `max_follow_ons`.
        updated_at: time of the newest change, aware.
        reason: why the newest decision about it was made; None after a person has changed it.
    """

    id: GoalId
    session_id: SessionId
    objective: str
    max_follow_ons: int
    updated_at: datetime
    status: GoalStatus = GoalStatus.ACTIVE
    version: int = 1
    follow_ons: int = 0
    reason: GoalReason | None = None

    def __post_init__(self) -> None:
        if not self.objective or self.objective != self.objective.strip():
            msg = f"an objective is a trimmed, non-empty text, not {self.objective!r}"
            raise ValueError(msg)
        if len(self.objective) > MAX_OBJECTIVE_CHARS:
            length = len(self.objective)
            msg = f"an objective has at most {MAX_OBJECTIVE_CHARS} characters, not {length}"
            raise ValueError(msg)
        if self.version < 1 or not 0 <= self.follow_ons <= self.max_follow_ons > 0:
            msg = (
                f"a goal has a version of at least 1 and 0 to max_follow_ons > 0 follow-ons, not"
                f" version {self.version} and {self.follow_ons} of {self.max_follow_ons}"
            )
            raise ValueError(msg)
        if self.updated_at.tzinfo is None:
            msg = f"the time of a goal names its zone, not {self.updated_at}"
            raise ValueError(msg)

    @property
    def reference(self) -> GoalReference:
        """This goal at this version."""
        return GoalReference(self.id, self.version)
