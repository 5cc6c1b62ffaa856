"""How the bytes of a text file stand for characters: UTF-8, or UTF-16 with its mark."""

import codecs
from dataclasses import dataclass

from agentslot.tool.errors import ToolFailedError

PROBE_BYTES = 8192
"""How much of a file's beginning decides whether it is text."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """A codec and the byte order mark that a file began with (often none).

    Bytes that are no valid UTF-8 travel through `decode` and `encode` unchanged, so that an edit
    of one line leaves a stray Latin-1 character elsewhere as it was.
    """

    name: str
    mark: bytes = b""

    def decode(self, content: bytes) -> str:
        """Text of a whole file, without the mark."""
        errors = "surrogateescape" if self.name == "utf-8" else "strict"
        try:
            return content[len(self.mark) :].decode(self.name, errors)
        except UnicodeDecodeError as error:
            message = f"the file begins like {self.name} text but is broken at byte {error.start}"
            raise ToolFailedError("not_text", message) from error

    def encode(self, text: str) -> bytes:
        """The inverse of `decode`, mark included."""
        errors = "surrogateescape" if self.name == "utf-8" else "strict"
        return self.mark + text.encode(self.name, errors)


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
