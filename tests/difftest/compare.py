"""Two JSON documents side by side.

Hidden are the order of members, escapes and blanks: no reader tells them apart. Shown are the
spelling of numbers, the order of arrays, the set of members, and null beside absent.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import SequenceMatcher
from enum import StrEnum
from typing import TypeAlias

Value: TypeAlias = "bool | str | Number | list[Value] | dict[str, Value] | None"


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it is spelled."""

    text: str


class Kind(StrEnum):
    """How the two sides differ in one place."""

    OURS = "only ours"
    THEIRS = "only theirs"
    VALUE = "another value"
    SPELLING = "another spelling"
    """The same number, written in another way."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One place in which the documents differ.

    Attributes:
        path: such as `$.messages[2].content`; an index counts on the side that has the element.
        ours: our value as JSON; empty if we have none.
        theirs: their value as JSON; empty if they have none.
    """

    path: str
    kind: Kind
    ours: str
    theirs: str

    def __str__(self) -> str:
        sides = (("ours", self.ours), ("theirs", self.theirs))
        shown = [f"{side} {_short(value)}" for side, value in sides if value]
        return f"{self.path}: {self.kind}: {', '.join(shown)}"


def parse(document: str | bytes) -> Value:
    """Read a document without losing what is to be compared.

    Raises:
        ValueError: it is no JSON, or has two members of one name.
    """
    parsed: Value = json.loads(
        document,
        parse_int=Number,
        parse_float=Number,
        parse_constant=_refuse,
        object_pairs_hook=_object,
    )
    return parsed


def text_of(value: Value) -> str:
    """The value as canonical JSON: members in order, numbers as they were spelled."""
    match value:
        case Number(text):
            return text
        case dict():
            members = (f"{json.dumps(name)}:{text_of(value[name])}" for name in sorted(value))
            return f"{{{','.join(members)}}}"
        case list():
            return f"[{','.join(map(text_of, value))}]"
        case _:
            return json.dumps(value, ensure_ascii=False)


def respelled(value: Value, names: Mapping[str, str]) -> Value:
    """The value with members of those names under their other name."""
    if isinstance(value, dict):
        return {names.get(name, name): respelled(held, names) for name, held in value.items()}
    return [respelled(held, names) for held in value] if isinstance(value, list) else value


def compare(ours: Value, theirs: Value, path: str = "$") -> Iterator[Difference]:
    """Every difference, in the order of our document."""
    match ours, theirs:
        case dict(), dict():
            yield from _compare_objects(ours, theirs, path)
        case list(), list():
            yield from _compare_arrays(ours, theirs, path)
        case Number(mine), Number(other) if mine != other and Decimal(mine) == Decimal(other):
            yield Difference(path, Kind.SPELLING, mine, other)
        case _ if type(ours) is not type(theirs) or ours != theirs:
            yield Difference(path, Kind.VALUE, text_of(ours), text_of(theirs))
        case _:
            pass


def reordered(ours: Value, theirs: Value, path: str = "$") -> Iterator[str]:
    """The paths of objects whose common members stand in another order: no difference, but news."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        common = [name for name in ours if name in theirs]
        if common != [name for name in theirs if name in ours]:
            yield path
        for name in common:
            yield from reordered(ours[name], theirs[name], f"{path}.{name}")
    elif isinstance(ours, list) and isinstance(theirs, list):
        for index, (mine, other) in enumerate(zip(ours, theirs, strict=False)):
            yield from reordered(mine, other, f"{path}[{index}]")


def _compare_objects(
    ours: dict[str, Value], theirs: dict[str, Value], path: str
) -> Iterator[Difference]:
    for name, value in ours.items():
        if name in theirs:
            yield from compare(value, theirs[name], f"{path}.{name}")
        else:
            yield Difference(f"{path}.{name}", Kind.OURS, text_of(value), "")
    for name in theirs.keys() - ours.keys():
        yield Difference(f"{path}.{name}", Kind.THEIRS, "", text_of(theirs[name]))


def _compare_arrays(
    ours: Sequence[Value], theirs: Sequence[Value], path: str
) -> Iterator[Difference]:
    """Element by element; in arrays of two lengths, what is equal stays together."""
    if len(ours) == len(theirs):
        for index, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from compare(mine, other, f"{path}[{index}]")
        return
    texts = [text_of(value) for value in ours], [text_of(value) for value in theirs]
    for tag, start, end, from_, to in SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        common = min(end - start, to - from_)
        for step in range(common):
            yield from compare(ours[start + step], theirs[from_ + step], f"{path}[{start + step}]")
        for index in range(start + common, end):
            yield Difference(f"{path}[{index}]", Kind.OURS, texts[0][index], "")
        for index in range(from_ + common, to):
            yield Difference(f"{path}[{index}]", Kind.THEIRS, "", texts[1][index])


def _object(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError(f"an object has two members of one name: {[name for name, _ in pairs]}")
    return members


def _refuse(constant: str) -> Value:
    raise ValueError(f"{constant} is no JSON")


def _short(text: str) -> str:
    return text if len(text) <= 160 else f"{text[:157]}..."
