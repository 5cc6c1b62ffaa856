"""Reading the body of an answer: a stream of events, one object a line, or one JSON document."""

from collections.abc import Sequence
from typing import Protocol

from agentslot._json import JsonError, loads
from agentslot._sse import EventTooLargeError, ServerSentEvent, SseDecoder
from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.model.vendorerrors import VendorError, classify
from agentslot.model.wires.reading import JsonObject


class Body(Protocol):
    """Cuts the body of an answer into events, however its bytes are cut.

    Attributes:
        is_stream: whether it holds nothing but events.
    """

    is_stream: bool

    @property
    def rest(self) -> bytes:
        """What is no event, as it came."""
        ...

    def feed(self, chunk: bytes) -> Sequence[ServerSentEvent]:
        """Take the next bytes and return the events that they complete.

        Raises:
            ModelError: too large (`invalid_answer`).
        """
        ...

    def document(self) -> JsonObject:
        """What is no event as one object; empty if there is nothing.

        Raises:
            ModelError: it is no JSON object (`invalid_answer`).
        """
        ...


class BodyReader:
    """Tells a stream from a document, and cuts a stream into events; see `Body`."""

    def __init__(self, max_document_bytes: int) -> None:
        self._max_bytes = max_document_bytes
        self._sse = SseDecoder()
        self._document = bytearray()  # the whole body, until it turns out to be a stream
        self.is_stream = False

    @property
    def rest(self) -> bytes:
        """The document, if it is one."""
        return bytes(self._document)

    def feed(self, chunk: bytes) -> Sequence[ServerSentEvent]:
        """Take the next bytes and return the events that they complete; none of a document."""
        if not self.is_stream:
            chunk = self._detect(chunk)
        try:
            return self._sse.feed(chunk)
        except EventTooLargeError as error:
            raise ModelError(ModelErrorCode.INVALID_ANSWER, str(error)) from error

    def document(self) -> JsonObject:
        """The whole body as one object; empty if it is a stream, or nothing at all."""
        return parse_object(self.rest) if self._document else {}

    def _detect(self, chunk: bytes) -> bytes:
        """Keep the bytes of a document, which begins with a brace: no line of a stream does."""
        self._document += chunk if self._document else chunk.lstrip()
        if self._document.startswith(b"<"):
            raise _web_page()
        if not self._document or self._document.startswith(b"{"):
            if len(self._document) > self._max_bytes:
                raise too_large(self._max_bytes)
            return b""
        self.is_stream = True
        chunk = bytes(self._document)
        self._document.clear()
        return chunk


class LineReader:
    """Cuts a body of one JSON object a line into events; see `Body`.

    Lines end at a line feed and nowhere else. The last one may go without, as does the only one of
    a server that does not stream.
    """

    def __init__(self, max_line_bytes: int) -> None:
        self._max_bytes = max_line_bytes
        self._pieces: list[bytes] = []  # of the line that is still open
        self._size = 0
        self.is_stream = False

    @property
    def rest(self) -> bytes:
        """The line without an end."""
        return b"".join(self._pieces)

    def feed(self, chunk: bytes) -> Sequence[ServerSentEvent]:
        """Take the next bytes and return the lines that they complete."""
        *ended, rest = chunk.split(b"\n")
        if ended:
            ended[0] = self.rest + ended[0]
            self._pieces, self._size = [], 0
        self._pieces.append(rest)
        self._size += len(rest)
        if max(self._size, *map(len, ended), 0) > self._max_bytes:
            raise too_large(self._max_bytes)
        return [(line, "") for line in ended]

    def document(self) -> JsonObject:
        """The line without an end; empty if it is cut off, for the missing end says so already."""
        try:
            return parse_object(self.rest)
        except ModelError:
            return {}


def parse_object(data: bytes, name: str = "") -> JsonObject:
    """Read the JSON object of an event or a document.

    Args:
        data: what holds it, and nothing else.
        name: name of the event; one that is called an error may hold plain words.

    Raises:
        ModelError: it is none (`invalid_answer`), or the error that the words tell of.
    """
    try:
        value = loads(data)
    except JsonError as error:
        raise _no_object(data, name, f"what cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise _no_object(data, name, "JSON that is no object")
    return value


def _no_object(data: bytes, name: str, what: str) -> ModelError:
    if name == "error":
        words = data.decode(errors="replace")
        return classify(VendorError(status=0, message=words))
    if data.lstrip().startswith(b"<"):
        return _web_page()
    return ModelError(ModelErrorCode.INVALID_ANSWER, f"the provider sent {what}")


def _web_page() -> ModelError:
    """The error of an answer of somebody who is asked for pages, such as a proxy or the vendor."""
    message = "the server sent a web page, and no answer of a model: check base_url"
    return ModelError(ModelErrorCode.INVALID_ANSWER, message)


def too_large(max_size: int) -> ModelError:
    """The error of an answer beyond its bounds."""
    message = f"the answer is larger than {max_size / 1024 / 1024:g} MiB"
    return ModelError(ModelErrorCode.INVALID_ANSWER, message)
