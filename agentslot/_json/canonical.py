"""Equality of JSON values: by meaning, never by bytes and never through a float."""

import re
from typing import Any, TypeAlias

from agentslot._json.limits import DEFAULT_LIMITS
from agentslot._json.read import decode, make_decoder, read
from agentslot._json.write import dumps

_PARTS = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")
_MAX_EXPONENT_DIGITS = 4300  # what int() takes by default


class _Number(str):
    """Canonical text of a number; told apart from a string by its class."""

    __slots__ = ()


_Exact: TypeAlias = "dict[str, _Exact] | list[_Exact] | _Number | str | bool | None"


def json_equal(a_text: str | bytes, b_text: str | bytes) -> bool:
    """Whether two documents hold the same JSON value.

    Member order, white space and the spelling of escapes do not matter. Numbers are compared by
    their exact mathematical value (`1.0` equals `10e-1`, and 2**53 does not equal 2**53 + 1);
    values of different types are never equal, so `true` is not `1`.

    Raises:
        JsonError: One of the two is not strict JSON, see `loads`.
    """
    return canonical_json(a_text) == canonical_json(b_text)


def canonical_json(text: str | bytes) -> str:
    """The one spelling of a JSON value: equal values give equal text, whatever they looked like.

    Made to be compared and hashed. It is JSON, but numbers read as digits and a power of ten.

    Raises:
        JsonError: Not strict JSON, see `loads`; only an exponent may be larger than a float's.
    """
    parts: list[str] = []
    _write(read(text, DEFAULT_LIMITS, _exact_engine, lambda token, _: _normalize(token)), parts)
    return "".join(parts)


def _exact_engine(raw: bytes) -> Any:
    return decode(raw, _EXACT)


def _normalize(token: str) -> _Number:
    match = _PARTS.fullmatch(token)
    if match is None:  # the reader hands over numbers only
        raise ValueError("expected a number")
    sign, whole, fraction, exponent = match.group(1, 2, 3, 4)
    fraction, exponent = fraction or "", exponent or "0"
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return _Number("0")
    if len(exponent) > _MAX_EXPONENT_DIGITS:
        raise ValueError("exponent of more than 4300 digits")
    significant = digits.rstrip("0")
    power = int(exponent) - len(fraction) + len(digits) - len(significant)
    return _Number(f"{sign}{significant}e{power}" if power else sign + significant)


_EXACT = make_decoder(parse_int=_normalize, parse_float=_normalize)


def _write(value: _Exact, parts: list[str]) -> None:
    if isinstance(value, dict):
        opening = "{"
        for name, member in sorted(value.items()):
            parts.append(f"{opening}{dumps(name)}:")
            _write(member, parts)
            opening = ","
        parts.append("}" if value else "{}")
    elif isinstance(value, list):
        opening = "["
        for element in value:
            parts.append(opening)
            _write(element, parts)
            opening = ","
        parts.append("]" if value else "[]")
    else:
        parts.append(value if isinstance(value, _Number) else dumps(value))
