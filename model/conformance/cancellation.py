"""Checks of calls that are cancelled: the attempt is recorded, and nothing goes on."""

from collections.abc import Callable
from functools import partial

import anyio
import anyio.lowlevel

from agentslot._conformance import expect
from agentslot.model.conformance.play import WatchfulRecorder, a_request, read_to_the_end
from agentslot.model.conformance.scene import Check, OpenStage, Scene
from agentslot.model.contract import ModelStream, TextDelta
from agentslot.session import AttemptStatus


async def a_call_is_cancelled_while_its_request_is_sent(open_stage: OpenStage) -> None:
    """Before the head of an answer has come."""
    check = "a_call_is_cancelled_while_its_request_is_sent"
    async with open_stage(Scene.SILENT) as stage:
        recorder = WatchfulRecorder(check)
        stream = stage.executor.execute(a_request(stage), recorder)
        await _cancelled(check, stream, recorder, until=lambda: stage.requests() == 1)
        _expect_canceled(check, recorder)


async def a_call_is_cancelled_while_its_answer_arrives(open_stage: OpenStage) -> None:
    """After some of the text was shown."""
    check = "a_call_is_cancelled_while_its_answer_arrives"
    async with open_stage(Scene.SILENT_AFTER_TEXT) as stage:
        recorder = WatchfulRecorder(check)
        stream = stage.executor.execute(a_request(stage), recorder)
        event = await stream.receive()
        expect(check, isinstance(event, TextDelta), f"the first event is {event!r}")
        await _cancelled(check, stream, recorder, until=lambda: True)
        _expect_canceled(check, recorder)


async def a_call_is_cancelled_while_it_waits_to_try_again(open_stage: OpenStage) -> None:
    """The attempt before has ended already; no other one follows."""
    check = "a_call_is_cancelled_while_it_waits_to_try_again"
    async with open_stage(Scene.WAIT, Scene.ANSWER) as stage:
        recorder = WatchfulRecorder(check)
        stream = stage.executor.execute(a_request(stage), recorder)
        await _cancelled(check, stream, recorder, until=lambda: bool(recorder.ended))
        expect(check, stage.requests() == 1, f"{stage.requests()} requests were sent")
    statuses = [outcome.status for outcome in recorder.ended]
    expect(check, statuses == [AttemptStatus.FAILED], f"the attempts are {statuses}")


async def calls_at_the_same_time_do_not_disturb_each_other(open_stage: OpenStage) -> None:
    """One is left in the middle, the other one completes."""
    check = "calls_at_the_same_time_do_not_disturb_each_other"
    async with open_stage(Scene.SILENT_AFTER_TEXT, Scene.ANSWER) as stage:
        left, kept = WatchfulRecorder(check), WatchfulRecorder(check)
        stream = stage.executor.execute(a_request(stage), left)
        await stream.receive()
        other = stage.executor.execute(a_request(stage), kept)
        await read_to_the_end(check, other, kept)
        await stream.aclose()
    statuses = [outcome.status for outcome in (*left.ended, *kept.ended)]
    expected = [AttemptStatus.CANCELED, AttemptStatus.SUCCEEDED]
    expect(check, statuses == expected, f"the attempts are {statuses}")


async def _cancelled(
    check: str, stream: ModelStream, recorder: WatchfulRecorder, until: Callable[[], bool]
) -> None:
    """Read the stream in a task, cancel it when `until` holds, and wait for the end."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(read_to_the_end, check, stream, recorder))
        await anyio.lowlevel.checkpoint()
        while not until():
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()


def _expect_canceled(check: str, recorder: WatchfulRecorder) -> None:
    expect(check, None not in recorder.outcomes.values(), "the attempt never ended")
    statuses = [outcome.status for outcome in recorder.ended]
    expect(check, statuses == [AttemptStatus.CANCELED], f"the attempts are {statuses}")


CHECKS: tuple[Check, ...] = (
    a_call_is_cancelled_while_its_request_is_sent,
    a_call_is_cancelled_while_its_answer_arrives,
    a_call_is_cancelled_while_it_waits_to_try_again,
    calls_at_the_same_time_do_not_disturb_each_other,
)
