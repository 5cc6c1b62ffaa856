"""Reading a range of lines from a file of any size, within bounds of lines and bytes."""

import codecs
import hashlib
import io
import os
from dataclasses import dataclass
from io import BufferedReader
from typing import BinaryIO, Literal, TypeAlias

from agentslot.tool.errors import ToolFailedError
from agentslot.tool.files.encoding import PROBE_BYTES, Encoding, detect
from agentslot.tool.files.seek import count_lines, seek_line, skip_columns
from agentslot.tool.files.write import MAX_BYTES

MAX_LINES = 2000
MAX_SHOWN_BYTES = 50 * 1024

CutBy: TypeAlias = Literal["lines", "bytes", "long_line"]
"""What ended a range early: the count of lines, their bytes, or one line longer than all that."""


@dataclass(frozen=True, slots=True)
class TextRange:
    """Some lines of a text file.

    Attributes:
        text: the lines, with LF ends and without a byte order mark; bytes that are no text of
            the encoding appear as U+FFFD.
        first: number of the first line, from 1; None where counting would mean to read a huge file.
        count: how many lines `text` has; a cut line counts.
        total: lines of the whole file as an editor counts them; None for a huge file.
        cut_by: why the range ends before the file does; None if it does not.
        next_column: byte of a cut line at which to go on, from 1.
        crlf: whether the lines end in CRLF in the file.
        lossy: whether any U+FFFD in `text` stands for such bytes.
        sha256: of the whole file; None for a huge file.
    """

    text: str
    first: int | None
    count: int
    total: int | None
    cut_by: CutBy | None
    next_column: int
    crlf: bool
    lossy: bool
    encoding: Encoding
    sha256: str | None


def read_range(
    descriptor: int,
    *,
    offset: int = 1,
    limit: int = MAX_LINES,
    column: int = 1,
    max_bytes: int = MAX_SHOWN_BYTES,
) -> TextRange:
    """Read up to `limit` lines; memory does not depend on the size of the file.

    Args:
        descriptor: an open regular file; it is closed.
        offset: number of the first line, from 1 (0 counts as 1); negative counts from the end.
        limit: lines to read, 1 to MAX_LINES.
        column: byte within the first line at which to start, from 1.
        max_bytes: most bytes to read; the range ends at a whole line, if there is one.

    Raises:
        ToolFailedError: `not_text` for binary content, `offset_out_of_range`, or `too_large` for
            a huge file in UTF-16.
    """
    with open(descriptor, "rb") as raw:
        size = os.fstat(raw.fileno()).st_size
        encoding = detect(raw.read(PROBE_BYTES))
        if encoding is None:
            raise ToolFailedError("not_text", f"the file is binary ({size} bytes), not text")
        digest = _digest(raw) if size <= MAX_BYTES else None
        file, begin = _as_utf8(raw, encoding, size)
        total = count_lines(file, begin) if digest else None
        first = seek_line(file, begin, offset, total)
        skip_columns(file, column)
        lines, cut_by = _window(file, limit, max_bytes)
    content = b"".join(lines)
    text, used = _decode(content, final=cut_by != "long_line")
    return TextRange(
        text=text.replace("\r\n", "\n"),
        first=first,
        count=len(lines),
        total=total,
        cut_by=cut_by,
        next_column=column + used if cut_by == "long_line" else 1,
        crlf=any(line.endswith(b"\r\n") for line in lines),
        lossy=text.count("\ufffd") > content.count("\ufffd".encode()),
        encoding=encoding,
        sha256=digest,
    )


def _digest(file: BufferedReader) -> str:
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()


def _as_utf8(raw: BinaryIO, encoding: Encoding, size: int) -> tuple[BinaryIO, int]:
    """The file as a stream of UTF-8, and where its text begins."""
    if encoding.name == "utf-8":
        return raw, len(encoding.mark)
    if size > MAX_BYTES:
        raise ToolFailedError("too_large", f"{encoding.name} text above {MAX_BYTES} bytes")
    raw.seek(0)
    return io.BytesIO(encoding.to_utf8(raw.read())), 0


def _window(file: BinaryIO, limit: int, max_bytes: int) -> tuple[list[bytes], CutBy | None]:
    lines: list[bytes] = []
    room = max_bytes
    while len(lines) < limit:
        line = file.readline(max_bytes + 1)
        if len(line) > room:
            return (lines, "bytes") if lines else ([line[:room]], "long_line")
        if not line:
            return lines, None
        lines.append(line)
        room -= len(line)
    return lines, "lines" if file.read(1) else None


def _decode(content: bytes, *, final: bool) -> tuple[str, int]:
    """Text and the bytes it covers; unless `final`, a cut character at the end is left out."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(content, final)
    pending, _ = decoder.getstate()
    return text, len(content) - len(pending)
