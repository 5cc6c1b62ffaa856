"""The referee of model middleware: ours passes, and each check finds what it is for."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import anyio
import pytest

from agentslot.model import (
    AttemptOutcome,
    AttemptRecorder,
    Completed,
    Completion,
    Failed,
    ModelConfig,
    ModelEvent,
    ModelMiddleware,
    ModelRequest,
    ModelStream,
    Proceed,
    Reset,
)
from agentslot.model.conformance import MODEL_MIDDLEWARE_SUITE, MakeMiddleware, middleware
from agentslot.model.middleware import FallbackModel, PassingRecorder, RateLimit, RequestCache
from agentslot.session import AttemptId, AttemptStatus, TextPart
from tests.standardagent.conformance.judging import broken_rules

ANOTHER = ModelConfig("conformance", "another")


@pytest.mark.parametrize(
    "make",
    [
        lambda: FallbackModel(ANOTHER),
        lambda: FallbackModel(ANOTHER, replace(ANOTHER, model="third")),
        lambda: RateLimit(60_000, burst=5),
        RequestCache,
    ],
    ids=["fallback", "fallbacks", "limit", "cache"],
)
async def test_our_middleware_conforms(make: MakeMiddleware) -> None:
    await MODEL_MIDDLEWARE_SUITE.check(make)


class Reading:
    """A stream of whatever a function gives, and its end."""

    def __init__(
        self,
        receive: Callable[[], Awaitable[ModelEvent]],
        aclose: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._receive = receive
        self._aclose = aclose

    async def receive(self) -> ModelEvent:
        return await self._receive()

    async def aclose(self) -> None:
        if self._aclose is not None:
            await self._aclose()


class Passing:
    """A good middleware that does nothing, to be made worse."""

    def execute(
        self, request: ModelRequest, recorder: AttemptRecorder, proceed: Proceed
    ) -> ModelStream:
        return proceed(request, recorder)


class Instead(Passing):
    """Answers itself."""

    def execute(
        self, request: ModelRequest, recorder: AttemptRecorder, proceed: Proceed
    ) -> ModelStream:
        events: list[ModelEvent] | None = None

        async def receive() -> ModelEvent:
            nonlocal events
            if events is None:
                attempt_id = await recorder.started()
                await recorder.finished(attempt_id, AttemptOutcome(AttemptStatus.SUCCEEDED))
                events = [Completed(attempt_id, Completion((TextPart("no"),)))]
            if not events:
                raise anyio.EndOfStream
            return events.pop()

        return Reading(receive)


@pytest.mark.parametrize("make", [Passing, Instead])
async def test_one_that_passes_on_and_one_that_answers_itself_conform(make: MakeMiddleware) -> None:
    await MODEL_MIDDLEWARE_SUITE.check(make)


class Eager(Passing):
    """Has the start recorded before anybody reads."""

    def execute(
        self, request: ModelRequest, recorder: AttemptRecorder, proceed: Proceed
    ) -> ModelStream:
        stream = proceed(request, recorder)
        read = False

        async def receive() -> ModelEvent:
            nonlocal read
            read = True
            return await stream.receive()

        async def aclose() -> None:
            if not read:
                await stream.receive()
            await stream.aclose()

        return Reading(receive, aclose)


class Seeing(Passing):
    """Makes other events of those that pass by."""

    def see(self, event: ModelEvent) -> Sequence[ModelEvent]:
        return [event]

    def execute(
        self, request: ModelRequest, recorder: AttemptRecorder, proceed: Proceed
    ) -> ModelStream:
        stream = proceed(request, recorder)
        events: list[ModelEvent] = []

        async def receive() -> ModelEvent:
            while not events:
                events.extend(self.see(await stream.receive()))
            return events.pop(0)

        return Reading(receive, stream.aclose)


class Echo(Seeing):
    def see(self, event: ModelEvent) -> Sequence[ModelEvent]:
        return [event, event] if isinstance(event, Completed) else [event]


class Quiet(Seeing):
    def see(self, event: ModelEvent) -> Sequence[ModelEvent]:
        return [] if isinstance(event, Reset) else [event]


class Collecting(Seeing):
    """Shows what came when nothing else will come."""

    def __init__(self) -> None:
        self._held: list[ModelEvent] = []

    def see(self, event: ModelEvent) -> Sequence[ModelEvent]:
        self._held.append(event)
        if not isinstance(event, Completed | Failed):
            return []
        held, self._held = self._held, []
        return held


class Recording(Passing):
    """Goes on with a recorder of its own."""

    def __init__(self, kind: type[PassingRecorder]) -> None:
        self._kind = kind

    def execute(
        self, request: ModelRequest, recorder: AttemptRecorder, proceed: Proceed
    ) -> ModelStream:
        return proceed(request, self._kind(recorder))


class Daring(PassingRecorder):
    async def started(self) -> AttemptId:
        try:
            return await super().started()
        except Exception:
            return AttemptId("attempt-1")


class Careless(PassingRecorder):
    async def finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        with suppress(Exception):
            await super().finished(attempt_id, outcome)


class Vanishing(PassingRecorder):
    async def finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        if outcome.status is not AttemptStatus.CANCELED:
            await super().finished(attempt_id, outcome)


class Insisting(Passing):
    """Asks again, or somebody else, when a call has failed, whatever the budget says."""

    def __init__(self, config: ModelConfig | None = None) -> None:
        self._config = config

    def execute(
        self, request: ModelRequest, recorder: AttemptRecorder, proceed: Proceed
    ) -> ModelStream:
        stream = proceed(request, recorder)
        again = False

        async def receive() -> ModelEvent:
            nonlocal stream, again
            event = await stream.receive()
            if again or not isinstance(event, Failed):
                return event
            again = True
            stream = proceed(replace(request, config=self._config or request.config), recorder)
            return await stream.receive()

        async def aclose() -> None:
            await stream.aclose()

        return Reading(receive, aclose)


class Prudent(PassingRecorder):
    """Names who answers."""

    async def finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        await super().finished(attempt_id, replace(outcome, served_model="conformance/another"))


class Rerouting(Passing):
    """Asks somebody else at once."""

    def __init__(self, kind: type[PassingRecorder] = PassingRecorder) -> None:
        self._kind = kind

    def execute(
        self, request: ModelRequest, recorder: AttemptRecorder, proceed: Proceed
    ) -> ModelStream:
        return proceed(replace(request, config=ANOTHER), self._kind(recorder))


class Leaving(Passing):
    """Does not close what it has begun."""

    def execute(
        self, request: ModelRequest, recorder: AttemptRecorder, proceed: Proceed
    ) -> ModelStream:
        stream = proceed(request, recorder)
        return Reading(stream.receive)


class Single(Passing):
    """Serves one call at a time."""

    def __init__(self) -> None:
        self._served: ModelStream | None = None

    def execute(
        self, request: ModelRequest, recorder: AttemptRecorder, proceed: Proceed
    ) -> ModelStream:
        stream = proceed(request, recorder)

        async def receive() -> ModelEvent:
            if self._served not in (None, stream):
                raise RuntimeError("busy")
            self._served = stream
            return await stream.receive()

        async def aclose() -> None:
            self._served = None
            await stream.aclose()

        return Reading(receive, aclose)


UNREAD = "nothing_is_sent_before_the_stream_is_read"
ONE_END = "every_call_comes_to_one_end"
VOID = "text_that_is_void_is_taken_back"
AS_IT_COMES = "an_answer_is_handed_on_as_it_comes"
START = "a_start_that_is_refused_sends_nothing"
LOST = "an_end_that_cannot_be_recorded_ends_the_call"
BUDGET = "no_attempt_starts_on_a_budget_that_is_used_up"
NAMED = "who_answers_instead_is_named"
CANCELLED = "a_call_that_is_cancelled_ends"
TOGETHER = "calls_at_the_same_time_do_not_disturb_each_other"


@pytest.mark.parametrize(
    ("make", "rules", "said"),
    [
        (Eager, [UNREAD], "nobody read was sent"),
        (Echo, [ONE_END, VOID, NAMED, TOGETHER], "an event came after the terminal one"),
        (Quiet, [VOID], "without a reset"),
        (Collecting, [AS_IT_COMES], "text was there, and nothing was shown"),
        (lambda: Recording(Daring), [START], "an attempt ended that never started"),
        (lambda: Recording(Careless), [LOST], "None was raised in place of"),
        (lambda: Recording(Vanishing), [CANCELLED, TOGETHER], "recorded as without an end"),
        (Insisting, [BUDGET], "on a budget that was used up"),
        (lambda: Insisting(ANOTHER), [BUDGET, NAMED], "on a budget that was used up"),
        (Rerouting, [NAMED], "conformance/another was asked, and '' is recorded"),
        (lambda: Rerouting(Prudent), [NAMED], "is kept for the one that was asked for"),
        (Leaving, [CANCELLED, TOGETHER], "recorded as without an end"),
        (Single, [TOGETHER], "busy"),
    ],
)
async def test_a_broken_middleware_fails_the_check_that_is_for_it(
    make: Callable[[], ModelMiddleware],
    rules: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if make is Collecting:
        monkeypatch.setattr(middleware, "FIRST_EVENT_SECONDS", 0.01)
    found = await broken_rules(MODEL_MIDDLEWARE_SUITE, make)
    assert list(found) == rules
    assert said in found[rules[0]]
