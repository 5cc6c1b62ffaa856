"""Files that a person attaches to a message."""

import mimetypes
import os
from pathlib import Path

from agentslot.interaction.gateway import MAX_ATTACHMENT_BYTES
from agentslot.session import ClassifiedError, ErrorKind
from agentslot.tool import Attachment
from agentslot.tool.images import image_type


def read_attachment(named: str) -> Attachment:
    """Read a file; what it is, is told by its content if it is an image, else by its name.

    Args:
        named: its path, which may begin with `~`.

    Raises:
        ClassifiedError: `invalid_input/invalid_attachment`: it cannot be read, or is too large.
    """
    path = Path(os.path.expanduser(named))
    try:
        with path.open("rb") as file:
            content = file.read(MAX_ATTACHMENT_BYTES + 1)
    except (OSError, ValueError) as error:  # a ValueError of a name that no file can have
        problem = error.strerror if isinstance(error, OSError) else "there is no such file"
        raise _invalid(named, f"cannot be read: {problem}") from error
    if len(content) > MAX_ATTACHMENT_BYTES:
        raise _invalid(named, "has more than 20 MiB: attach a smaller file")
    guessed, _ = mimetypes.guess_type(path.name)
    media_type = image_type(content[:16]) or guessed or "application/octet-stream"
    return Attachment(content, media_type, path.name)


def _invalid(named: str, problem: str) -> ClassifiedError:
    return ClassifiedError(ErrorKind.INVALID_INPUT, "invalid_attachment", f"{named!r} {problem}")
