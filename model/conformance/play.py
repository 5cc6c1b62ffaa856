"""Playing one logical call, with a recorder that watches over the order of things."""

from datetime import UTC, datetime

import anyio

from agentslot._conformance import ConformanceFailure, expect
from agentslot.model.conformance.scene import Stage
from agentslot.model.contract import (
    AttemptOutcome,
    Completed,
    Failed,
    ModelEvent,
    ModelRequest,
    ModelStream,
    Reset,
    TextDelta,
    TokenBudget,
)
from agentslot.model.streamcheck import StreamCheck, StreamViolation
from agentslot.model.transcript import Transcript
from agentslot.session import (
    AttemptId,
    AttemptStatus,
    Message,
    MessageId,
    Role,
    RunId,
    SessionId,
    StepId,
    TextPart,
    ToolDefinition,
)

_PING = ToolDefinition("ping", "Answers pong.", {"type": "object", "additionalProperties": False})
_MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def a_request(stage: Stage) -> ModelRequest:
    """A short conversation with one tool."""
    message = Message(MessageId("message-1"), Role.USER, (TextPart("Say hello."),), _MOMENT)
    return ModelRequest(
        SessionId("session-1"),
        RunId("run-1"),
        StepId("step-1"),
        stage.config,
        "Be brief.",
        Transcript([message]),
        (_PING,),
    )


class WatchfulRecorder:
    """An AttemptRecorder that fails the check when attempts are not recorded as they must be.

    Attributes:
        outcomes: the end of each attempt in the order of their starts; None while it runs.
        exhausted_after: how many ended attempts use the budget up; 0 none do.
        start_error: raised in place of every start.
        finish_error: raised by every end, after it was noted.
    """

    def __init__(self, check: str) -> None:
        self.outcomes: dict[AttemptId, AttemptOutcome | None] = {}
        self.exhausted_after = 0
        self.start_error: Exception | None = None
        self.finish_error: Exception | None = None
        self._check = check

    @property
    def ended(self) -> list[AttemptOutcome]:
        """The ends so far."""
        return [outcome for outcome in self.outcomes.values() if outcome is not None]

    async def started(self) -> AttemptId:
        """Record the start of an attempt; see AttemptRecorder."""
        if self.start_error is not None:
            raise self.start_error
        running = [key for key, outcome in self.outcomes.items() if outcome is None]
        expect(self._check, not running, "an attempt started before the last one had ended")
        attempt_id = AttemptId(f"attempt-{len(self.outcomes) + 1}")
        self.outcomes[attempt_id] = None
        return attempt_id

    async def finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        """Record the end of an attempt; see AttemptRecorder."""
        check = self._check
        expect(check, attempt_id in self.outcomes, "an attempt ended that never started")
        expect(check, self.outcomes[attempt_id] is None, "an attempt ended twice")
        self.outcomes[attempt_id] = outcome
        self._judge(outcome)
        if self.finish_error is not None:
            raise self.finish_error

    def budget(self) -> TokenBudget:
        """The Run's tokens now."""
        spent = bool(self.exhausted_after) and len(self.ended) >= self.exhausted_after
        return TokenBudget(limit=1, used=1 if spent else 0)

    def _judge(self, outcome: AttemptOutcome) -> None:
        check = self._check
        succeeded = outcome.status is AttemptStatus.SUCCEEDED
        expect(check, succeeded or bool(outcome.error_code), "a failed attempt has no error code")
        expect(
            check,
            outcome.error_message.isprintable() or not outcome.error_message,
            f"the recorded message is not safe to show: {outcome.error_message!r}",
        )
        usage = outcome.usage
        if usage is not None:
            parts = usage.cached_input <= usage.input and usage.reasoning <= usage.output
            whole = usage.total >= usage.input + usage.output
            expect(check, parts and whole, f"the token figures contradict each other: {usage}")


async def read_to_the_end(
    check: str, stream: ModelStream, recorder: WatchfulRecorder
) -> list[ModelEvent]:
    """All events, each in its place; the stream is closed, twice, and has no more."""
    events: list[ModelEvent] = []
    order = StreamCheck()
    try:
        while True:
            event = await stream.receive()
            _place(check, order, event)
            if isinstance(event, Completed | Failed):
                running = None in recorder.outcomes.values()
                expect(check, not running, "the terminal event came before its attempt's end")
            events.append(event)
    except anyio.EndOfStream:
        pass
    finally:
        with anyio.CancelScope(shield=True):
            await stream.aclose()
            await stream.aclose()
    terminal = bool(events) and isinstance(events[-1], Completed | Failed)
    expect(check, terminal, "the stream ended without a terminal event")
    return events


def _place(check: str, order: StreamCheck, event: ModelEvent) -> None:
    try:
        order.see(event)
    except StreamViolation as violation:
        raise ConformanceFailure(check, violation.message) from violation


async def play(
    check: str,
    stage: Stage,
    recorder: WatchfulRecorder | None = None,
    request: ModelRequest | None = None,
) -> tuple[list[ModelEvent], WatchfulRecorder]:
    """Carry out one call and check everything that holds for all of them."""
    recorder = recorder or WatchfulRecorder(check)
    stream = stage.executor.execute(request or a_request(stage), recorder)
    events = await read_to_the_end(check, stream, recorder)
    expect(check, None not in recorder.outcomes.values(), "an attempt never ended")
    expect(
        check,
        stage.requests() <= len(recorder.outcomes),
        f"{stage.requests()} requests were sent, {len(recorder.outcomes)} were recorded",
    )
    return events, recorder


def completed(check: str, events: list[ModelEvent]) -> Completed:
    """The completion that the events end with."""
    last = events[-1]
    if not isinstance(last, Completed):
        raise ConformanceFailure(check, f"the call should complete and ended with {last!r}")
    return last


def failed(check: str, events: list[ModelEvent]) -> Failed:
    """The failure that the events end with."""
    last = events[-1]
    if not isinstance(last, Failed):
        raise ConformanceFailure(check, f"the call should fail and ended with {last!r}")
    return last


def shown_at_the_end(events: list[ModelEvent]) -> str:
    """The text that stands when all resets are obeyed."""
    text = ""
    for event in events:
        if isinstance(event, TextDelta):
            text += event.text
        elif isinstance(event, Reset):
            text = ""
    return text
