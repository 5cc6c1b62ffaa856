"""Output of a command in bounded memory, and as text that is safe to show."""

import codecs
import re
from collections.abc import Callable

DEFAULT_CAPACITY = 50 * 1024
"""Bytes of output that are kept in memory and shown at most."""

_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # OSC, DCS and the like: titles, links
    r"|[ -/]*[0-~])"
)
_CONTROL = dict.fromkeys([*range(9), 11, 12, *range(14, 32), *range(127, 160)])


class RollingOutput:
    """Keeps the first and the last bytes of a stream; what lies between is counted and dropped.

    Memory stays below twice the capacity and one chunk, whatever is written.
    """

    def __init__(self, capacity: int) -> None:
        self._head_size = capacity // 5  # the end of an output says most about how it ended
        self._tail_size = capacity - self._head_size
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0
        """Bytes written so far."""

    def write(self, chunk: bytes) -> None:
        """Take the next bytes of the stream."""
        self.total += len(chunk)
        missing = self._head_size - len(self._head)
        if missing > 0:
            self._head += chunk[:missing]
            chunk = chunk[missing:]
        self._tail += chunk[-self._tail_size :]
        del self._tail[: -self._tail_size]

    def whole(self) -> bytes | None:
        """Everything that was written; None if it was more than the capacity."""
        kept = bytes(self._head + self._tail)
        return kept if len(kept) == self.total else None

    def text(self, most: int | None = None, where: Callable[[int], str] | None = None) -> str:
        """What was kept, as `readable` text; a line in brackets says how much is missing.

        Args:
            most: keep at most so many bytes, fewer than the capacity.
            where: says in that line how to get at what is missing from a byte on.
        """
        head_size = self._head_size if most is None else min(most // 5, self._head_size)
        tail_size = self._tail_size if most is None else min(most - head_size, self._tail_size)
        kept = bytes(self._head + self._tail)
        if self.total <= head_size + tail_size:
            return readable(kept)
        head = whole_lines(bytes(self._head[:head_size]))
        tail = _whole_lines_at_end(kept[len(kept) - tail_size :])
        missing = self.total - len(head) - len(tail)
        hint = where(len(head)) if where is not None else ""
        note = f"[… {missing} of {self.total} bytes left out{hint and f'; {hint}'} …]"
        return "\n".join(filter(None, [readable(head).rstrip("\n"), note, readable(tail)]))


def readable(output: bytes) -> str:
    """Text of what a program wrote for a terminal.

    Bytes that are no UTF-8 become U+FFFD; escape sequences and control characters are removed. Of
    a line that was overwritten after a carriage return, the last state is kept.
    """
    text = _ESCAPE.sub("", output.decode("utf-8", "replace")).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(map(_last_state, text.split("\n")))
    return text.translate(_CONTROL)


def _last_state(line: str) -> str:
    return next((state for state in reversed(line.split("\r")) if state), "")


def whole_lines(head: bytes) -> bytes:
    """Cut a piece of output after the last line end, or at least not within a character."""
    end = head.rfind(b"\n") + 1
    if end:
        return head[:end]
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(head)
    pending, _ = decoder.getstate()
    return head[: len(head) - len(pending)]


def _whole_lines_at_end(tail: bytes) -> bytes:
    """Cut after the first line end, unless that drops half of it; never within a character."""
    end = tail.find(b"\n") + 1
    if 0 < end <= len(tail) // 2:
        return tail[end:]
    start = next((i for i, byte in enumerate(tail[:4]) if byte & 0xC0 != 0x80), 0)
    return tail[start:]
