"""The conversation that a request shows: an append-only sequence shared between requests."""

from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from agentslot.session import Message, ToolCall, ToolResult

Input = Message | ToolCall | ToolResult
"""One element of a conversation, in the order of History."""


class Ledger:
    """Identity of a growing conversation.

    Encoders and token counters keep what they know of its elements in a WeakKeyDictionary under
    this object: the first n elements of two transcripts with one ledger are the same, up to the
    `lasting` of both.
    """

    __slots__ = ("__weakref__", "items")

    def __init__(self, items: Iterable[Input] = ()) -> None:
        self.items: list[Input] = list(items)


class Transcript(Sequence[Input]):
    """The first elements of a ledger, and behind them what one request alone shows.

    Appending to the newest view costs what is new.
    """

    __slots__ = ("_length", "_passing", "ledger")

    def __init__(self, items: Iterable[Input] = ()) -> None:
        self.ledger = Ledger(items)
        self._length = len(self.ledger.items)
        self._passing: tuple[Input, ...] = ()

    @property
    def lasting(self) -> int:
        """How many elements are the ledger's, and stand there in every later view of it."""
        return self._length

    def appended(self, items: Iterable[Input]) -> "Transcript":
        """This transcript and `items` behind it; this view itself does not change."""
        newest = len(self.ledger.items) == self._length and not self._passing
        ledger = self.ledger if newest else Ledger(self)
        ledger.items.extend(items)
        return self._view(ledger, len(ledger.items))

    def showing(self, items: Iterable[Input]) -> "Transcript":
        """This transcript and, for one request, `items` behind it; the ledger never holds them."""
        return self._view(self.ledger, self._length, (*self._passing, *items))

    @staticmethod
    def _view(ledger: Ledger, length: int, passing: tuple[Input, ...] = ()) -> "Transcript":
        view = Transcript.__new__(Transcript)
        view.ledger, view._length, view._passing = ledger, length, passing
        return view

    def __len__(self) -> int:
        return self._length + len(self._passing)

    @overload
    def __getitem__(self, index: int) -> Input: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Input]: ...
    def __getitem__(self, index: int | slice) -> Input | Sequence[Input]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step > 0 and stop <= self._length:
                return self.ledger.items[start:stop:step]
            return [self[position] for position in range(start, stop, step)]
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(index)
        if position < self._length:
            return self.ledger.items[position]
        return self._passing[position - self._length]

    def __iter__(self) -> Iterator[Input]:
        items = self.ledger.items
        for position in range(self._length):
            yield items[position]
        yield from self._passing
