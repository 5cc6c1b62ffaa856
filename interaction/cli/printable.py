"""Foreign text that a terminal may be shown.

What a model or a tool wrote can hold sequences that move the cursor, rename the window or write the
clipboard. They are cut out; all other text stays as it is.
"""

import re

# CSI, then the strings (OSC, DCS, SOS, PM, APC) up to their terminator, then the short sequences.
_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"
    r"|\x1b(?:[ -/]+[0-~]|[0-OQ-WYZ\\`-~])"
)
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)\Z")

# Control characters, C1 ones included; marks that turn the direction of text; half surrogates.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

_LONGEST_HELD = 4096  # a sequence that is longer is taken for text


def printable(text: str) -> str:
    """`text` without escape sequences and control characters; line ends and tabs stay."""
    return _UNSAFE.sub("", _SEQUENCE.sub("", text))


class PrintableStream:
    """The same for text that comes in pieces: a sequence may begin in one and end in another."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """More printable text; what may be the start of a sequence waits for its end."""
        text = self._held + text
        end = max((match.end() for match in _SEQUENCE.finditer(text)), default=0)
        # What a sequence leaves behind it may begin another; what is before it never does.
        unfinished = _UNFINISHED.search(text, end)
        start = len(text) if unfinished is None else unfinished.start()
        if len(text) - start > _LONGEST_HELD:
            start = len(text)
        self._held = text[start:]
        return printable(text[:start])

    def rest(self) -> str:
        """The text is complete: what waited was no sequence."""
        held, self._held = self._held, ""
        return _UNSAFE.sub("", held)
