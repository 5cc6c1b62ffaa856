"""Hooks that interrupt their Run: the Run ends, and says that an extension was the cause."""

from collections.abc import Callable
from typing import TypeVar

from agentslot.session import (
    Change,
    ClassifiedError,
    ErrorKind,
    ExtensionStatus,
    InvocationEnded,
    TerminationSource,
)
from agentslot.standardagent.runtime.hooks.chain import HookChain
from agentslot.standardagent.runtime.run import Run

R = TypeVar("R")


class HookInterruption(ClassifiedError):  # noqa: N818 - named after what happened
    """A hook could not answer where its answer was needed; the Run is interrupted."""


async def evaluate_batch(
    run: Run, chain: HookChain[R], what: str, applied: Callable[[], list[Change]]
) -> bool:
    """Ask the hooks about a batch of calls, and make durable what comes of it.

    Args:
        run: the active Run; its cancellation ends the chain early, with everything settled.
        chain: the questions.
        what: names the kind of hook in an error.
        applied: what takes effect if no hook failed.

    Returns:
        Whether it took effect; False if the Run was canceled before.

    Raises:
        HookInterruption: a hook failed, or the journal could not be written.
    """
    try:
        with run.interruptible():
            await chain.evaluate()
        if chain.over:
            return False
        async with run.owner.lock:
            if chain.failure is None:
                await chain.finish("applied", applied())
            else:
                await chain.finish("failed", chain.stopped(chain.policy.stopped))
    except ClassifiedError as error:
        raise interruption(run, error.kind, error.code, error.message) from error
    if chain.failure is not None:
        raise failure_of(run, what, chain.failure)
    return True


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
