"""The referee of `model.attempt.observer/v1`: told of every physical request, may refuse its start.

An observer that refuses by a rule of its own is judged with a rule that leaves room for the few
requests of a check.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import anyio

from agentslot import Module
from agentslot._conformance import Suite, check, demand
from agentslot.interaction import ChannelSession
from agentslot.model import ATTEMPT_OBSERVER, AttemptObserver, AttemptOutcome, ModelRequest
from agentslot.session import AttemptId, AttemptStatus, TokenUsage
from agentslot.standardagent.conformance.asking import (
    expect_end_when_cancelled,
    expect_no_blocking,
)
from agentslot.standardagent.conformance.stage import Make, Stage, first, part, staged

_REFUSALS = 10
"""How many requests another observer refuses before it lets one pass."""

_ENDS = (
    AttemptOutcome(
        AttemptStatus.SUCCEEDED,
        TokenUsage(input=100, output=10, total=110, cached_input=90, reasoning=5),
        served_model="obedient-2",
        provider_request_id="request-1",
    ),
    AttemptOutcome(AttemptStatus.SUCCEEDED),  # not every provider says what it has used
    AttemptOutcome(AttemptStatus.FAILED, error_code="overloaded", error_message="try later"),
    AttemptOutcome(AttemptStatus.CANCELED, error_code="canceled", partial_text="Hel"),
    AttemptOutcome(AttemptStatus.CANCELED, error_code="attempt_start_rejected"),
)


class _Refused(Exception):  # noqa: N818 - what the onlooker says
    """Another observer refuses a request."""


@dataclass(slots=True)
class _Onlooker:
    """An observer that refuses the first requests, and keeps all that it is shown.

    Attributes:
        refusals: how many requests it will refuse.
        requests: those that it was asked about.
    """

    refusals: int = 0
    requests: list[ModelRequest] = field(default_factory=list[ModelRequest])

    async def attempt_started(self, attempt_id: AttemptId, request: ModelRequest) -> None:
        """Refuse it, as long as there is something to refuse."""
        del attempt_id
        self.requests.append(request)
        if self.refusals:
            self.refusals -= 1
            raise _Refused

    async def attempt_finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        """Nothing is left to do."""


@asynccontextmanager
async def _watched(make: Make, onlooker: _Onlooker) -> AsyncGenerator[Stage]:
    """A stage where the onlooker stands behind what is under test: it sees what was let pass."""
    watching = Module("conformance.onlooker", ATTEMPT_OBSERVER.append(onlooker))
    async with staged(part(ATTEMPT_OBSERVER, make), watching) as stage:
        stage.subjects(ATTEMPT_OBSERVER)
        yield stage


@asynccontextmanager
async def _asked(make: Make) -> AsyncGenerator[tuple[list[AttemptObserver], ModelRequest]]:
    """What is under test, to be asked directly, and a request."""
    onlooker = _Onlooker(refusals=1)  # who refuses everything is told so by another check
    async with staged(Module("conformance.onlooker", ATTEMPT_OBSERVER.append(onlooker))) as stage:
        await (await stage.session()).send_and_wait("hello")
    async with staged(part(ATTEMPT_OBSERVER, make)) as stage:
        yield stage.subjects(ATTEMPT_OBSERVER), onlooker.requests[0]


async def _live(session: ChannelSession) -> None:
    """A life with answers, calls of tools and a failure."""
    for order in ("call note look!", "break", "hello"):
        await session.send_and_wait(order)


async def _complaints(make: Make, sessions: int) -> list[str]:
    """What the log has against the observer, when so many Sessions live at the same time."""
    async with _watched(make, _Onlooker()) as stage:
        async with anyio.create_task_group() as tasks:
            for session in [await stage.session() for _ in range(sessions)]:
                tasks.start_soon(_live, session)
        return stage.complaints


@check
async def every_request_is_let_pass(make: Make) -> None:
    """It fails neither at a start nor at an end, whatever the model is asked and answers."""
    complaints = await _complaints(make, 1)
    demand(not complaints, first(complaints))


@check
async def every_end_is_taken(make: Make) -> None:
    """An observer that fails at an end fails the Run, though the request is made and paid for."""
    async with _asked(make) as (observers, request):
        for observer in observers:
            for number, end in enumerate(_ENDS):
                attempt_id = AttemptId(f"attempt-{number}")
                await observer.attempt_started(attempt_id, request)
                try:
                    await observer.attempt_finished(attempt_id, end)
                except Exception as error:  # noqa: BLE001 - whatever it is, it is told
                    code = f"/{end.error_code}" if end.error_code else ""
                    demand(False, f"it failed at the end {end.status}{code} with {error!r}")


@check
async def a_request_that_another_refuses_takes_nothing_away(make: Make) -> None:
    """It is told of the end as `attempt_start_rejected`, and gives back what it had set aside."""
    onlooker = _Onlooker(_REFUSALS)
    async with _watched(make, onlooker) as stage:
        session = await stage.session()
        for _ in range(_REFUSALS + 1):
            await session.send_and_wait("hello")
        passed = len(onlooker.requests)
        asked = f"of {_REFUSALS + 1} requests it let {passed} pass"
        demand(passed == _REFUSALS + 1, f"{asked}{stage.complained()}")
        ends = [line for line in stage.complaints if _Refused.__name__ not in line]
        demand(not ends, first(ends))


@check
async def sessions_at_the_same_time_do_not_disturb_each_other(make: Make) -> None:
    """One observer is told of all Sessions: it fails with others no more than alone."""
    alone, together = await _complaints(make, 1), await _complaints(make, 3)
    demand(bool(alone) or not together, first(together))


@check
async def it_does_not_keep_the_event_loop(make: Make) -> None:
    """What takes long waits for it, in a thread if need be: everybody shares the loop."""
    async with _asked(make) as (observers, request):
        for observer in observers:
            attempt_id = AttemptId("attempt-1")
            await expect_no_blocking(partial(observer.attempt_started, attempt_id, request))
            await expect_no_blocking(partial(observer.attempt_finished, attempt_id, _ENDS[0]))


@check
async def a_question_that_is_cancelled_ends(make: Make) -> None:
    """The cancellation of the Run is let pass."""
    async with _asked(make) as (observers, request):
        for observer in observers:
            attempt_id = AttemptId("attempt-1")
            await expect_end_when_cancelled(partial(observer.attempt_started, attempt_id, request))
            await expect_end_when_cancelled(
                partial(observer.attempt_finished, attempt_id, _ENDS[0])
            )


ATTEMPT_OBSERVER_SUITE: Suite[Make] = Suite(
    "model.attempt.observer/v1",
    (
        every_request_is_let_pass,
        every_end_is_taken,
        a_request_that_another_refuses_takes_nothing_away,
        sessions_at_the_same_time_do_not_disturb_each_other,
        it_does_not_keep_the_event_loop,
        a_question_that_is_cancelled_ends,
    ),
)
