"""The referee of `model.middleware/v1`: what stands around calls and leaves them calls.

```python
from agentslot.model.conformance import MODEL_MIDDLEWARE_SUITE

async def test_mine_is_a_model_middleware() -> None:
    await MODEL_MIDDLEWARE_SUITE.check(MyMiddleware)
```

It stands alone before a provider `conformance`, which has every model that it may ask for. Whether
it goes on or answers itself is its own business.
"""

from collections.abc import Callable, Sequence

import anyio
import anyio.lowlevel

from agentslot._conformance import ConformanceFailure, Suite, check, demand
from agentslot.model.conformance.play import (
    WatchfulRecorder,
    a_request,
    play,
    read_to_the_end,
)
from agentslot.model.conformance.player import (
    BREAKS_AND_GOES_ON,
    CALLS,
    FAILS,
    REMEMBERS,
    SAYS,
    SHOWS_AND_FAILS,
    Player,
    Sent,
    waits,
    waits_after_text,
)
from agentslot.model.conformance.scene import Stage
from agentslot.model.contract import Completed, ModelStream
from agentslot.model.executor import ProviderExecutor
from agentslot.model.extension import ModelMiddleware
from agentslot.model.testing import Script
from agentslot.session import AttemptId, AttemptStatus, ClassifiedError, ErrorKind, ModelConfig

MakeMiddleware = Callable[[], ModelMiddleware]

FIRST_EVENT_SECONDS = 5.0
"""Longest time from a text of the provider to an event."""

_ASKED = ModelConfig("conformance", "asked-for")
_CHECK = "model.middleware"  # stands for the check that is running, which puts in its own name


def _staged(make: MakeMiddleware, *scripts: Script) -> tuple[Stage, Player]:
    player = Player(scripts)
    executor = ProviderExecutor({_ASKED.provider: player}, [make()])
    return Stage(executor, _ASKED, lambda: len(player.sent)), player


def _begin(stage: Stage, recorder: WatchfulRecorder) -> ModelStream:
    return stage.executor.execute(a_request(stage), recorder)


@check
async def nothing_is_sent_before_the_stream_is_read(make: MakeMiddleware) -> None:
    """To begin a call has no effect, and a stream that is closed unread never had one."""
    stage, player = _staged(make, SAYS)
    recorder = WatchfulRecorder(_CHECK)
    stream = _begin(stage, recorder)
    await stream.aclose()
    await stream.aclose()
    demand(not player.sent, "a call whose stream nobody read was sent")
    demand(not recorder.outcomes, "a call whose stream nobody read was recorded")


@check
async def every_call_comes_to_one_end(make: MakeMiddleware) -> None:
    """Answers, calls of tools and failures: one terminal event, behind the end of each attempt."""
    for script in (SAYS, CALLS, FAILS):
        await play(_CHECK, _staged(make, script)[0])


@check
async def text_that_is_void_is_taken_back(make: MakeMiddleware) -> None:
    """Before an attempt shows its own, and before a failure."""
    for scripts in ((BREAKS_AND_GOES_ON, SAYS), (SHOWS_AND_FAILS,), (SHOWS_AND_FAILS, SAYS)):
        await play(_CHECK, _staged(make, *scripts)[0])


@check
async def an_answer_is_handed_on_as_it_comes(make: MakeMiddleware) -> None:
    """The first event does not wait for the last one."""
    stage, _ = _staged(make, waits_after_text())
    stream = _begin(stage, WatchfulRecorder(_CHECK))
    shown = await _shows_something(stream)
    await stream.aclose()
    demand(shown, "text was there, and nothing was shown")


async def _shows_something(stream: ModelStream) -> bool:
    with anyio.move_on_after(FIRST_EVENT_SECONDS) as limit:
        await stream.receive()
    return not limit.cancelled_caught


@check
async def a_start_that_is_refused_sends_nothing(make: MakeMiddleware) -> None:
    """What the recorder raises passes through, and is not tried again."""
    stage, player = _staged(make, SAYS)
    recorder = _Refusing(_CHECK)
    recorder.start_error = _lost("the attempt may not start")
    raised = await _raised(stage, recorder)
    demand(not player.sent, "what may not start was sent")
    wanted = recorder.start_error if recorder.starts else None
    demand(raised is wanted, f"{raised!r} was raised in place of {wanted!r}")
    demand(recorder.starts <= 1, f"it tried to start {recorder.starts} times")


@check
async def an_end_that_cannot_be_recorded_ends_the_call(make: MakeMiddleware) -> None:
    """What the recorder raises passes through, and nothing else is tried."""
    for script in (SAYS, FAILS):
        stage, player = _staged(make, script)
        recorder = WatchfulRecorder(_CHECK)
        recorder.finish_error = _lost("the disk is full")
        raised = await _raised(stage, recorder)
        wanted = recorder.finish_error if recorder.ended else None
        demand(raised is wanted, f"{raised!r} was raised in place of {wanted!r}")
        demand(len(player.sent) <= 1, f"{len(player.sent)} requests were sent")


@check
async def no_attempt_starts_on_a_budget_that_is_used_up(make: MakeMiddleware) -> None:
    """Who tries again, or somebody else, asks for the budget before."""
    stage, player = _staged(make, FAILS, SAYS)
    recorder = WatchfulRecorder(_CHECK)
    recorder.exhausted_after = 1
    await play(_CHECK, stage, recorder)
    demand(len(player.sent) <= 1, "a request was sent on a budget that was used up")


@check
async def who_answers_instead_is_named(make: MakeMiddleware) -> None:
    """In `served_model`; what another model wants back goes to nobody else."""
    for scripts in ((REMEMBERS,), (FAILS, REMEMBERS)):
        stage, player = _staged(make, *scripts)
        events, recorder = await play(_CHECK, stage)
        configs = {sent.attempt_id: sent.request.config for sent in player.sent}
        others = {attempt_id: asked for attempt_id, asked in configs.items() if asked != _ASKED}
        for attempt_id, asked in others.items():
            outcome = recorder.outcomes[attempt_id]
            name, served = f"{asked.provider}/{asked.model}", outcome and outcome.served_model
            demand(served == name, f"{name} was asked, and {served!r} is recorded")
        last = events[-1]
        if isinstance(last, Completed) and last.attempt_id in others:
            kept = last.completion.continuation is not None
            demand(not kept, "what another model wants back is kept for the one that was asked for")


@check
async def a_call_that_is_cancelled_ends(make: MakeMiddleware) -> None:
    """Before anything has come and in the middle: what was sent is recorded as canceled."""
    for script in (waits(), waits_after_text()):
        stage, player = _staged(make, script)
        recorder = WatchfulRecorder(_CHECK)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read_to_the_end, _CHECK, _begin(stage, recorder), recorder)
            await anyio.lowlevel.checkpoint()
            while not (player.sent or recorder.ended):
                await anyio.lowlevel.checkpoint()
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
        _demand_canceled(player.sent, recorder)


@check
async def calls_at_the_same_time_do_not_disturb_each_other(make: MakeMiddleware) -> None:
    """One is left in the middle, the other one comes to its end."""
    stage, player = _staged(make, waits_after_text(), SAYS)
    left, kept = WatchfulRecorder(_CHECK), WatchfulRecorder(_CHECK)
    stream = _begin(stage, left)
    await _shows_something(stream)
    sent = tuple(player.sent)
    await read_to_the_end(_CHECK, _begin(stage, kept), kept)
    await stream.aclose()
    _demand_canceled(sent, left)


def _demand_canceled(sent: Sequence[Sent], recorder: WatchfulRecorder) -> None:
    for attempt_id in (each.attempt_id for each in sent):
        outcome = recorder.outcomes[attempt_id]
        status = "without an end" if outcome is None else outcome.status
        canceled = status is AttemptStatus.CANCELED
        demand(canceled, f"a request that was left is recorded as {status}")


class _Refusing(WatchfulRecorder):
    """Counts the starts that it refuses."""

    starts = 0

    async def started(self) -> AttemptId:
        self.starts += 1
        return await super().started()


def _lost(why: str) -> ClassifiedError:
    return ClassifiedError(ErrorKind.UNAVAILABLE, "refused", why)


async def _raised(stage: Stage, recorder: WatchfulRecorder) -> Exception | None:
    """What a call raises."""
    try:
        await read_to_the_end(_CHECK, _begin(stage, recorder), recorder)
    except ConformanceFailure:
        raise
    except Exception as error:  # noqa: BLE001 - whichever it is, the check judges it
        return error
    return None


MODEL_MIDDLEWARE_SUITE: Suite[MakeMiddleware] = Suite(
    "model.middleware/v1",
    (
        nothing_is_sent_before_the_stream_is_read,
        every_call_comes_to_one_end,
        text_that_is_void_is_taken_back,
        an_answer_is_handed_on_as_it_comes,
        a_start_that_is_refused_sends_nothing,
        an_end_that_cannot_be_recorded_ends_the_call,
        no_attempt_starts_on_a_budget_that_is_used_up,
        who_answers_instead_is_named,
        a_call_that_is_cancelled_ends,
        calls_at_the_same_time_do_not_disturb_each_other,
    ),
)
