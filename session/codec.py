"""JSON for the values of a Session: compact to write, strict to read.

Writing leaves out what equals its default, and names a `kind` only where the reader has to choose
between several. Reading refuses unknown members, wrong types and unknown kinds; texts, numbers and
the arguments of tools come back exactly as they were.
"""

import dataclasses
from collections.abc import Callable
from enum import Enum
from functools import partial
from itertools import chain
from operator import attrgetter
from types import UnionType
from typing import (
    Any,
    Generic,
    Literal,
    NewType,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from agentslot.session.errors import ClassifiedError, ErrorKind
from agentslot.session.text import text_not_unicode

T = TypeVar("T")


class UnreadableError(Exception):
    """The bytes are no record of the expected shape; the text says which member is wrong."""


def encode(value: object) -> bytes:
    """A dataclass as one line of JSON. Equal values give equal bytes.

    Raises:
        ClassifiedError: `invalid_input/text_not_unicode`: a text holds half a surrogate pair; it
            has to be replaced where it enters. `invalid_input/wrong_type`: a member is of a type
            that could not be read again; untyped code has put it there.
    """
    try:
        plain = _writer(type(value))(value)
    except _WrongTypeError as error:
        raise ClassifiedError(ErrorKind.INVALID_INPUT, "wrong_type", str(error)) from None
    try:
        return to_json(plain)
    except PydanticSerializationError as error:
        raise text_not_unicode(surrogate_path(plain)) from error


class Decoder(Generic[T]):
    """Reads the JSON of one dataclass; made at first use, since that takes milliseconds."""

    def __init__(self, shape: type[T]) -> None:
        self._adapter = TypeAdapter(shape)

    def __call__(self, line: bytes, *, lenient: bool = False) -> T:
        """Decode one line; `lenient` ignores unknown members, which a newer writer may add.

        Raises:
            UnreadableError: it is not JSON, or not of this shape.
        """
        try:
            return self._adapter.validate_json(
                line, strict=True, extra="ignore" if lenient else "forbid"
            )
        except ValidationError as error:
            raise UnreadableError(_explain(error)) from None


def _explain(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(step) for step in first["loc"])
    return f"{where}: {first['msg']}" if where else first["msg"]


_Writer = Callable[[Any], object]


_writers: dict[type, _Writer] = {}


def _writer(shape: type) -> _Writer:
    """What makes plain data of a dataclass."""
    writer = _writers.get(shape)
    if writer is None:
        writer = _writers[shape] = _compile_writer(shape)
    return writer


def _compile_writer(shape: type) -> _Writer:
    """A function that makes a dictionary of one dataclass, without what equals its default.

    It is compiled, as dataclasses compile their `__init__`: this is what a durable commit spends
    its time on, and a loop over the fields takes three times as long.
    """
    hints = get_type_hints(shape)
    scope: dict[str, Any] = {"refuse": partial(_refuse, shape.__name__)}
    lines = ["def write(value):", "    plain = {}"]
    for field in dataclasses.fields(shape):
        name = field.name
        if name == "kind" and get_origin(hints[name]) is Literal:  # written where it is needed
            continue
        lines.append(f"    item = value.{name}")
        indent = "    "
        if field.default is not dataclasses.MISSING:
            scope[f"default_{name}"] = field.default
            lines.append(f"    if item != default_{name}:")
            indent = "        "
        types = _types(hints[name])
        first, *more = types
        scope[f"types_{name}"] = types if more else first  # a single one is looked up faster
        lines.append(f"{indent}if not isinstance(item, types_{name}): refuse({name!r}, item)")
        if int in types and bool not in types:  # what Python takes for an int, JSON does not
            lines.append(f"{indent}if type(item) is bool: refuse({name!r}, item)")
        convert = _converter(hints[name], partial(_refuse, shape.__name__, name))
        source = "item"
        if convert is not None:
            scope[f"convert_{name}"] = convert
            source = f"convert_{name}(item)"
            if type(None) in types:
                source = f"None if item is None else {source}"
        lines.append(f"{indent}plain[{name!r}] = {source}")
    lines.append("    return plain")
    exec("\n".join(lines), scope)  # noqa: S102  # source made of field names alone
    write: _Writer = scope["write"]
    return write


class _WrongTypeError(Exception):
    """A member is not of its type."""


def _refuse(shape: str, member: str, item: object) -> None:
    """Without the value, which may be a secret."""
    raise _WrongTypeError(
        f"{shape}.{member} is of type {type(item).__name__}, as which it could not be read again"
    )


def _types(hint: Any) -> tuple[type, ...]:  # any annotation of a field
    """What a member of that type may be an instance of."""
    if isinstance(hint, NewType):
        return _types(hint.__supertype__)
    origin = get_origin(hint)
    if origin in (UnionType, Union):
        return tuple(chain.from_iterable(map(_types, get_args(hint))))
    if origin is Literal:
        return tuple(map(type, get_args(hint)))
    if origin is tuple:
        return (tuple, list)
    return (int, float) if hint is float else (hint,)


def _converter(hint: object, refuse: Callable[[object], None]) -> _Writer | None:
    """What makes plain data of a member of that type; None if it is plain already."""
    if get_origin(hint) is tuple:
        member = get_args(hint)[0]
        convert, types = _converter(member, refuse), _types(member)
        return None if convert is None else partial(_converted, convert, types, refuse)
    options = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    shapes = [option for option in options if dataclasses.is_dataclass(option)]
    if len(shapes) > 1:
        return _tagged
    if shapes:
        return _writer(cast("type", shapes[0]))
    enums = any(isinstance(option, type) and issubclass(option, Enum) for option in options)
    return attrgetter("value") if enums else None


def _converted(
    convert: _Writer, types: tuple[type, ...], refuse: Callable[[object], None], items: Any
) -> list[object]:  # any sequence
    for item in items:
        if not isinstance(item, types):
            refuse(item)
    return [convert(item) for item in items]


def _tagged(value: object) -> object:
    plain: Any = _writer(type(value))(value)
    kind = getattr(value, "kind", None)
    if kind is not None:
        plain["kind"] = kind
    return plain


def surrogate_path(value: Any, path: str = "$") -> str | None:  # any plain data
    """Where in plain data the first text with half a surrogate pair stands."""
    if isinstance(value, str):
        return path if any("\ud800" <= char <= "\udfff" for char in value) else None
    inner: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        inner = [(f"{path}.{name}", item) for name, item in members.items()]
    elif isinstance(value, list | tuple):
        items = cast("list[Any]", value)
        inner = [(f"{path}[{index}]", item) for index, item in enumerate(items)]
    return next(filter(None, (surrogate_path(item, where) for where, item in inner)), None)
