"""Errors that callers branch on: by kind and code, never by text.

AgentSlotError
└── ClassifiedError                 kind, code, operation
    ├── RevisionConflictError       current_revision: read the Session again, then decide
    └── SessionDamagedError         path, line: what is wrong with a stored Session, and where
"""

from enum import StrEnum
from pathlib import Path

from agentslot import AgentSlotError


class ErrorKind(StrEnum):
    """The closed set of kinds; an exception that carries none counts as `internal`."""

    INVALID_INPUT = "invalid_input"
    CONFLICT = "conflict"
    NOT_FOUND = "not_found"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    CANCELED = "canceled"
    DEADLINE_EXCEEDED = "deadline_exceeded"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"


class ClassifiedError(AgentSlotError):
    """An error with a kind and a stable code.

    Attributes:
        kind: the closed category a caller may branch on.
        code: a stable snake_case name of the precise case, such as `session_not_found`.
    """

    def __init__(self, kind: ErrorKind, code: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.code = code

    @property
    def message(self) -> str:
        """The text for people, without kind and code."""
        return str(self.args[0])

    def __str__(self) -> str:
        return f"{self.message} [{self.kind}/{self.code}]"


class RevisionConflictError(ClassifiedError):
    """The Session has moved on since the caller looked: nothing was written."""

    def __init__(self, expected: int, current: int) -> None:
        super().__init__(
            ErrorKind.CONFLICT,
            "revision_conflict",
            f"the Session is at revision {current}, not {expected}: read it again, then decide",
        )
        self.expected_revision = expected
        self.current_revision = current


class SessionDamagedError(ClassifiedError):
    """A stored Session cannot be trusted as it lies there; nothing was rewritten."""

    def __init__(self, path: Path, reason: str, *, line: int | None = None) -> None:
        where = f"{path}" if line is None else f"{path}, line {line}"
        super().__init__(
            ErrorKind.INTERNAL,
            "session_unrecoverable",
            f"{where}: {reason}. Nothing was changed; `agentslot sessions check` explains it",
        )
        self.path = path
        self.line = line
        self.reason = reason


def kind_of(error: BaseException) -> ErrorKind:
    """Kind of the nearest ClassifiedError in the chain of causes; `internal` if there is none."""
    current: BaseException | None = error
    while current is not None:
        if isinstance(current, ClassifiedError):
            return current.kind
        current = current.__cause__
    return ErrorKind.INTERNAL
