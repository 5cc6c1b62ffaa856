"""Hooks that interrupt their Run: the Run ends, and says that an extension was the cause."""

from agentslot.session import (
    ClassifiedError,
    ErrorKind,
    ExtensionStatus,
    InvocationEnded,
    TerminationSource,
)
from agentslot.standardagent.runtime.run import Run


class HookInterruption(ClassifiedError):  # noqa: N818 - named after what happened
    """A hook could not answer where its answer was needed; the Run is interrupted."""


def interruption(run: Run, kind: ErrorKind, code: str, message: str) -> HookInterruption:
    """Note why the Run will not complete, and the error that ends its current step."""
    run.terminate(TerminationSource.EXTENSION, kind, code, message)
    return HookInterruption(kind, code, message)


def failure_of(run: Run, what: str, ended: InvocationEnded) -> HookInterruption:
    """The interruption by a component that failed."""
    reason = ended.reason or f"it ended as {ended.status}"
    return interruption(run, kind_of_ending(ended), ended.code, f"{what} failed: {reason}")


def kind_of_ending(ended: InvocationEnded) -> ErrorKind:
    """The kind of error that a component's failure is."""
    if ended.code == "extension_deadline_exceeded":
        return ErrorKind.DEADLINE_EXCEEDED
    if ended.status is ExtensionStatus.CANCELED:
        return ErrorKind.CANCELED
    return ErrorKind.UNAVAILABLE
