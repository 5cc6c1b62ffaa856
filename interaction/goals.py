"""Requests about the goal of a Session."""

from dataclasses import dataclass

from agentslot.session import GoalStatus, SessionId

DEFAULT_FOLLOW_ONS = 10


@dataclass(frozen=True, slots=True)
class SetGoal:
    """Give a Session a goal, in the place of the one it has.

    Attributes:
        max_follow_ons: how often Runs may go on for it, at least 1.
        expected_version: version of the goal that the caller decided on, 0 for none; another
            current one is a conflict. None: whatever there is.
    """

    session_id: SessionId
    objective: str
    max_follow_ons: int = DEFAULT_FOLLOW_ONS
    expected_version: int | None = None


@dataclass(frozen=True, slots=True)
class ChangeGoal:
    """Pause, activate, complete or cancel the goal of a Session; see SetGoal."""

    session_id: SessionId
    status: GoalStatus
    expected_version: int | None = None
