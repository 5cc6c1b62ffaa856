"""Checks of calls that are carried out to their end."""

from agentslot._conformance import expect
from agentslot.model.conformance.play import (
    WatchfulRecorder,
    a_request,
    completed,
    failed,
    play,
    shown_at_the_end,
)
from agentslot.model.conformance.scene import Check, OpenStage, Scene
from agentslot.model.contract import Failed, TextDelta
from agentslot.session import (
    AttemptStatus,
    ClassifiedError,
    ModelConfig,
    Reasoning,
    TextPart,
)


async def a_known_model_is_described(open_stage: OpenStage) -> None:
    """`inspect` gives usable figures."""
    check = "a_known_model_is_described"
    async with open_stage(Scene.ANSWER) as stage:
        known = stage.executor.inspect(stage.config)
    window, output = known.context_window_tokens, known.max_output_tokens
    expect(check, window > 0, f"the window is {window}")
    expect(check, 0 <= output <= window, f"the output of {output} does not fit the window")
    expect(check, bool(known.input_modalities and known.output_modalities), "no modalities")
    expect(check, Reasoning.DEFAULT in known.reasoning, "the default effort is not offered")
    expect(check, len(set(known.reasoning)) == len(known.reasoning), "an effort is listed twice")


async def an_unknown_model_is_refused_when_it_is_inspected(open_stage: OpenStage) -> None:
    """`inspect` says so with the code that callers branch on."""
    check = "an_unknown_model_is_refused_when_it_is_inspected"
    async with open_stage(Scene.ANSWER) as stage:
        unknown = ModelConfig(stage.config.provider, "no-such-model-0")
        try:
            answer = stage.executor.inspect(unknown)
        except ClassifiedError as error:
            expect(check, error.code == "model_not_supported", f"refused as {error.code!r}")
        else:
            expect(check, False, f"an unknown model is described as {answer}")


async def nothing_is_sent_before_the_stream_is_read(open_stage: OpenStage) -> None:
    """`execute` alone has no effect, and a stream that is closed unread never had one."""
    check = "nothing_is_sent_before_the_stream_is_read"
    async with open_stage(Scene.ANSWER) as stage:
        _, recorder = await play(check, stage)
        before = stage.requests(), len(recorder.outcomes)
        stream = stage.executor.execute(a_request(stage), recorder)
        await stream.aclose()
        await stream.aclose()
        after = stage.requests(), len(recorder.outcomes)
    expect(check, before == after, "a stream that nobody read sent or recorded something")


async def an_answer_is_shown_and_completes(open_stage: OpenStage) -> None:
    """Text arrives in deltas and is repeated whole; the attempt ends as a success with figures."""
    check = "an_answer_is_shown_and_completes"
    async with open_stage(Scene.ANSWER) as stage:
        events, recorder = await play(check, stage)
    completion = completed(check, events).completion
    text = "".join(part.text for part in completion.parts if isinstance(part, TextPart))
    expect(check, bool(text), "the completion has no text")
    expect(check, shown_at_the_end(events) == text, "the deltas and the completion differ")
    expect(check, not completion.calls, "the completion has calls that nobody made")
    [outcome] = recorder.ended
    expect(check, outcome.status is AttemptStatus.SUCCEEDED, f"the attempt is {outcome.status}")
    expect(check, outcome.usage is not None, "the figures of the provider were not recorded")


async def a_call_of_a_tool_completes(open_stage: OpenStage) -> None:
    """The completion names the tool, gives its arguments as text and a token for the result."""
    check = "a_call_of_a_tool_completes"
    async with open_stage(Scene.CALL) as stage:
        events, _ = await play(check, stage)
    calls = completed(check, events).completion.calls
    expect(check, [call.name for call in calls] == ["ping"], f"the calls are {calls}")
    expect(check, all(call.correlation_id for call in calls), "a call has no token")


async def nothing_follows_the_end_of_an_answer(open_stage: OpenStage) -> None:
    """What a provider sends behind its answer makes no second terminal event."""
    check = "nothing_follows_the_end_of_an_answer"
    async with open_stage(Scene.SURPLUS) as stage:
        events, _ = await play(check, stage)
    expect(check, not isinstance(events[-1], Failed), "a complete answer was thrown away")


async def text_is_shown_before_the_answer_has_ended(open_stage: OpenStage) -> None:
    """The first delta does not wait for the last byte."""
    check = "text_is_shown_before_the_answer_has_ended"
    async with open_stage(Scene.SILENT_AFTER_TEXT) as stage:
        recorder = WatchfulRecorder(check)
        stream = stage.executor.execute(a_request(stage), recorder)
        event = await stream.receive()
        await stream.aclose()
    expect(check, isinstance(event, TextDelta), f"the first event is {event!r}")
    outcome = next(iter(recorder.ended), None)
    expect(
        check,
        outcome is not None and outcome.status is AttemptStatus.CANCELED,
        f"the attempt that was left is recorded as {outcome}",
    )


async def what_is_no_answer_completes_nothing(open_stage: OpenStage) -> None:
    """Bytes that mean nothing are a failure, whatever the status said."""
    check = "what_is_no_answer_completes_nothing"
    async with open_stage(Scene.GARBAGE) as stage:
        failed(check, (await play(check, stage))[0])


async def an_answer_without_its_end_completes_nothing(open_stage: OpenStage) -> None:
    """Text that stopped in the middle is a failure, and is taken back."""
    check = "an_answer_without_its_end_completes_nothing"
    for scene in (Scene.ENDS_EARLY, Scene.CUT_OFF):
        async with open_stage(scene) as stage:
            events, recorder = await play(check, stage)
        failed(check, events)
        expect(check, not shown_at_the_end(events), "text of a failed call was not taken back")
        statuses = {outcome.status for outcome in recorder.ended}
        expect(check, statuses == {AttemptStatus.FAILED}, f"the attempts are {statuses}")


CHECKS: tuple[Check, ...] = (
    a_known_model_is_described,
    an_unknown_model_is_refused_when_it_is_inspected,
    nothing_is_sent_before_the_stream_is_read,
    an_answer_is_shown_and_completes,
    a_call_of_a_tool_completes,
    nothing_follows_the_end_of_an_answer,
    text_is_shown_before_the_answer_has_ended,
    what_is_no_answer_completes_nothing,
    an_answer_without_its_end_completes_nothing,
)
