"""Why the aggregate refuses a change: one function for each kind of refusal."""

from agentslot.session.errors import ClassifiedError, ErrorKind
from agentslot.session.identity import RunId


def invalid_change(message: str) -> ClassifiedError:
    """The change makes no sense by itself, whatever the Session looks like."""
    return ClassifiedError(ErrorKind.INVALID_INPUT, "invalid_change", message)


def history_broken(message: str) -> ClassifiedError:
    """The change does not fit the facts that are there."""
    return ClassifiedError(ErrorKind.CONFLICT, "history_invariant", message)


def journal_broken(message: str) -> ClassifiedError:
    """The change does not fit the state of the unfinished tool calls."""
    return ClassifiedError(ErrorKind.CONFLICT, "journal_invariant", message)


def run_active(run_id: RunId, message: str) -> ClassifiedError:
    """The change needs an idle Session."""
    return ClassifiedError(ErrorKind.CONFLICT, "active_run", f"run {run_id!r} is active: {message}")


def run_not_active(run_id: RunId | None) -> ClassifiedError:
    """The change needs that Run to be the active one."""
    return ClassifiedError(ErrorKind.CONFLICT, "no_active_run", f"run {run_id!r} is not active")
