"""`@record`: a value that one commit makes several of."""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """A slotted dataclass that type checkers treat as frozen.

    `dataclass(frozen=True)` makes construction five times as dear, which would be most of what a
    commit costs. So the values that the aggregate alone makes, several at each commit, are
    immutable by contract and by checker; what others construct is frozen at run time too.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)
