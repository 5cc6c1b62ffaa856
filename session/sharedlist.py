"""An immutable sequence that shares its storage with every longer version of itself."""

import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar, cast, overload

T = TypeVar("T")


class SharedList(Sequence[T], Generic[T]):
    """A view of the first items of a growing list.

    `appended` extends the list in place and costs what is new; older views keep their length and
    never see it. Appending to a view that has already been extended copies it first.
    """

    __slots__ = ("_items", "_length")

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._items = list(items)
        self._length = len(self._items)

    def appended(self, items: Iterable[T]) -> "SharedList[T]":
        """These items and the new ones behind them; this view itself does not change."""
        longer = object.__new__(type(self))
        shared = len(self._items) == self._length
        longer._items = self._items if shared else self._items[: self._length]
        longer._items.extend(items)
        longer._length = len(longer._items)
        return longer

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._length)
            return self._items[start:stop:step]
        position = index + self._length if index < 0 else index
        if not 0 <= position < self._length:
            raise IndexError(index)
        return self._items[position]

    def __iter__(self) -> Iterator[T]:
        items = self._items
        for position in range(self._length):
            yield items[position]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SharedList):
            return NotImplemented
        items = cast("SharedList[object]", other)
        return len(self) == len(items) and all(map(operator.eq, self, items))

    __hash__ = None  # type: ignore[assignment]  # compared by content, like a list
