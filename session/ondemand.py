"""Sequences whose items stay on a medium until they are asked for."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TypeVar, overload

T = TypeVar("T")

_PAGES_IN_MEMORY = 16


class ReadOnDemand(Sequence[T]):
    """A sequence that never changes and is read in pages, of which a few stay in memory.

    Reading a page blocks (`read_history` keeps that off the event loop). Threads may read at once:
    at worst a page is read twice.

    Args:
        starts: position of the first item of each page.
        read: reads the page of that number.
        positions: which items the sequence has.
    """

    def __init__(
        self, starts: Sequence[int], read: Callable[[int], Sequence[T]], positions: range
    ) -> None:
        self._starts = starts
        self._read = read
        self._positions = positions
        self._pages: dict[int, Sequence[T]] = {}
        self._latest: tuple[int, Sequence[T]] = 0, ()

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return [self._at(position) for position in self._positions[index]]
        return self._at(self._positions[index])

    def _at(self, position: int) -> T:
        first, items = self._latest
        if not first <= position < first + len(items):
            number = bisect_right(self._starts, position) - 1
            first, items = self._latest = self._starts[number], self._page(number)
        return items[position - first]

    def _page(self, number: int) -> Sequence[T]:
        page = self._pages.get(number)
        if page is None:
            page = self._read(number)
            if len(self._pages) >= _PAGES_IN_MEMORY:
                self._pages = {}
            self._pages[number] = page
        return page


def read_in_pages(
    length: int, read: Callable[[int, int], Sequence[T]], page_items: int
) -> ReadOnDemand[T]:
    """A sequence of that length; `read` reads the items from one position up to another."""

    def page(number: int) -> Sequence[T]:
        start = number * page_items
        return read(start, min(start + page_items, length))

    return ReadOnDemand(range(0, length, page_items), page, range(length))
