"""The executor conforms over every wire, and the referee notices one that does not."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import pytest

from agentslot._json import loads
from agentslot.model import (
    AttemptRecorder,
    Completed,
    FinishReason,
    ModelEvent,
    ModelExecutor,
    ModelRequest,
    ModelStream,
    Reset,
    ToolDefinition,
)
from agentslot.model.conformance import (
    CHECKS,
    CONTRACT,
    Check,
    ConformanceFailure,
    OpenStage,
    Scene,
    Stage,
    check_executor,
    run_check,
)
from agentslot.model.wires.reading import as_object
from agentslot.session import ModelConfig
from tests.model.stages import VENDORS, stages


@pytest.mark.parametrize("wire", VENDORS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_the_executor_conforms_over_every_wire(check: Check, wire: str) -> None:
    await run_check(check, stages(VENDORS[wire]))


async def test_the_suite_runs_all_its_checks() -> None:
    await check_executor(stages(VENDORS["openai-completions"]))
    assert CONTRACT == "model.executor/v1"
    assert len({check.__name__ for check in CHECKS}) == len(CHECKS)


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


def worse(kind: type[Wrapped]) -> OpenStage:
    good = stages(VENDORS["openai-completions"])

    @asynccontextmanager
    async def opened(*scenes: Scene) -> AsyncGenerator[Stage]:
        async with good(*scenes) as stage:
            executor: ModelExecutor = kind(stage.executor)  # type: ignore[assignment]  # it is worse
            yield Stage(executor, stage.config, stage.requests)

    return opened


@pytest.mark.parametrize(
    ("kind", "check"),
    [
        (Eager, "nothing_is_sent_before_the_stream_is_read"),
        (Forgetful, "text_is_taken_back_before_it_is_shown_again"),
        (Talkative, "an_answer_is_shown_and_completes"),
        (Deaf, "an_unknown_model_is_refused_when_it_is_inspected"),
        (Formless, "a_wanted_form_is_met_in_every_way_that_the_model_has"),
        (Single, "a_wanted_form_is_met_in_every_way_that_the_model_has"),
        (Obliging, "a_way_that_the_model_does_not_have_is_refused"),
        (Hopeful, "a_form_that_was_cut_off_is_no_whole_answer"),
        (Impatient, "tools_are_called_before_the_answer_has_its_form"),
    ],
)
async def test_the_referee_notices_a_broken_executor(kind: type[Wrapped], check: str) -> None:
    [chosen] = [each for each in CHECKS if each.__name__ == check]
    with pytest.raises(ConformanceFailure) as caught:
        await run_check(chosen, worse(kind))
    assert caught.value.check == check
    assert caught.value.detail
