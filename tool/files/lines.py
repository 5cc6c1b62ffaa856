"""Rewriting a stretch of lines so that whatever did not change keeps its exact bytes.

Text is UTF-8 here, and only LF ends a line; a CR before it is a part of that end.
"""

from collections.abc import Sequence
from difflib import SequenceMatcher


def split_lines(text: bytes) -> list[bytes]:
    """Lines of `text` with their ends."""
    lines = text.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def line_end(line: bytes) -> bytes:
    """Return the end of one line: CRLF, LF, or nothing."""
    if line.endswith(b"\r\n"):
        return b"\r\n"
    return b"\n" if line.endswith(b"\n") else b""


def to_lf(text: bytes) -> bytes:
    """`text` with every CRLF turned into LF."""
    return text.replace(b"\r\n", b"\n")


def rewrite(present: Sequence[bytes], old: bytes, new: bytes, default_end: bytes) -> bytes:
    """Text that replaces the lines `present`, which the caller knows as `old`, by `new`.

    Lines that `old` and `new` share come out as they are in `present`. A changed line keeps the
    line end of the line it replaces; an added one takes the end of the line before it.

    Args:
        present: lines with their ends as they stand in the file; as many as `old` has.
        old: the same lines as the caller wrote them (line ends and typography may differ).
        new: what shall stand there.
        default_end: the line end used where no neighbour gives one.
    """
    old_lines, new_lines = split_lines(to_lf(old)), split_lines(to_lf(new))
    source = _aligned(old_lines, new_lines)
    end = next((end for end in map(line_end, present) if end), default_end)
    written: list[bytes] = []
    for index, line in enumerate(new_lines):
        origin = source.get(index)
        if origin is not None:
            end = line_end(present[origin]) or end
            if old_lines[origin] == line:
                written.append(present[origin])
                continue
        written.append(line[:-1] + end if line.endswith(b"\n") else line)
    return b"".join(written)


def _aligned(old: list[bytes], new: list[bytes]) -> dict[int, int]:
    """Index of the old line that each new line keeps or replaces; added lines are absent.

    What both have in common at the start and at the end is aligned first: among equal lines a
    matcher would be free to choose others.
    """
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if old[-1 - i] != new[-1 - i]), rest)
    source = {index: index for index in range(head)}
    source.update((len(new) - i, len(old) - i) for i in range(1, tail + 1))
    middle = SequenceMatcher(
        None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False
    )
    for _, old_start, old_stop, new_start, new_stop in middle.get_opcodes():
        for new_index, old_index in zip(
            range(new_start, new_stop), range(old_start, old_stop), strict=False
        ):
            source[head + new_index] = head + old_index
    return source
