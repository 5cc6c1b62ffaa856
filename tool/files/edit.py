"""The edit engine: exact replacements in the bytes of a text file, all of them or none.

Every `old` is looked up in the original content, never in what an earlier edit of the same list
produced, and must occur exactly once (overlapping occurrences count). Line ends do not matter for
matching: `old` may be written with LF whatever the file uses. Where lines change, the file's own
line ends, its byte order mark and every character that was not named stay as they are.

If no edit of a list matches exactly, whole lines are compared once more under a key that ignores
typography (see `fold`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from agentslot.tool.errors import ToolFailedError
from agentslot.tool.files.encoding import detect
from agentslot.tool.files.lines import rewrite, split_lines, to_lf
from agentslot.tool.files.match import COUNTED, FoldedLines, Span, exact_spans


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the one occurrence of `old` by `new`, both taken literally."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class _Placed:
    """An edit and the span of the original text that it replaces."""

    span: Span
    index: int
    edit: Edit


def edit_bytes(content: bytes, edits: Sequence[Edit]) -> bytes:
    """Apply all `edits` to the content of a file.

    Raises:
        ToolFailedError: nothing can be applied. Codes, in the order they are looked for:
            `not_text`, `old_empty`, `old_not_found`, `old_not_unique`, `edits_overlap`,
            `nothing_changed`.
    """
    encoding = detect(content)
    if encoding is None:
        raise ToolFailedError("not_text", "the file is binary; only text files can be edited")
    changed = encoding.from_utf8(_edit_text(encoding.to_utf8(content), edits))
    if changed == content:
        raise ToolFailedError(
            "nothing_changed", "the edits leave the file as it is; new_string must differ"
        )
    return changed


def _edit_text(text: bytes, edits: Sequence[Edit]) -> bytes:
    whole = memoryview(text)  # its slices are not copied before the join
    pieces: list[bytes | memoryview] = []
    position = 0
    for placed in _in_order(_place(text, edits), len(edits)):
        start, stop = placed.span
        old, new = placed.edit.old.encode(), placed.edit.new.encode()
        present = split_lines(text[start:stop])
        pieces += [whole[position:start], rewrite(present, old, new, _end_near(text, stop))]
        position = stop
    pieces.append(whole[position:])
    return b"".join(pieces)


def _place(text: bytes, edits: Sequence[Edit]) -> list[_Placed]:
    """Find the one span of each edit; the folded key helps only if no edit matches exactly."""
    for index, edit in enumerate(edits):
        if not edit.old:
            raise ToolFailedError(
                "old_empty",
                f"{_name(index, len(edits))}: old_string is empty; quote the text to replace "
                "(to fill or create a file, write the whole file)",
            )
    found = [list(exact_spans(text, to_lf(edit.old.encode()))) for edit in edits]
    if not any(found):
        folded = FoldedLines(text)
        found = [list(folded.spans(to_lf(edit.old.encode()))) for edit in edits]
    for index, spans in enumerate(found):
        _require_one(spans, _name(index, len(edits)))
    return [
        _Placed(spans[0], index, edit)
        for index, (spans, edit) in enumerate(zip(found, edits, strict=True))
    ]


def _require_one(spans: Sequence[Span], name: str) -> None:
    if not spans:
        raise ToolFailedError(
            "old_not_found",
            f"{name}: old_string does not occur in the file; read the file and quote its present "
            "text exactly, indentation included",
        )
    if len(spans) > 1:
        times = f"{len(spans)} times" if len(spans) < COUNTED else f"at least {COUNTED} times"
        raise ToolFailedError(
            "old_not_unique",
            f"{name}: old_string occurs {times}; add lines around it until it is unique",
        )


def _in_order(placed: list[_Placed], count: int) -> list[_Placed]:
    ordered = sorted(placed, key=lambda one: one.span)
    for before, after in pairwise(ordered):
        if before.span[1] > after.span[0]:
            first, second = sorted((before.index, after.index))
            raise ToolFailedError(
                "edits_overlap",
                f"{_name(first, count)} and {_name(second, count)} replace overlapping text; "
                "join them into one edit",
            )
    return ordered


def _end_near(text: bytes, position: int) -> bytes:
    """End of the line at `position`, else of the line before it, else LF."""
    newline = text.find(b"\n", position)
    if newline < 0:
        newline = text.rfind(b"\n", 0, position)
    return b"\r\n" if newline > 0 and text[newline - 1 : newline] == b"\r" else b"\n"


def _name(index: int, count: int) -> str:
    return "the edit" if count == 1 else f"edit {index + 1} of {count}"
