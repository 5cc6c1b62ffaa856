"""What the model reads about a file: its lines, and one line in brackets that says the rest."""

import os

from agentslot.tool.attachments import Attachment
from agentslot.tool.errors import ToolFailedError
from agentslot.tool.files.containment import Location
from agentslot.tool.files.read import TextRange, read_range
from agentslot.tool.files.spelling import shown
from agentslot.tool.images import image_problem, image_type

_MAGIC_BYTES = 16
MAX_IMAGE_BYTES = 64 * 1024 * 1024


def read_image(location: Location) -> Attachment | str | None:
    """The image here; a line that says why it cannot be shown; None if here is no image."""
    if location.status() is None:
        return None
    with open(location.open(), "rb") as file:
        media_type = image_type(file.read(_MAGIC_BYTES))
        if media_type is None:
            return None
        size = os.fstat(file.fileno()).st_size
        if size > MAX_IMAGE_BYTES:
            return f"[image: {media_type}, {size} bytes; too large to show, make it smaller]"
        file.seek(0)
        content = file.read()
    problem = image_problem(content)
    if problem is not None:
        return f"[image: {problem}]"
    return Attachment(content, media_type, location.name)


def show_file(location: Location, *, offset: int, limit: int, column: int, max_bytes: int) -> str:
    """Lines of a file and how to read on.

    Raises:
        ToolFailedError: `not_found`, with names that look alike; or as `read_range` does.
    """
    if location.status() is None:
        raise _missing(location)
    descriptor = location.open()
    part = read_range(descriptor, offset=offset, limit=limit, column=column, max_bytes=max_bytes)
    text = part.text if not part.text or part.text.endswith("\n") else f"{part.text}\n"
    return f"{text}[{', '.join(_facts(part, offset, column))}]"


def _missing(location: Location) -> ToolFailedError:
    similar = ", ".join(repr(shown(name)) for name in location.similar())
    hint = f"; its folder has {similar}" if similar else "; check the spelling or list the folder"
    return ToolFailedError("not_found", f"{shown(location.path)!r} does not exist{hint}")


def _facts(part: TextRange, offset: int, column: int) -> list[str]:
    facts = [_range(part, column)]
    if part.crlf:
        facts.append("CRLF line ends")
    if part.encoding.name != "utf-8":
        facts.append(part.encoding.name)
    if part.lossy:
        facts.append("\ufffd stands for bytes that are no UTF-8, and cannot be quoted in an edit")
    if part.cut_by is None and part.text and not part.text.endswith("\n"):
        facts.append("no line end at the end of the file")
    if part.sha256 is not None:
        facts.append(f"sha256 {part.sha256}")
    if part.cut_by is not None:
        facts.append(_next_call(part, offset))
    return facts


def _range(part: TextRange, column: int) -> str:
    if not part.count:
        return "the file is empty"
    start = f" from byte {column} of the first" if column > 1 else ""
    if part.first is None:
        return f"{part.count} lines near the end{start}"
    last = part.first + part.count - 1
    total = "of a huge file" if part.total is None else f"of {part.total}"
    return f"lines {part.first}-{last} {total}{start}"


def _next_call(part: TextRange, offset: int) -> str:
    first = part.first if part.first is not None else offset
    if part.cut_by == "long_line":
        return f"the line goes on: continue with offset={first}, column={part.next_column}"
    return f"continue with offset={first + part.count}"
