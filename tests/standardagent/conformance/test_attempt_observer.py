"""The referee of attempt observers."""

import time
from collections.abc import Callable

import anyio
import pytest

from agentslot import Module
from agentslot.model import AttemptOutcome, ModelRequest
from agentslot.session import AttemptId
from agentslot.standardagent.conformance import ATTEMPT_OBSERVER_SUITE, asking
from tests.standardagent.conformance.judging import broken_rules
from tests.standardagent.conformance.wrong import some_rounds


class Books:
    """Keeps what attempts have used, and lets only so many be under way."""

    def __init__(self, most: int = 3) -> None:
        self.running: set[AttemptId] = set()
        self.tokens = 0
        self._most = most

    async def attempt_started(self, attempt_id: AttemptId, request: ModelRequest) -> None:
        if len(self.running) == self._most:
            raise PermissionError(f"{self._most} attempts are under way")
        self.running.add(attempt_id)

    async def attempt_finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        self.running.discard(attempt_id)
        if outcome.usage is not None:
            self.tokens += outcome.usage.total


async def test_a_good_observer_conforms() -> None:
    await ATTEMPT_OBSERVER_SUITE.check(Books)


class Untyped(Books):
    async def attempt_started(self, attempt_id: AttemptId, request: ModelRequest) -> None:
        if request.inputs:
            raise LookupError("no such model")


class Careless(Books):
    """Takes it that every provider says what it has used."""

    async def attempt_finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        await super().attempt_finished(attempt_id, outcome)
        if not outcome.error_code:
            assert outcome.usage is not None


class Forgetful(Books):
    """Does not take back what another has refused."""

    async def attempt_finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        if outcome.error_code != "attempt_start_rejected":
            await super().attempt_finished(attempt_id, outcome)


class Strict(Books):
    """Knows no end of something that was not sent."""

    def __init__(self) -> None:
        super().__init__(100)

    async def attempt_finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        if outcome.error_code == "attempt_start_rejected":
            raise KeyError(attempt_id)
        await super().attempt_finished(attempt_id, outcome)


class Single(Books):
    """Can be told of one Session at a time."""

    def __init__(self) -> None:
        super().__init__(1)

    async def attempt_started(self, attempt_id: AttemptId, request: ModelRequest) -> None:
        await super().attempt_started(attempt_id, request)
        await some_rounds()


class Blocking(Books):
    async def attempt_finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        await super().attempt_finished(attempt_id, outcome)
        enough = time.perf_counter() + 0.001
        while time.perf_counter() < enough:
            pass


class Stubborn(Books):
    async def attempt_started(self, attempt_id: AttemptId, request: ModelRequest) -> None:
        with anyio.CancelScope(shield=True):
            await some_rounds()


EVERY_REQUEST = "every_request_is_let_pass"
EVERY_END = "every_end_is_taken"
REFUSED = "a_request_that_another_refuses_takes_nothing_away"
MANY = "sessions_at_the_same_time_do_not_disturb_each_other"
KEEPS = "it_does_not_keep_the_event_loop"
CANCELLED = "a_question_that_is_cancelled_ends"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            Untyped,
            {
                EVERY_REQUEST: "no such model",
                EVERY_END: "no such model",
                REFUSED: "of 11 requests it let 0 pass",
            },
        ),
        (Careless, {EVERY_END: "it failed at the end succeeded with AssertionError"}),
        (Forgetful, {REFUSED: "of 11 requests it let 3 pass (the log: a request of Run"}),
        (
            Strict,
            {
                EVERY_END: "canceled/attempt_start_rejected with KeyError('attempt-4')",
                REFUSED: "an attempt observer failed in Run",
            },
        ),
        (Single, {MANY: "1 attempts are under way"}),
        (Blocking, {KEEPS: "it keeps the event loop"}),
        (Stubborn, {CANCELLED: "goes on"}),
    ],
)
async def test_a_broken_observer_fails_the_checks_that_are_for_it(
    make: Callable[[], Books], said: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if CANCELLED in said:
        monkeypatch.setattr(asking, "CANCEL_SECONDS", 0.0)
    if KEEPS in said:
        monkeypatch.setattr(asking, "STEP_SECONDS", 0.0005)
    found = await broken_rules(ATTEMPT_OBSERVER_SUITE, make)
    assert found.keys() == said.keys()
    assert all(said[rule] in found[rule] for rule in said)


async def test_a_module_without_an_observer_conforms_to_nothing() -> None:
    found = await broken_rules(ATTEMPT_OBSERVER_SUITE, lambda: Module("empty"))
    assert len(found) == len(ATTEMPT_OBSERVER_SUITE.checks)
