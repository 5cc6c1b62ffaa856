"""Cursors of `session_history`: places in a History, in a form that nobody makes up by chance."""

import base64
import hashlib
import re
from dataclasses import dataclass

from agentslot.tool.errors import ToolFailedError

_CHECKED = 4
_PLACE = re.compile(r"([0-9a-f]{1,16})\.([0-9a-f]{0,16})")


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place to read on.

    Attributes:
        sequence: what lies before this fact is meant; or the fact, if `character` is given.
        character: where in the text of that one fact.
    """

    sequence: int
    character: int | None = None

    def __str__(self) -> str:
        character = "" if self.character is None else f"{self.character:x}"
        place = f"{self.sequence:x}.{character}".encode()
        return base64.urlsafe_b64encode(_check(place) + place).decode().rstrip("=")


def read_cursor(text: str, last_sequence: int) -> Cursor:
    """The place that a cursor names, in a History of so many facts.

    Raises:
        ToolFailedError: `invalid_cursor`.
    """
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError as error:
        raise _invalid() from error
    place = _PLACE.fullmatch(raw[_CHECKED:].decode("latin-1"))
    if place is None or raw[:_CHECKED] != _check(raw[_CHECKED:]):
        raise _invalid()
    cursor = Cursor(int(place[1], 16), int(place[2], 16) if place[2] else None)
    if not 1 <= cursor.sequence <= last_sequence:
        raise _invalid()
    return cursor


def _check(place: bytes) -> bytes:
    return hashlib.sha256(b"session_history\0" + place).digest()[:_CHECKED]


def _invalid() -> ToolFailedError:
    return ToolFailedError(
        "invalid_cursor", "this is no cursor of session_history; call it again without a cursor"
    )
