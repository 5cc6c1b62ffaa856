"""Checks of answers in a wanted form: met in each way that the model has, and refused otherwise.

An executor that lists no `structured_output` does not read what a request says of it; whoever asks
tells the model in words then, and nothing is checked here.
"""

from dataclasses import replace

from agentslot._conformance import expect
from agentslot._json import JsonError, loads
from agentslot.model.conformance.play import (
    WatchfulRecorder,
    a_request,
    completed,
    play,
    read_to_the_end,
    shown_at_the_end,
)
from agentslot.model.conformance.scene import IN_FORM, Check, OpenStage, Scene, Stage
from agentslot.model.contract import Completed, Completion, FinishReason, ModelRequest
from agentslot.session import ClassifiedError, OutputFormat, OutputStrategy, TextPart

_WANTED = OutputFormat(
    '{"type":"object","properties":{"verdict":{"type":"string","enum":["yes","no"]}},'
    '"required":["verdict"],"additionalProperties":false}',
    "judgement",
)


async def a_wanted_form_is_met_in_every_way_that_the_model_has(open_stage: OpenStage) -> None:
    """Natively, by a tool or in words, with other tools or without: the answer is text."""
    check = "a_wanted_form_is_met_in_every_way_that_the_model_has"
    for asked in await _requests(open_stage, possible=True):
        async with open_stage(Scene.FORM) as stage:
            events, _ = await play(check, stage, request=asked)
        completion = completed(check, events).completion
        way = _way(asked)
        expect(check, _has_the_form(completion), f"{way} gave {completion}")
        expect(check, not completion.calls, f"{way} left a call: {completion.calls}")
        expect(check, completion.finish is FinishReason.STOP, f"{way} ended as {completion.finish}")
        shown = shown_at_the_end(events)
        expect(check, shown == _text(completion), f"{way} showed {shown!r}")


async def a_way_that_the_model_does_not_have_is_refused(open_stage: OpenStage) -> None:
    """Whoever forces one is told before anything is sent."""
    check = "a_way_that_the_model_does_not_have_is_refused"
    for asked in await _requests(open_stage, possible=False):
        async with open_stage(Scene.FORM) as stage:
            code = await _refusal(check, stage, asked)
            sent = stage.requests()
        expect(check, code == "output_strategy_not_supported", f"{_way(asked)} gave {code!r}")
        expect(check, sent == 0, f"{sent} requests were sent for {_way(asked)}")


async def a_form_that_was_cut_off_is_no_whole_answer(open_stage: OpenStage) -> None:
    """An answer that met its limit says so, or fails; nobody may take it for the value."""
    check = "a_form_that_was_cut_off_is_no_whole_answer"
    for asked in await _requests(open_stage, possible=True):
        async with open_stage(Scene.FORM_CUT) as stage:
            last = (await play(check, stage, request=asked))[0][-1]
        if isinstance(last, Completed):
            finish = last.completion.finish
            expect(check, finish is FinishReason.LENGTH, f"{_way(asked)} ended as {finish}")


async def tools_are_called_before_the_answer_has_its_form(open_stage: OpenStage) -> None:
    """The form is that of the final answer: a call is passed on as ever."""
    check = "tools_are_called_before_the_answer_has_its_form"
    for asked in await _requests(open_stage, possible=True):
        if asked.tools:
            async with open_stage(Scene.CALL) as stage:
                events, _ = await play(check, stage, request=asked)
            calls = [call.name for call in completed(check, events).completion.calls]
            expect(check, calls == ["ping"], f"{_way(asked)} made the calls {calls}")


async def _requests(open_stage: OpenStage, *, possible: bool) -> list[ModelRequest]:
    """Requests for the form, each in another way: those that can be met, or those that cannot."""
    async with open_stage(Scene.ANSWER) as stage:
        known = stage.executor.inspect(stage.config)
        plain = a_request(stage)
    if not known.structured_output:
        return []
    requests: list[ModelRequest] = []
    for way in (None, *OutputStrategy):
        for tools in (plain.tools, ()) if known.tool_calling else ((),):
            apart = way is OutputStrategy.NATIVE and tools and not known.native_output_with_tools
            if (way is None or (way in known.structured_output and not apart)) is possible:
                output = replace(_WANTED, strategy=way)
                requests.append(replace(plain, tools=tools, output=output))
    return requests


async def _refusal(check: str, stage: Stage, asked: ModelRequest) -> str:
    """The code of what was raised, at the latest when the stream was first read."""
    recorder = WatchfulRecorder(check)
    try:
        events = await read_to_the_end(check, stage.executor.execute(asked, recorder), recorder)
    except ClassifiedError as error:
        return error.code
    return f"no refusal but {events}"


def _way(asked: ModelRequest) -> str:
    way = asked.output.strategy if asked.output else None
    return f"{way or 'the best way'} {'with' if asked.tools else 'without'} tools"


def _text(completion: Completion) -> str:
    return "".join(part.text for part in completion.parts if isinstance(part, TextPart))


def _has_the_form(completion: Completion) -> bool:
    try:
        return loads(_text(completion)) == loads(IN_FORM)
    except JsonError:
        return False


CHECKS: tuple[Check, ...] = (
    a_wanted_form_is_met_in_every_way_that_the_model_has,
    a_way_that_the_model_does_not_have_is_refused,
    a_form_that_was_cut_off_is_no_whole_answer,
    tools_are_called_before_the_answer_has_its_form,
)
