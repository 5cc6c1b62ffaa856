"""Writing JSON: one spelling, and text that can always be encoded."""

import json
from typing import Any

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def dumps(value: Any) -> str:
    """Write a JSON value compactly, members in their own order, characters unescaped.

    Args:
        value: Anything the standard library can write. Text with lone surrogates stays as it is
            and cannot be encoded afterwards; see `replace_lone_surrogates`.

    Raises:
        ValueError: NaN, an infinity, or a value that contains itself.
        TypeError: Not a JSON value.
    """
    return _ENCODER.encode(value)


def replace_lone_surrogates(text: str) -> str:
    """Make text encodable: two halves that belong together become their character, others U+FFFD.

    Such halves come from tools, odd file names and JSON escapes, and would otherwise break every
    later save and request.
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
