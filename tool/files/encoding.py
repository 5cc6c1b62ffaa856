"""How the bytes of a text file stand for characters: UTF-8, or UTF-16 with its mark."""

import codecs
from dataclasses import dataclass

from agentslot.tool.errors import ToolFailedError

PROBE_BYTES = 8192
"""How much of a file's beginning decides whether it is text."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """A codec and the byte order mark that a file began with (often none)."""

    name: str
    mark: bytes = b""

    def to_utf8(self, content: bytes) -> bytes:
        """Content of a whole file as UTF-8 without the mark; what is no valid UTF-8 is kept.

        Raises:
            ToolFailedError: `not_text` for broken UTF-16.
        """
        marked = content[len(self.mark) :]
        if self.name == "utf-8":
            return marked
        try:
            return marked.decode(self.name).encode()
        except UnicodeDecodeError as error:
            message = f"the file begins like {self.name} text but is broken at byte {error.start}"
            raise ToolFailedError("not_text", message) from error

    def from_utf8(self, text: bytes) -> bytes:
        """The inverse of `to_utf8`, mark included."""
        return self.mark + (text if self.name == "utf-8" else text.decode().encode(self.name))


UTF_8 = Encoding("utf-8")

_MARKED = (
    Encoding("utf-8", codecs.BOM_UTF8),
    Encoding("utf-16-le", codecs.BOM_UTF16_LE),
    Encoding("utf-16-be", codecs.BOM_UTF16_BE),
)


def detect(head: bytes) -> Encoding | None:
    """Encoding of the file that begins with `head`; None if it is binary (has a NUL byte)."""
    for encoding in _MARKED:
        if head.startswith(encoding.mark):
            return encoding
    return None if b"\0" in head[:PROBE_BYTES] else UTF_8
