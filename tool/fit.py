"""Keeping an output within the bytes that a result may have, and reading on in a long one."""

from collections.abc import Callable

from agentslot._json import dumps
from agentslot.tool.errors import ToolFailedError

_LEAST = 256


def cut(text: str, max_bytes: int) -> str:
    """The beginning of a text: at most so many bytes of UTF-8, and no half character."""
    return text.encode("utf-8", "replace")[:max_bytes].decode("utf-8", "ignore")


def check_start(start: int, text: str) -> None:
    """Refuse to read on behind the end of a text; 0 is the start of an empty one, too.

    Raises:
        ToolFailedError: `offset_out_of_range`.
    """
    if start and start >= len(text):
        message = f"start={start} is beyond the end; the text has {len(text)} characters"
        raise ToolFailedError("offset_out_of_range", message)


def fit(render: Callable[[int], str], most: int, max_bytes: int) -> str:
    """Render a text so that it fits as a JSON string, where escapes may double its size.

    Args:
        render: makes the text from about so many bytes of content.
        most: bytes of content to begin with.
        max_bytes: most bytes of the JSON string.

    Raises:
        ToolFailedError: `result_too_large` if even a little content does not fit.
    """
    size = min(most, max_bytes)
    while size >= _LEAST:
        text = render(size)
        encoded = len(dumps(text).encode())
        if encoded <= max_bytes:
            return text
        size = min(size * max_bytes // encoded, size - _LEAST)
    raise ToolFailedError("result_too_large", f"no useful result fits into {max_bytes} bytes")
