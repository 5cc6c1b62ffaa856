"""Reading the body of an answer: a stream of events, or one JSON document."""

from collections.abc import Sequence

from agentslot._json import JsonError, loads
from agentslot._sse import EventTooLargeError, ServerSentEvent, SseDecoder
from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.model.wires.reading import JsonObject


class BodyReader:
    """Tells a stream from a document, and cuts a stream into events.

    Attributes:
        is_stream: whether the body has turned out to be a stream.
    """

    def __init__(self, max_document_bytes: int) -> None:
        self._max_bytes = max_document_bytes
        self._sse = SseDecoder()
        self._document = bytearray()  # the whole body, until it turns out to be a stream
        self.is_stream = False

    def feed(self, chunk: bytes) -> Sequence[ServerSentEvent]:
        """Take the next bytes and return the events that they complete; none of a document.

        Raises:
            ModelError: too large (`invalid_answer`).
        """
        if not self.is_stream:
            chunk = self._detect(chunk)
        try:
            return self._sse.feed(chunk)
        except EventTooLargeError as error:
            raise ModelError(ModelErrorCode.INVALID_ANSWER, str(error)) from error

    def document(self) -> JsonObject:
        """The whole body as one object; empty if it is a stream, or nothing at all.

        Raises:
            ModelError: it is no JSON object (`invalid_answer`).
        """
        return parse_object(bytes(self._document)) if self._document else {}

    def _detect(self, chunk: bytes) -> bytes:
        """Keep the bytes of a document, which begins with a brace: no line of a stream does."""
        self._document += chunk if self._document else chunk.lstrip()
        if not self._document or self._document.startswith(b"{"):
            if len(self._document) > self._max_bytes:
                raise too_large(self._max_bytes)
            return b""
        self.is_stream = True
        chunk = bytes(self._document)
        self._document.clear()
        return chunk


def parse_object(data: bytes) -> JsonObject:
    """Read the JSON object of an event or a document.

    Raises:
        ModelError: it is none (`invalid_answer`).
    """
    try:
        value = loads(data)
    except JsonError as error:
        message = f"the provider sent what cannot be read: {error}"
        raise ModelError(ModelErrorCode.INVALID_ANSWER, message) from error
    if not isinstance(value, dict):
        message = "the provider sent JSON that is no object"
        raise ModelError(ModelErrorCode.INVALID_ANSWER, message)
    return value


def too_large(max_size: int) -> ModelError:
    """The error of an answer beyond its bounds."""
    message = f"the answer is larger than {max_size / 1024 / 1024:g} MiB"
    return ModelError(ModelErrorCode.INVALID_ANSWER, message)
