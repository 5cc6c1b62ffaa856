"""An immutable sequence that shares its storage with every longer version of itself."""

import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar, cast, overload

T = TypeVar("T")


class SharedList(Sequence[T], Generic[T]):
    """A view of the first items of a growing list.

    `appended` extends the list in place and costs what is new; older views keep their length and
    never see it. Appending to a view that has already been extended copies it first.

    Args:
        items: what it holds.
        head: items before them, which are not copied: a sequence that never changes and may read
            them only when they are asked for.
    """

    __slots__ = ("_head", "_head_length", "_items", "_length")

    def __init__(self, items: Iterable[T] = (), *, head: Sequence[T] = ()) -> None:
        self._head = head
        self._head_length = len(head)
        self._items = list(items)
        self._length = self._head_length + len(self._items)

    def appended(self, items: Iterable[T]) -> "SharedList[T]":
        """These items and the new ones behind them; this view itself does not change."""
        longer = object.__new__(type(self))
        longer._head, longer._head_length = self._head, self._head_length
        longer._items = self._items if self._is_newest() else self._own_items()
        longer._items.extend(items)
        longer._length = self._head_length + len(longer._items)
        return longer

    def _is_newest(self) -> bool:
        """Whether nobody has appended to this view yet."""
        return self._head_length + len(self._items) == self._length

    def _own_items(self) -> list[T]:
        """The items behind the head that belong to this view."""
        return self._items[: self._length - self._head_length]

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return self._slice(*index.indices(self._length))
        position = index + self._length if index < 0 else index
        if not 0 <= position < self._length:
            raise IndexError(index)
        return self._at(position)

    def _at(self, position: int) -> T:
        behind = position - self._head_length
        return self._items[behind] if behind >= 0 else self._head[position]

    def _slice(self, start: int, stop: int, step: int) -> Sequence[T]:
        begin = start - self._head_length
        if begin >= 0 and step > 0:
            return self._items[begin : max(stop - self._head_length, 0) : step]
        return [self._at(position) for position in range(start, stop, step)]

    def __iter__(self) -> Iterator[T]:
        yield from self._head
        items = self._items
        for position in range(self._length - self._head_length):
            yield items[position]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SharedList):
            return NotImplemented
        items = cast("SharedList[object]", other)
        return len(self) == len(items) and all(map(operator.eq, self, items))

    __hash__ = None  # type: ignore[assignment]  # compared by content, like a list
