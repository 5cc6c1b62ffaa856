"""Rewriting a stretch of lines so that whatever did not change keeps its exact characters."""

from collections.abc import Sequence
from difflib import SequenceMatcher


def split_lines(text: str) -> list[str]:
    """Lines of `text` with their ends: LF, or a CR and LF; nothing else ends a line."""
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def line_end(line: str) -> str:
    """Return the end of one line: CRLF, LF, or nothing."""
    if line.endswith("\r\n"):
        return "\r\n"
    return "\n" if line.endswith("\n") else ""


def to_lf(text: str) -> str:
    """`text` with every CRLF turned into LF."""
    return text.replace("\r\n", "\n")


def rewrite(present: Sequence[str], old: str, new: str, default_end: str) -> str:
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
    written: list[str] = []
    for index, line in enumerate(new_lines):
        origin = source.get(index)
        if origin is not None:
            end = line_end(present[origin]) or end
            if old_lines[origin] == line:
                written.append(present[origin])
                continue
        written.append(line[:-1] + end if line.endswith("\n") else line)
    return "".join(written)


def _aligned(old: list[str], new: list[str]) -> dict[int, int]:
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
