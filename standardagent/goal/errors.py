"""What a goal store refuses.

ClassifiedError
└── GoalVersionConflict     expected_version, current_version: read the goal again, then decide
"""

from agentslot import CompositionError
from agentslot.session import ClassifiedError, ErrorKind, SessionId


class GoalVersionConflict(ClassifiedError):  # noqa: N818 - named after what happened
    """The goal has changed since the caller looked; nothing was written.

    Attributes:
        current_version: version of the goal now; 0 if there is none.
    """

    def __init__(self, expected: int, current: int) -> None:
        super().__init__(
            ErrorKind.CONFLICT,
            "goal_version_conflict",
            f"the goal is at version {current}, not {expected}: read it again, then decide",
        )
        self.expected_version = expected
        self.current_version = current


class HalfInstalledGoals(CompositionError):  # noqa: N818 - named after what happened
    """Of `goal.store` and `goal.evaluator` only one is filled."""


def goal_not_found(session_id: SessionId) -> ClassifiedError:
    """The Session has no goal."""
    return ClassifiedError(
        ErrorKind.NOT_FOUND, "goal_not_found", f"Session {session_id!r} has no goal: set one"
    )
