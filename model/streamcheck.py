"""The order of events that every model stream must keep."""

import anyio

from agentslot._json import JsonError, loads
from agentslot.model.contract import (
    Completed,
    Completion,
    Failed,
    ModelEvent,
    ModelStream,
    ReasoningDelta,
    Reset,
    TextDelta,
)
from agentslot.session import (
    AttachmentPart,
    AttemptId,
    ClassifiedError,
    ErrorKind,
    ReasoningPart,
    TextPart,
    is_identity,
)


class StreamViolation(ClassifiedError):  # noqa: N818 - named after what happened
    """An executor broke the order of events; nothing of its answer becomes durable."""

    def __init__(self, what: str) -> None:
        super().__init__(ErrorKind.INTERNAL, "model_stream_invalid", f"model stream: {what}")


class StreamCheck:
    """Follows one stream.

    The first delta fixes the attempt; another attempt may show text only after a Reset of the
    first; a completion belongs to the attempt that is showing; a failure leaves nothing showing.
    """

    def __init__(self) -> None:
        self._showing: AttemptId | None = None
        self._ended = False

    def see(self, event: ModelEvent) -> None:
        """Take the next event in.

        Raises:
            StreamViolation: it may not come now.
        """
        if self._ended:
            raise StreamViolation("an event came after the terminal one")
        if isinstance(event, (TextDelta, ReasoningDelta)):
            if self._showing is None:
                _require_attempt(event.attempt_id)
                self._showing = event.attempt_id
            elif self._showing != event.attempt_id:
                raise StreamViolation("another attempt showed text without a reset")
            return
        match event:
            case Reset(attempt_id):
                _require_attempt(attempt_id)
                if self._showing is not None and self._showing != attempt_id:
                    raise StreamViolation("a reset named an attempt that shows nothing")
                self._showing = None
            case Completed(attempt_id, completion):
                _require_attempt(attempt_id)
                if self._showing is not None and self._showing != attempt_id:
                    raise StreamViolation("an attempt completed while another one was showing")
                _check_types(completion)
                if not completion.parts and not completion.calls:
                    raise StreamViolation("the answer has neither parts nor calls")
                self._ended = True
            case Failed():
                if self._showing is not None:
                    raise StreamViolation("it failed while text was showing; reset first")
                self._ended = True


async def require_end(stream: ModelStream) -> None:
    """See to it that nothing comes after the terminal event.

    Raises:
        StreamViolation: something does.
    """
    try:
        event = await stream.receive()
    except anyio.EndOfStream:
        return
    raise StreamViolation(f"after the terminal event came a {type(event).__name__}")


def _require_attempt(attempt_id: object) -> None:
    if not isinstance(attempt_id, str) or not is_identity(attempt_id):
        raise StreamViolation(f"an event names no attempt, but {attempt_id!r}")


def _check_types(completion: Completion) -> None:
    """Refuse what untyped code may have put into an answer, before anything relies on it."""
    for part in completion.parts:
        if not isinstance(part, (TextPart, ReasoningPart, AttachmentPart)):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped code
            raise StreamViolation(f"a part of the answer is of type {type(part).__name__}")
        if not isinstance(part, AttachmentPart):
            _require_text(f"the text of a {type(part).__name__}", part.text)
    for call in completion.calls:
        _require_text("the token of a tool call", call.correlation_id)
        _require_text("the name of a tool call", call.name)
        _require_text("what stands for the arguments of a tool call", call.arguments)
    if completion.continuation is not None:
        _require_text("the continuation", completion.continuation)
        try:
            loads(completion.continuation)
        except JsonError as error:
            raise StreamViolation(
                f"the continuation is no JSON value: {error.reason} at {error.path}"
            ) from error


def _require_text(what: str, text: object) -> None:
    if not isinstance(text, str):
        raise StreamViolation(f"{what} is no text but of type {type(text).__name__}")
