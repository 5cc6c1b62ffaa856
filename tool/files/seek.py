"""Moving to a line of an open UTF-8 file by chunks, without building its lines."""

import os
from collections.abc import Iterator
from typing import BinaryIO

from agentslot.tool.errors import ToolFailedError

_CHUNK = 256 * 1024


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    return iter(lambda: file.read(_CHUNK), b"")


def count_lines(file: BinaryIO, begin: int) -> int:
    """Count lines as an editor does: no further line after a final line end."""
    file.seek(begin)
    count, last = 0, b"\n"
    for chunk in _chunks(file):
        count, last = count + chunk.count(b"\n"), chunk[-1:]
    return count + (last != b"\n")


def seek_line(file: BinaryIO, begin: int, offset: int, total: int | None) -> int | None:
    """Move to a line and return its number; None if it was counted from the end of a huge file.

    Args:
        file: seekable; its text begins at byte `begin`.
        begin: where the first line starts.
        offset: number of the line from 1, or from the end if negative.
        total: lines of the file, where they were counted.

    Raises:
        ToolFailedError: `offset_out_of_range` if the file has not so many lines.
    """
    if offset < 0 and total is None:
        _seek_from_end(file, begin, -offset)
        return None
    first = max(1, (total or 0) + offset + 1 if offset < 0 else offset)
    if total is not None and first > max(total, 1):
        raise _beyond(total)
    file.seek(begin)
    _skip_lines(file, first - 1)
    return first


def _skip_lines(file: BinaryIO, count: int) -> None:
    position, passed = file.tell(), 0
    while count:
        chunk = file.read(_CHUNK)
        if not chunk:
            raise _beyond(passed)
        here = chunk.count(b"\n")
        if here >= count:
            rest = chunk.split(b"\n", count)[-1]
            file.seek(position + len(chunk) - len(rest))
            return
        position, count, passed = position + len(chunk), count - here, passed + here


def _seek_from_end(file: BinaryIO, begin: int, count: int) -> None:
    """Move to the start of the last `count` lines without reading what lies before them."""
    position = file.seek(0, os.SEEK_END)
    wanted = count + 1  # the line end before the first wanted line
    tail_end = True
    while position > begin:
        start = max(begin, position - _CHUNK)
        file.seek(start)
        chunk = file.read(position - start)
        if tail_end and not chunk.endswith(b"\n"):
            wanted -= 1
        tail_end = False
        here = chunk.count(b"\n")
        if here >= wanted:
            before = chunk.rsplit(b"\n", wanted)[0]
            file.seek(start + len(before) + 1)
            return
        position, wanted = start, wanted - here
    file.seek(begin)


def skip_columns(file: BinaryIO, column: int) -> None:
    """Move from the start of a line to its byte `column`, counted from 1."""
    missing = column - 1
    while missing > 0:
        piece = file.readline(min(missing, _CHUNK))
        missing -= len(piece)
        if not piece or (piece.endswith(b"\n") and missing >= 0):
            raise ToolFailedError(
                "offset_out_of_range", f"the line is shorter than column {column}"
            )


def _beyond(total: int) -> ToolFailedError:
    return ToolFailedError(
        "offset_out_of_range", f"the file has {total} lines; use an offset up to that"
    )
