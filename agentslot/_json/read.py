"""`loads`: a fast engine behind strict rules."""

import json
import re
from collections.abc import Callable, Collection
from functools import cache, partial
from math import isfinite
from typing import Any, NoReturn

from agentslot._json.limits import DEFAULT_LIMITS, JsonError, JsonLimits, JsonValue
from agentslot._json.scan import ParseNumber, parse_finite, parse_number, scan

Engine = Callable[[bytes], Any]
"""Reads UTF-8 bytes; refuses duplicate members and constants, but not everything we refuse."""

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_SHAPE = bytes.maketrans(b"{E+123456789", b"[e0000000000")
"""Makes brackets alike, and what may stand in the digits of a large number."""
_MANY = 200
_EXPONENT, _DIGITS = b"0e000", b"0" * _MANY
"""In that shape no number overflows without one of these in it."""
_WALKED = frozenset({dict, list, float})


def loads(data: bytes | str, *, limits: JsonLimits = DEFAULT_LIMITS) -> JsonValue:
    """Read one JSON document that we did not write.

    Args:
        data: The document, UTF-8 if it is bytes.
        limits: Bounds on size, depth and number of values.

    Raises:
        JsonError: Not JSON by the strict rules: also for duplicate members, NaN and infinities
            (`1e999` too), integers of more than 4300 digits, lone surrogates, a byte order mark,
            trailing data, and anything beyond the limits.
    """
    value: JsonValue = read(data, limits, _engine(), parse_number)
    return value


def read(data: bytes | str, limits: JsonLimits, engine: Engine, number: ParseNumber) -> Any:
    """Read with one engine; what the engine does not take, the exact reader judges."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    size = len(raw)  # a document has no more values than bytes
    if size > limits.max_bytes:
        reason = f"more than {limits.max_bytes} bytes"
        raise JsonError(reason, "$", limits.max_bytes)
    try:
        if size > limits.max_nodes and _has_more_values(raw, limits.max_nodes):
            return scan(raw, limits, number)
        value = engine(raw)
        # Whether it may be too deep, or a number have come out as infinity: cheaper than a walk.
        # `in` would first try the bytes as an integer, which costs more than the search.
        shape = raw.translate(_SHAPE)
        if (
            shape.count(b"[") > limits.max_depth
            or shape.find(_EXPONENT) >= 0
            or (size >= _MANY and shape.find(_DIGITS) >= 0)
            or size > limits.max_members
        ):
            _check_shape(value, limits)
        return value
    except (ValueError, RecursionError):
        return scan(raw, limits, number)


def _has_more_values(raw: bytes, most: int) -> bool:
    """Whether there are more values; most documents need no look at where their strings are."""
    return _count_values(raw) > most and _count_values(_STRING.sub(b"", raw)) > most


def _count_values(raw: bytes) -> int:
    """How many values there are at most: brackets and commas in strings count too."""
    return raw.count(b"[") + raw.count(b"{") + raw.count(b",") + 1


def _check_shape(value: Any, limits: JsonLimits) -> None:
    """Walk containers level by level; ValueError when a limit or a float is exceeded."""
    level: list[Any] = [value]
    depth = 0
    while level:
        below: list[Any] = []
        children: Collection[Any]
        nested = False
        for item in level:
            if item.__class__ is dict:
                children = item.values()
            elif item.__class__ is list:
                children = item
            elif item.__class__ is float and not isfinite(item):
                raise ValueError("overflow")
            else:
                continue
            nested = True
            if len(children) > limits.max_members:
                raise ValueError("members")
            below += [child for child in children if child.__class__ in _WALKED]
        depth += nested
        if depth > limits.max_depth:
            raise ValueError("depth")
        level = below


@cache
def _engine() -> Engine:
    """Choose jiter if it is installed and finds duplicates, else the standard library."""
    try:
        engine = jiter_engine()
        engine(b"{}")
    except (ImportError, TypeError):
        return stdlib_engine
    return engine


@cache
def jiter_engine() -> Engine:
    """Read with jiter. It lets `1e999` pass as infinity.

    Raises:
        ImportError: it is not installed.
    """
    import jiter  # optional, and only needed by whoever reads JSON

    return partial(jiter.from_json, catch_duplicate_keys=True, allow_inf_nan=False)


def stdlib_engine(raw: bytes) -> Any:
    """Read with the standard library and hooks."""
    return decode(raw, _DECODER)


def decode(raw: bytes, decoder: json.JSONDecoder) -> Any:
    """Decode strict UTF-8, and refuse the lone surrogates that the standard library accepts."""
    value = decoder.decode(raw.decode())
    if rb"\ud" in raw or rb"\uD" in raw:
        json.dumps(value, ensure_ascii=False).encode()  # a UnicodeEncodeError if one is left
    return value


def make_decoder(
    parse_int: Callable[[str], Any], parse_float: Callable[[str], Any]
) -> json.JSONDecoder:
    """Make a standard decoder that refuses duplicate members and constants."""
    return json.JSONDecoder(
        object_pairs_hook=_members,
        parse_constant=_refuse,
        parse_int=parse_int,
        parse_float=parse_float,
    )


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("duplicate member")
    return members


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


_DECODER = make_decoder(int, parse_finite)
