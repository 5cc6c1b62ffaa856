"""Files that a person attaches to a message."""

import mimetypes
from pathlib import Path

from agentslot.session import ClassifiedError, ErrorKind
from agentslot.tool import Attachment
from agentslot.tool.files.image import image_type

MAX_FILE_BYTES = 20 * 1024 * 1024


def read_attachment(path: Path) -> Attachment:
    """Read a file; what it is, is told by its content if it is an image, else by its name.

    Raises:
        ClassifiedError: `invalid_input/invalid_attachment`: it cannot be read, or is too large.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise _invalid(path, f"cannot be read: {error.strerror}") from error
    if len(content) > MAX_FILE_BYTES:
        raise _invalid(path, "has more than 20 MiB: attach a smaller file")
    guessed, _ = mimetypes.guess_type(path.name)
    media_type = image_type(content[:16]) or guessed or "application/octet-stream"
    return Attachment(content, media_type, path.name)


def _invalid(path: Path, problem: str) -> ClassifiedError:
    return ClassifiedError(
        ErrorKind.INVALID_INPUT, "invalid_attachment", f"{str(path)!r} {problem}"
    )
