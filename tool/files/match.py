"""Where a quoted text stands in a file: exactly, or as whole lines under the folded key.

Text is UTF-8. Line ends never matter: a needle has LF ends and matches CRLF as well.
"""

import re
from collections.abc import Iterator

from agentslot.tool.files.fold import fold
from agentslot.tool.files.lines import line_end, split_lines

Span = tuple[int, int]
"""Start and stop of a match, as offsets into the text."""

COUNTED = 100
"""Occurrences beyond this many are not looked for: the answer would be the same."""

_ENDS = re.compile(rb"([\r\n])")
_SPECIAL = {b"\n": rb"(?:\r\n|(?<!\r)\n)", b"\r": rb"\r(?!\n)"}


def exact_spans(text: bytes, needle: bytes) -> Iterator[Span]:
    """Every occurrence of `needle`, overlapping ones too, at most COUNTED."""
    if b"\r" not in text:
        return _literal_spans(text, needle)
    pieces = (_SPECIAL.get(piece) or re.escape(piece) for piece in _ENDS.split(needle))
    return _pattern_spans(text, b"".join(pieces))


def _literal_spans(text: bytes, needle: bytes) -> Iterator[Span]:
    start = -1
    for _ in range(COUNTED):
        start = text.find(needle, start + 1)
        if start < 0:
            return
        yield start, start + len(needle)


def _pattern_spans(text: bytes, pattern: bytes) -> Iterator[Span]:
    compiled = re.compile(pattern)
    start = -1
    for _ in range(COUNTED):
        match = compiled.search(text, start + 1)
        if match is None:
            return
        start = match.start()
        yield match.span()


class FoldedLines:
    """The lines of a text by their folded keys."""

    def __init__(self, text: bytes) -> None:
        self._lines = split_lines(text)
        self._keys = [_key(line) for line in self._lines]
        self._offsets = [0]
        for line in self._lines:
            self._offsets.append(self._offsets[-1] + len(line))

    def spans(self, needle: bytes) -> Iterator[Span]:
        """Every run of whole lines that equals the lines of `needle` under the key.

        The last line end belongs to the span only if the needle has one. A needle of blank lines
        matches nothing.
        """
        wanted = [_key(line) for line in split_lines(needle)]
        if not any(key.strip() for key in wanted):
            return
        for first in range(len(self._keys) - len(wanted) + 1):
            stop = first + len(wanted)
            if self._keys[first] == wanted[0] and self._keys[first:stop] == wanted:
                kept_end = 0 if needle.endswith(b"\n") else len(line_end(self._lines[stop - 1]))
                yield self._offsets[first], self._offsets[stop] - kept_end


def _key(line: bytes) -> str:
    return fold(line.decode("utf-8", "surrogateescape"))
