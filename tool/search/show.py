"""What the model reads of a search."""

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from agentslot.tool.files.spelling import shown
from agentslot.tool.search.engine import Found

MAX_MATCHES = 100
_OVERHEAD_BYTES = 12  # of a line: its number, a separator


class _Row(NamedTuple):
    path: str
    number: int
    text: str
    is_match: bool


def show_found(found: Found, prefix: str, searched: int, most: int, max_bytes: int) -> str:
    """Matches grouped by file, and a line in brackets that says what was searched and left out."""
    rows, cut = _first_rows(found, most, max_bytes)
    blocks = [_block(prefix + path, group) for path, group in groupby(rows, lambda row: row.path)]
    blocks += [f"{shown(prefix + path)}: binary file matches" for path in found.binary[:most]]
    matches = sum(row.is_match for row in rows)
    lines = "1 matching line" if matches == 1 else f"{matches} matching lines"
    note = f"{lines} in {len(blocks)} of {searched} files"
    if cut:
        can_have_more = matches == most < MAX_MATCHES
        more = f"continue with max_matches={MAX_MATCHES}, or " if can_have_more else ""
        note += f", and there are more: {more}narrow the pattern, or set path or file_glob"
    return "\n\n".join([*blocks, f"[{note}]"])


def _first_rows(found: Found, most: int, max_bytes: int) -> tuple[list[_Row], bool]:
    """As many lines as fit, and whether there would have been more."""
    rows: list[_Row] = []
    matches, room = 0, max_bytes
    for path, lines in found.hits:
        room -= len(shown(path).encode())
        for number, text, is_match in lines:
            matches += is_match
            room -= len(text.encode()) + _OVERHEAD_BYTES
            if matches > most or room < 0:
                return rows, True
            rows.append(_Row(path, number, text, is_match))
    return rows, False


def _block(path: str, rows: Iterable[_Row]) -> str:
    """One file: its path, then its lines; `--` where lines between them are left out."""
    block = [shown(path)]
    previous: int | None = None
    for row in rows:
        if previous is not None and row.number > previous + 1:
            block.append("--")
        block.append(f"{row.number}{':' if row.is_match else '-'}{row.text}")
        previous = row.number
    return "\n".join(block)
