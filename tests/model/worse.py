"""Executors that break one rule each; wrapped around a good one."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import anyio

from agentslot._json import loads
from agentslot.model import (
    AttemptOutcome,
    AttemptRecorder,
    Completed,
    Completion,
    Failed,
    FinishReason,
    ModelEvent,
    ModelExecutor,
    ModelRequest,
    ModelStream,
    Reset,
    TextDelta,
    TokenBudget,
    ToolDefinition,
)
from agentslot.model.middleware import PassingRecorder
from agentslot.model.wires.reading import as_object
from agentslot.session import AttemptId, AttemptStatus, ClassifiedError, ModelConfig, TextPart
from tests.model.stages import VENDORS


class Wrapped:
    """An executor around a good one, to be made worse."""

    def __init__(self, executor: ModelExecutor) -> None:
        self._executor = executor

    def inspect(self, config: ModelConfig) -> object:
        return self._executor.inspect(config)

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        return self._executor.execute(request, recorder)


class Eager(Wrapped):
    """Records a start before anybody reads."""

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        return _Started(self._executor.execute(request, recorder), recorder)


class _Started:
    def __init__(self, stream: ModelStream, recorder: AttemptRecorder) -> None:
        self._stream = stream
        self._recorder = recorder

    async def receive(self) -> ModelEvent:
        return await self._stream.receive()

    async def aclose(self) -> None:
        await self._recorder.started()
        await self._stream.aclose()


class Forgetful(Wrapped):
    """Does not take back what it showed."""

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        return _Without(self._executor.execute(request, recorder))


class _Without:
    def __init__(self, stream: ModelStream) -> None:
        self._stream = stream

    async def receive(self) -> ModelEvent:
        while isinstance(event := await self._stream.receive(), Reset):
            pass
        return event

    async def aclose(self) -> None:
        await self._stream.aclose()


class Talkative(Wrapped):
    """Completes twice."""

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        return _Twice(self._executor.execute(request, recorder))


class _Twice:
    def __init__(self, stream: ModelStream) -> None:
        self._stream = stream
        self._last: Completed | None = None

    async def receive(self) -> ModelEvent:
        try:
            event = await self._stream.receive()
        except anyio.EndOfStream:
            if self._last is None:
                raise
            last, self._last = self._last, None
            return last
        self._last = event if isinstance(event, Completed) else None
        return event

    async def aclose(self) -> None:
        await self._stream.aclose()


class Deaf(Wrapped):
    """Knows every model."""

    def inspect(self, config: ModelConfig) -> object:
        return self._executor.inspect(VENDORS["openai-completions"].config)


class Formless(Wrapped):
    """Does not read what form is wanted."""

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        return self._executor.execute(replace(request, output=None), recorder)


class Obliging(Wrapped):
    """Takes another way than the one that is forced and that the model does not have."""

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        output = request.output and replace(request.output, strategy=None)
        return self._executor.execute(replace(request, output=output), recorder)


class Hopeful(Wrapped):
    """Says of every answer that it is whole."""

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        return _Whole(self._executor.execute(request, recorder))


class _Whole:
    def __init__(self, stream: ModelStream) -> None:
        self._stream = stream

    async def receive(self) -> ModelEvent:
        event = await self._stream.receive()
        if isinstance(event, Completed):
            completion = replace(event.completion, finish=FinishReason.STOP)
            return Completed(event.attempt_id, completion)
        return event

    async def aclose(self) -> None:
        await self._stream.aclose()


class Single(Wrapped):
    """Offers nothing but the tool for the answer, and gives its call back as one."""

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        if request.output is None:
            return self._executor.execute(request, recorder)
        answer = ToolDefinition("final_answer", "", as_object(loads(request.output.schema)))
        return self._executor.execute(replace(request, output=None, tools=(answer,)), recorder)


class Impatient(Wrapped):
    """Lets no other tool be called before the answer."""

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        stream = self._executor.execute(request, recorder)
        return stream if request.output is None else _Uncalling(stream)


class _Uncalling(_Whole):
    async def receive(self) -> ModelEvent:
        event = await super().receive()
        if isinstance(event, Completed):
            return replace(event, completion=replace(event.completion, calls=()))
        return event


class Windowless(Wrapped):
    """Says nothing of the window of a model."""

    def inspect(self, config: ModelConfig) -> object:
        return replace(self._executor.inspect(config), context_window_tokens=0)


class Watching(Wrapped):
    """Does something with each event."""

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        return _Watched(self._executor.execute(request, recorder), self.see)

    def see(self, event: ModelEvent) -> list[ModelEvent]:
        return [event]


class _Watched:
    def __init__(self, stream: ModelStream, see: Callable[[ModelEvent], list[ModelEvent]]) -> None:
        self._stream = stream
        self._see = see
        self._events: list[ModelEvent] = []

    async def receive(self) -> ModelEvent:
        if not self._events:
            self._events = self._see(await self._stream.receive())
        return self._events.pop(0)

    async def aclose(self) -> None:
        await self._stream.aclose()


class Idle(Watching):
    """Makes no call of a tool."""

    def see(self, event: ModelEvent) -> list[ModelEvent]:
        if isinstance(event, Completed) and event.completion.calls:
            parts = event.completion.parts or (TextPart("done"),)
            return [Completed(event.attempt_id, Completion(parts))]
        return [event]


class Nervous(Watching):
    """Takes back what it has not shown yet."""

    def see(self, event: ModelEvent) -> list[ModelEvent]:
        return [Reset(event.attempt_id), event] if isinstance(event, TextDelta) else [event]


class Soothing(Watching):
    """Makes an answer of a failure."""

    def see(self, event: ModelEvent) -> list[ModelEvent]:
        if isinstance(event, Failed):
            return [Completed(AttemptId("attempt-1"), Completion((TextPart("sorry"),)))]
        return [event]


class Insisting(Wrapped):
    """Asks again, whatever the failure was."""

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        return _Again(lambda: self._executor.execute(request, recorder))


class _Again:
    def __init__(self, begin: Callable[[], ModelStream]) -> None:
        self._stream = begin()
        self._begin: Callable[[], ModelStream] | None = begin

    async def receive(self) -> ModelEvent:
        event = await self._stream.receive()
        if isinstance(event, Failed) and self._begin is not None:
            self._stream, self._begin = self._begin(), None
            return await self._stream.receive()
        return event

    async def aclose(self) -> None:
        await self._stream.aclose()


class Recording(Wrapped):
    """Records attempts in some other way."""

    recorder: type[PassingRecorder]

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        return self._executor.execute(request, self.recorder(recorder))


class Meek(Recording):
    """Takes every budget for used up."""

    class recorder(PassingRecorder):  # stands in for a function
        def budget(self) -> TokenBudget:
            return TokenBudget(limit=1, used=1)


class Lavish(Recording):
    """Takes no budget for used up."""

    class recorder(PassingRecorder):
        def budget(self) -> TokenBudget:
            return TokenBudget(limit=0, used=0)


class Unstoppable(Recording):
    """Goes on when a start is refused."""

    class recorder(PassingRecorder):
        async def started(self) -> AttemptId:
            try:
                return await super().started()
            except ClassifiedError:
                return AttemptId("attempt-1")

        async def finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
            pass


class Shrugging(Recording):
    """Goes on when an end cannot be recorded."""

    class recorder(PassingRecorder):
        async def finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
            with suppress(ClassifiedError):
                await super().finished(attempt_id, outcome)


class Vanishing(Recording):
    """Leaves what was cancelled without an end."""

    class recorder(PassingRecorder):
        async def finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
            if outcome.status is not AttemptStatus.CANCELED:
                await super().finished(attempt_id, outcome)


class Hasty(Recording):
    """Starts the next attempt at once, and then waits."""

    class recorder(PassingRecorder):
        async def finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
            await super().finished(attempt_id, outcome)
            if outcome.status is AttemptStatus.FAILED:
                another = AttemptOutcome(AttemptStatus.CANCELED, error_code="canceled")
                await super().finished(await self.started(), another)


BROKEN: list[tuple[type[Wrapped], str]] = [
    (Eager, "nothing_is_sent_before_the_stream_is_read"),
    (Forgetful, "text_is_taken_back_before_it_is_shown_again"),
    (Talkative, "an_answer_is_shown_and_completes"),
    (Deaf, "an_unknown_model_is_refused_when_it_is_inspected"),
    (Formless, "a_wanted_form_is_met_in_every_way_that_the_model_has"),
    (Single, "a_wanted_form_is_met_in_every_way_that_the_model_has"),
    (Obliging, "a_way_that_the_model_does_not_have_is_refused"),
    (Hopeful, "a_form_that_was_cut_off_is_no_whole_answer"),
    (Impatient, "tools_are_called_before_the_answer_has_its_form"),
    (Windowless, "a_known_model_is_described"),
    (Idle, "a_call_of_a_tool_completes"),
    (Talkative, "nothing_follows_the_end_of_an_answer"),
    (Nervous, "text_is_shown_before_the_answer_has_ended"),
    (Soothing, "what_is_no_answer_completes_nothing"),
    (Soothing, "an_answer_without_its_end_completes_nothing"),
    (Meek, "a_failure_that_passes_is_tried_again"),
    (Insisting, "a_failure_that_lasts_is_not_tried_again"),
    (Lavish, "no_attempt_starts_on_a_budget_that_is_used_up"),
    (Unstoppable, "a_start_that_is_refused_sends_nothing"),
    (Shrugging, "an_end_that_cannot_be_recorded_ends_the_call"),
    (Vanishing, "a_call_is_cancelled_while_its_request_is_sent"),
    (Vanishing, "a_call_is_cancelled_while_its_answer_arrives"),
    (Hasty, "a_call_is_cancelled_while_it_waits_to_try_again"),
    (Vanishing, "calls_at_the_same_time_do_not_disturb_each_other"),
]
"""Executors that do it wrong, each with the check that finds it."""
