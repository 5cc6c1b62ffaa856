"""The exact reader: slow, in plain Python, and the one that defines what is refused and where.

`agentslot._json.read` calls it only for a document that a fast engine did not take.
"""

import json
import re
from collections.abc import Callable
from typing import Any, NoReturn

from agentslot._json.limits import JsonError, JsonLimits, JsonValue, render_path

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_STRING = re.compile(r'"((?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+)"')
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS: dict[str, JsonValue] = {"true": True, "false": False, "null": None}
_WORD = re.compile("true|false|null")
_NOT_NUMBERS = ("NaN", "Infinity", "-Infinity")
_MAX_INTEGER_DIGITS = 4300  # what int() takes by default; its cost grows with the square

ParseNumber = Callable[[str, bool], Any]
"""Makes a value of a number's text; the flag says whether it is an integer without exponent."""


def parse_number(text: str, is_integer: bool) -> int | float:
    """Make an int or a float of a number's text.

    Raises:
        ValueError: Too many digits for an int, or too large for a float.
    """
    if is_integer:
        if len(text.lstrip("-")) > _MAX_INTEGER_DIGITS:
            raise ValueError("integer of more than 4300 digits")
        return int(text)
    return parse_finite(text)


def parse_finite(text: str) -> float:
    """Make a float of a number's text.

    Raises:
        ValueError: Too large for a float.
    """
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError("number overflows to infinity")
    return number


def scan(raw: bytes, limits: JsonLimits, number: ParseNumber = parse_number) -> Any:
    """Read one document, or say exactly where it is wrong.

    Raises:
        JsonError: The first problem in document order.
    """
    return _Scanner(raw, limits, number).document()


class _Scanner:
    def __init__(self, raw: bytes, limits: JsonLimits, number: ParseNumber) -> None:
        # Bytes that are no UTF-8 become surrogates, so that the path to them can be told.
        self._text = raw.decode("utf-8", "surrogateescape")
        self._limits = limits
        self._number = number
        self._steps: list[str | int] = []
        self._nodes = 0

    def document(self) -> Any:
        if self._text.startswith("\ufeff"):
            self._fail("byte order mark", 0)
        value, end = self._value(self._skip(0))
        end = self._skip(end)
        if end < len(self._text):
            self._fail("trailing data after the document", end)
        return value

    def _value(self, at: int) -> tuple[Any, int]:
        self._nodes += 1
        if self._nodes > self._limits.max_nodes:
            self._fail(f"more than {self._limits.max_nodes} values", at)
        first = self._text[at : at + 1]
        if first == "{":
            return self._object(at)
        if first == "[":
            return self._array(at)
        if first == '"':
            return self._string(at)
        return self._scalar(at)

    def _object(self, at: int) -> tuple[dict[str, Any], int]:
        self._check_depth(at)
        members: dict[str, Any] = {}
        end = self._skip(at + 1)
        if self._text[end : end + 1] == "}":
            return members, end + 1
        while True:
            if self._text[end : end + 1] != '"':
                self._fail("expected a member name", end)
            name, after = self._string(end)
            self._steps.append(name)
            if name in members:
                self._fail("duplicate member", end)
            self._check_size(len(members), end)
            colon = self._skip(after)
            if self._text[colon : colon + 1] != ":":
                self._fail("expected ':'", colon)
            members[name], end = self._value(self._skip(colon + 1))
            self._steps.pop()
            end, closed = self._separator(end, "}")
            if closed:
                return members, end

    def _array(self, at: int) -> tuple[list[Any], int]:
        self._check_depth(at)
        elements: list[Any] = []
        end = self._skip(at + 1)
        if self._text[end : end + 1] == "]":
            return elements, end + 1
        while True:
            self._steps.append(len(elements))
            self._check_size(len(elements), end)
            value, end = self._value(end)
            elements.append(value)
            self._steps.pop()
            end, closed = self._separator(end, "]")
            if closed:
                return elements, end

    def _separator(self, at: int, closing: str) -> tuple[int, bool]:
        """Step over ',' or the closing bracket."""
        end = self._skip(at)
        mark = self._text[end : end + 1]
        if mark == closing:
            return end + 1, True
        if mark != ",":
            self._fail(f"expected ',' or '{closing}'", end)
        return self._skip(end + 1), False

    def _string(self, at: int) -> tuple[str, int]:
        match = _STRING.match(self._text, at)
        if match is None:
            self._fail("malformed string", at)
        if _SURROGATE.search(match[1]):
            self._fail("invalid UTF-8", at)
        value: str = json.loads(match[0])
        if _SURROGATE.search(value):
            self._fail("lone surrogate", at)
        return value, match.end()

    def _scalar(self, at: int) -> tuple[Any, int]:
        if word := _WORD.match(self._text, at):
            return _WORDS[word[0]], word.end()
        if self._text.startswith(_NOT_NUMBERS, at):
            self._fail("NaN and Infinity are no JSON", at)
        match = _NUMBER.match(self._text, at)
        if match is None:
            self._fail("expected a value" if at < len(self._text) else "unexpected end", at)
        try:
            return self._number(match[0], match[1] is None and match[2] is None), match.end()
        except ValueError as error:
            self._fail(str(error), at)

    def _check_depth(self, at: int) -> None:
        if len(self._steps) >= self._limits.max_depth:
            self._fail(f"nested deeper than {self._limits.max_depth}", at)

    def _check_size(self, size: int, at: int) -> None:
        if size >= self._limits.max_members:
            self._fail(f"more than {self._limits.max_members} members in one container", at)

    def _skip(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        return match.end() if match else at

    def _fail(self, reason: str, at: int) -> NoReturn:
        offset = len(self._text[:at].encode("utf-8", "surrogateescape"))
        raise JsonError(reason, render_path(self._steps), offset)
