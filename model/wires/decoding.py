"""What the decoders of all streaming wires have in common; see `agentslot.model.wire.Decoder`."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from agentslot.model.contract import FinishReason, ReasoningDelta, TextDelta
from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.model.wire import Answer, Delta
from agentslot.model.wires.body import Body, BodyReader, too_large
from agentslot.model.wires.reading import JsonObject
from agentslot.model.wires.repeated import Envelope
from agentslot.session import AttemptId, TokenUsage

MAX_OUTPUT_CHARACTERS = 16 * 1024 * 1024


class EventDecoder(ABC):
    """Decodes one answer event by event; a wire says what an event and the end of them mean.

    Attributes:
        done: whether the provider has said that nothing more comes.
        settled: whether nothing but figures such as the usage may still come before it is done.
        usage: what it has reported so far.
    """

    def __init__(
        self,
        attempt_id: AttemptId,
        max_output: int = MAX_OUTPUT_CHARACTERS,
        body: Body | None = None,
    ) -> None:
        """Decode the answer to one attempt.

        Args:
            attempt_id: the attempt.
            max_output: how many characters it may bring.
            body: what cuts it into events; None for server-sent events.
        """
        self.attempt_id = attempt_id
        self.done = False
        self.settled = False
        self.usage: TokenUsage | None = None
        self._max_output = max_output
        self._size = 0
        self._body = body or BodyReader(max_output)
        self._envelope = Envelope()
        self._deltas: list[Delta] = []
        self._failure: ModelError | None = None

    @property
    @abstractmethod
    def text(self) -> str:
        """The visible text so far."""

    def feed(self, chunk: bytes) -> Sequence[Delta]:
        """Take the next bytes and return what they show.

        Raises:
            ModelError: the provider reports a failure, or sends what is no answer.
        """
        events = self._body.feed(chunk)
        deltas = self._deltas = []
        try:
            for data, name in events:
                if self.done:
                    break
                if not self._envelope.takes(data, name):
                    self._take(data, name)
        except ModelError as error:
            if not deltas:
                raise
            self._failure = error  # what came before it is shown first, however the bytes were cut
            self.done = True
        return deltas

    def finish(self) -> Answer:
        """End the answer.

        Raises:
            ModelError: it ended early, is empty, or is none.
        """
        if self._failure is not None:
            raise self._failure
        if not self._body.is_stream:
            self._take_document(self._body.document())
        return self._answer()

    @abstractmethod
    def _take(self, data: bytes, name: str) -> None:
        """Take one event: its data and its name.

        Raises:
            ModelError: it reports a failure, or is no event of this wire.
        """

    @abstractmethod
    def _take_document(self, document: JsonObject) -> None:
        """Take the object that came instead of a stream; empty if nothing came at all.

        Raises:
            ModelError: it reports a failure.
        """

    @abstractmethod
    def _answer(self) -> Answer:
        """The answer out of what was taken.

        Raises:
            ModelError: it is not complete, or is none.
        """

    def _show_text(self, text: str) -> None:
        """More visible text has come."""
        if text:
            self._grow(len(text))
            self._deltas.append(TextDelta(self.attempt_id, text))

    def _show_thinking(self, text: str) -> None:
        """More visible thinking has come."""
        if text:
            self._grow(len(text))
            self._deltas.append(ReasoningDelta(self.attempt_id, text))

    def _grow(self, characters: int) -> None:
        """Count characters that are kept.

        Raises:
            ModelError: there are too many of them (`invalid_answer`).
        """
        self._size += characters
        if self._size > self._max_output:
            raise too_large(self._max_output)


def broken_off() -> ModelError:
    """The error of an answer that ended before the provider said so."""
    message = "the answer ended before it was complete"
    return ModelError(ModelErrorCode.BROKEN_STREAM, message, retryable=True)


def empty_answer(finish: FinishReason) -> ModelError:
    """The error of an answer with neither text nor calls."""
    if finish is FinishReason.REFUSAL:
        message = "the provider's content filter held the answer back"
        return ModelError(ModelErrorCode.REFUSED, message)
    if finish is FinishReason.LENGTH:
        message = "the output limit was reached before any text: raise max_tokens"
    else:
        message = "the model gave an empty answer"
    return ModelError(ModelErrorCode.EMPTY_ANSWER, message)
