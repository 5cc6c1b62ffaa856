"""Checks of attempts: when another one is made, and when none may be."""

from agentslot._conformance import ConformanceFailure, expect
from agentslot.model.conformance.play import (
    WatchfulRecorder,
    a_request,
    completed,
    failed,
    play,
    read_to_the_end,
)
from agentslot.model.conformance.scene import Check, OpenStage, Scene, Stage
from agentslot.model.contract import Reset
from agentslot.session import AttemptStatus, ClassifiedError, ErrorKind


async def a_failure_that_passes_is_tried_again(open_stage: OpenStage) -> None:
    """The first attempt ends as failed, the second one answers under an id of its own."""
    check = "a_failure_that_passes_is_tried_again"
    async with open_stage(Scene.OVERLOADED, Scene.ANSWER) as stage:
        events, recorder = await play(check, stage)
    last = completed(check, events)
    statuses = [outcome.status for outcome in recorder.ended]
    expected = [AttemptStatus.FAILED, AttemptStatus.SUCCEEDED]
    expect(check, statuses == expected, f"the attempts are {statuses}")
    newest = list(recorder.outcomes)[-1]
    expect(check, last.attempt_id == newest, "the completion names another attempt")


async def text_is_taken_back_before_it_is_shown_again(open_stage: OpenStage) -> None:
    """A Reset stands between the text of a broken attempt and that of the next one."""
    check = "text_is_taken_back_before_it_is_shown_again"
    async with open_stage(Scene.CUT_OFF, Scene.ANSWER) as stage:
        events, recorder = await play(check, stage)
    completed(check, events)
    resets = [event.attempt_id for event in events if isinstance(event, Reset)]
    first = list(recorder.outcomes)[:1]
    expect(check, resets == first, f"the resets are {resets}")


async def a_failure_that_lasts_is_not_tried_again(open_stage: OpenStage) -> None:
    """One request, one failed attempt, and a message that can be shown."""
    check = "a_failure_that_lasts_is_not_tried_again"
    async with open_stage(Scene.REJECTED) as stage:
        events, recorder = await play(check, stage)
        expect(check, stage.requests() == 1, f"{stage.requests()} requests were sent")
    error = failed(check, events).error
    expect(check, error.message.isprintable(), f"the message is not safe: {error.message!r}")
    [outcome] = recorder.ended
    expect(check, outcome.error_code == error.code, f"recorded as {outcome.error_code!r}")


async def no_attempt_starts_on_a_budget_that_is_used_up(open_stage: OpenStage) -> None:
    """The budget is asked before a retry."""
    check = "no_attempt_starts_on_a_budget_that_is_used_up"
    recorder = WatchfulRecorder(check)
    recorder.exhausted_after = 1
    async with open_stage(Scene.OVERLOADED, Scene.ANSWER) as stage:
        events, _ = await play(check, stage, recorder)
        expect(check, stage.requests() == 1, f"{stage.requests()} requests were sent")
    failed(check, events)


async def a_start_that_is_refused_sends_nothing(open_stage: OpenStage) -> None:
    """What the recorder raises instead of a start passes through, and is not tried again."""
    check = "a_start_that_is_refused_sends_nothing"
    recorder = WatchfulRecorder(check)
    recorder.start_error = ClassifiedError(ErrorKind.UNAVAILABLE, "refused", "not now")
    async with open_stage(Scene.ANSWER) as stage:
        await _passes_through(check, stage, recorder, recorder.start_error)
        expect(check, stage.requests() == 0, f"{stage.requests()} requests were sent")


async def an_end_that_cannot_be_recorded_ends_the_call(open_stage: OpenStage) -> None:
    """Nothing more is tried, and nothing completes, when the record of an attempt fails."""
    check = "an_end_that_cannot_be_recorded_ends_the_call"
    for scene in (Scene.OVERLOADED, Scene.ANSWER):
        recorder = WatchfulRecorder(check)
        recorder.finish_error = ClassifiedError(ErrorKind.UNAVAILABLE, "lost", "disk full")
        async with open_stage(scene) as stage:
            await _passes_through(check, stage, recorder, recorder.finish_error)
            expect(check, stage.requests() == 1, f"{stage.requests()} requests were sent")


async def _passes_through(
    check: str, stage: Stage, recorder: WatchfulRecorder, error: Exception
) -> None:
    stream = stage.executor.execute(a_request(stage), recorder)
    try:
        events = await read_to_the_end(check, stream, recorder)
    except ConformanceFailure:
        raise
    except Exception as raised:  # noqa: BLE001 - any other error than the expected one is told
        expect(check, raised is error, f"{raised!r} was raised instead of {error!r}")
    else:
        expect(check, False, f"the error of the recorder was lost; the call gave {events}")


CHECKS: tuple[Check, ...] = (
    a_failure_that_passes_is_tried_again,
    text_is_taken_back_before_it_is_shown_again,
    a_failure_that_lasts_is_not_tried_again,
    no_attempt_starts_on_a_budget_that_is_used_up,
    a_start_that_is_refused_sends_nothing,
    an_end_that_cannot_be_recorded_ends_the_call,
)
