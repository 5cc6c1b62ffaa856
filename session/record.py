"""`@record`: a value that is made all the time."""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """A slotted dataclass that type checkers treat as frozen.

    `dataclass(frozen=True)` makes construction five times as dear. So what we make ourselves,
    several at each commit or at each piece of an answer, is immutable by contract and by checker;
    what others construct, and what a call and its approval stand on, is frozen at run time too.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)
