"""Telling attempt observers of every physical request: they may refuse it, and not hold it up."""

import logging
from collections.abc import Iterable
from functools import partial

import anyio

from agentslot.model import AttemptObserver, AttemptOutcome, ModelRequest
from agentslot.session import AttemptId, AttemptStatus, ClassifiedError, ErrorKind
from agentslot.standardagent.runtime.calling import answer_of
from agentslot.standardagent.runtime.run import Run

log = logging.getLogger(__name__)


async def tell_started(run: Run, attempt_id: AttemptId, request: ModelRequest) -> None:
    """Ask the observers in order; if one refuses, or the Run is cancelled meanwhile, those that
    have accepted hear of the end.

    Raises:
        ClassifiedError: `unavailable/attempt_start_rejected`: one refused or failed.
    """
    accepted: list[AttemptObserver] = []
    try:
        for observer in run.owner.components.attempt_observers:
            ask = partial(observer.attempt_started, attempt_id, request)
            await answer_of(run.owner, _name(observer), ask)
            accepted.append(observer)
    except anyio.get_cancelled_exc_class():
        await _take_back(run, accepted, attempt_id, "canceled")
        raise
    except Exception as error:
        log.exception("a request of Run %s was refused before it was sent", run.id)
        await _take_back(run, accepted, attempt_id, "attempt_start_rejected")
        raise ClassifiedError(
            ErrorKind.UNAVAILABLE,
            "attempt_start_rejected",
            "an attempt observer refused the request; nothing was sent",
        ) from error


async def _take_back(
    run: Run, accepted: list[AttemptObserver], attempt_id: AttemptId, code: str
) -> None:
    """Tell those that have accepted a request that it is not sent, the last one first."""
    outcome = AttemptOutcome(AttemptStatus.CANCELED, error_code=code)
    with anyio.CancelScope(shield=True):
        await tell_finished(run, reversed(accepted), attempt_id, outcome)


async def tell_finished(
    run: Run, observers: Iterable[AttemptObserver], attempt_id: AttemptId, outcome: AttemptOutcome
) -> bool:
    """Tell each observer how an attempt ended; returns whether all took it."""
    heard = True
    for observer in observers:
        tell = partial(observer.attempt_finished, attempt_id, outcome)
        try:
            await answer_of(run.owner, _name(observer), tell)
        except Exception:
            log.exception("an attempt observer failed in Run %s", run.id)
            heard = False
    return heard


def _name(observer: AttemptObserver) -> str:
    return f"attempt observer {type(observer).__name__}"
