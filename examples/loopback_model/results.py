"""What the content of a tool result says.

A result is the JSON that the tool gave, or a sentence of the runtime about the call.
"""

import re
from collections.abc import Iterator

from pydantic import JsonValue, TypeAdapter, ValidationError

_JSON = TypeAdapter[JsonValue](JsonValue)
_NOT_SETTLED = re.compile(r"outcome[ _](is )?unknown|cancell?ed", re.IGNORECASE)


def is_unsettled(result: str) -> bool:
    """Whether the call may or may not have taken effect: cut off by a crash, or cancelled."""
    members = _members(result)
    if members is None:
        return _NOT_SETTLED.search(result) is not None
    told = [str(value) for name, value in members if name in {"status", "code", "message"}]
    return any(_NOT_SETTLED.search(text) for text in told)


def member(result: str, name: str) -> JsonValue:
    """The first member called `name`, wherever it lies in the result; None if there is none."""
    for found, value in _members(result) or ():
        if found == name:
            return value
    return None


def file_text(result: str) -> str:
    """The text of the file that was read."""
    content = member(result, "content")
    return content if isinstance(content, str) else result


def output(result: str) -> str:
    """What a command printed, on both its streams."""
    printed = [member(result, stream) for stream in ("stdout", "stderr")]
    texts = [text for text in printed if isinstance(text, str)]
    return "\n".join(texts) if texts else result


def _members(result: str) -> list[tuple[str, JsonValue]] | None:
    try:
        value = _JSON.validate_json(result)
    except ValidationError:
        return None
    return list(_walk(value))


def _walk(value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name, inner
            yield from _walk(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _walk(inner)
