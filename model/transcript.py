"""The conversation that a request shows: an append-only sequence shared between requests."""

from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from agentslot.session import Message, ToolCall, ToolResult

Input = Message | ToolCall | ToolResult
"""One element of a conversation, in the order of History."""


class Ledger:
    """Identity of a growing conversation.

    Encoders and token counters keep what they know of its elements in a WeakKeyDictionary under
    this object: the first n elements of two transcripts with one ledger are the same.
    """

    __slots__ = ("__weakref__", "items")

    def __init__(self, items: Iterable[Input] = ()) -> None:
        self.items: list[Input] = list(items)


class Transcript(Sequence[Input]):
    """The first `len` elements of a ledger. Appending to the newest view costs what is new."""

    __slots__ = ("_length", "ledger")

    def __init__(self, items: Iterable[Input] = ()) -> None:
        self.ledger = Ledger(items)
        self._length = len(self.ledger.items)

    def appended(self, items: Iterable[Input]) -> "Transcript":
        """This transcript and `items` behind it; this view itself does not change."""
        longer = Transcript.__new__(Transcript)
        newest = len(self.ledger.items) == self._length
        longer.ledger = self.ledger if newest else Ledger(self)
        longer.ledger.items.extend(items)
        longer._length = len(longer.ledger.items)
        return longer

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Input: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Input]: ...
    def __getitem__(self, index: int | slice) -> Input | Sequence[Input]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._length)
            return self.ledger.items[start:stop:step]
        position = index + self._length if index < 0 else index
        if not 0 <= position < self._length:
            raise IndexError(index)
        return self.ledger.items[position]

    def __iter__(self) -> Iterator[Input]:
        items = self.ledger.items
        for position in range(self._length):
            yield items[position]
