"""Server-sent events, sans I/O: bytes go in as they arrive, events come out as they complete.

Follows the WHATWG event-stream rules: lines end at LF, CR or CRLF and nowhere else, a leading byte
order mark is dropped, comments and unknown fields are ignored, an event that the end of the stream
cuts off is not delivered. `id` and `retry` are ignored on purpose: nothing here reconnects.
"""

from typing import TypeAlias

from agentslot._errors import AgentSlotError

MAX_EVENT_BYTES = 16 * 1024 * 1024

_USUAL = "message"
_BOM = b"\xef\xbb\xbf"


ServerSentEvent: TypeAlias = tuple[bytes, str]
"""One complete event: its data, where several lines are joined by a line feed, and its name.

A class of its own would cost more than cutting it out of the stream.
"""


class EventTooLargeError(AgentSlotError):
    """A line, or the data of one event, is longer than the decoder accepts.

    Attributes:
        max_bytes: The limit that was exceeded.
    """

    def __init__(self, max_bytes: int) -> None:
        super().__init__(f"the event stream has an event of more than {max_bytes} bytes")
        self.max_bytes = max_bytes


class SseDecoder:
    """Decodes one event stream.

    Cost is linear in the bytes fed, however they are cut. After an error the decoder is of no
    further use: close the connection.
    """

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_bytes = max_event_bytes
        self._at_start = True
        self._skip_line_feed = False
        self._partial: list[bytes] = []  # pieces of the line that is still open
        self._partial_bytes = 0
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._event = _USUAL

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Take the next bytes and return the events that they complete.

        Raises:
            EventTooLargeError: A line or an event exceeds the limit; raised before it is stored.
        """
        if self._at_start:
            chunk = self._strip_mark(chunk)
        if self._skip_line_feed and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._skip_line_feed = False
        if chunk.find(b"\r") >= 0:  # `in` would first try the bytes as an integer
            self._skip_line_feed = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = chunk.split(b"\n")
        rest = lines.pop()
        events = self._take(lines) if lines else []
        if rest:
            self._check(self._partial_bytes + len(rest))
            self._partial.append(rest)
            self._partial_bytes += len(rest)
        return events

    def close(self) -> bool:
        """End the stream; an unfinished event is discarded. Returns whether there was one."""
        unfinished = bool(self._partial or self._data)
        self._partial, self._data = [], []
        return unfinished

    def _strip_mark(self, chunk: bytes) -> bytes:
        chunk = b"".join(self._partial) + chunk
        self._partial, self._partial_bytes = [], 0
        if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
            self._partial = [chunk]
            return b""
        self._at_start = False
        return chunk.removeprefix(_BOM)

    def _take(self, lines: list[bytes]) -> list[ServerSentEvent]:
        if self._partial:
            self._check(self._partial_bytes + len(lines[0]))
            lines[0] = b"".join(self._partial) + lines[0]
            self._partial, self._partial_bytes = [], 0
        events: list[ServerSentEvent] = []
        for line in lines:
            if line.startswith(b"data:") or line == b"data":
                self._data_bytes += len(line)  # with the name, so that empty lines count
                if self._data_bytes > self._max_bytes:
                    raise EventTooLargeError(self._max_bytes)
                self._data.append(line[6:] if line.startswith(b"data: ") else line[5:])
            elif not line:
                if self._data:
                    events.append((b"\n".join(self._data), self._event))
                    self._data, self._data_bytes = [], 0
                self._event = _USUAL
            elif line.startswith(b"event:") or line == b"event":
                name = line[6:].removeprefix(b" ")
                self._event = name.decode("utf-8", "replace") or _USUAL
        return events

    def _check(self, size: int) -> None:
        if size > self._max_bytes:
            raise EventTooLargeError(self._max_bytes)
