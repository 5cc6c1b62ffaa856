"""The extension journal: append-only, with the few entries that are still open changed in place.

What is settled is shared between revisions like History; what is open is a small mapping of each
revision's own. So a commit costs what it changes, and a Session without hooks pays nothing.
"""

from collections.abc import Iterator, Mapping

from agentslot.session.extensions import ExtensionEntry
from agentslot.session.identity import InvocationId


class ExtensionJournal:
    """The journal of a Session at one revision; immutable.

    Attributes:
        open: the entries that can still change, by sequence, oldest first.
    """

    __slots__ = ("_length", "_sequences", "_settled", "open")

    def __init__(self) -> None:
        self.open: Mapping[int, ExtensionEntry] = {}
        self._length = 0
        # By position, None while the entry is open; longer than `_length` once a later revision
        # has been made.
        self._settled: list[ExtensionEntry | None] = []
        self._sequences: dict[InvocationId, int] = {}

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, sequence: int) -> ExtensionEntry:
        """The entry with that sequence.

        Raises:
            KeyError: there is none.
        """
        entry = self.get(sequence)
        if entry is None:
            raise KeyError(sequence)
        return entry

    def get(self, sequence: int) -> ExtensionEntry | None:
        """The entry with that sequence, if there is one."""
        if not 1 <= sequence <= self._length:
            return None
        return self.open.get(sequence) or self._settled[sequence - 1]

    def __contains__(self, invocation_id: InvocationId) -> bool:
        return 0 < self._sequences.get(invocation_id, 0) <= self._length

    def __iter__(self) -> Iterator[ExtensionEntry]:
        """All entries, oldest first."""
        return (self[sequence] for sequence in range(1, self._length + 1))

    def __reversed__(self) -> Iterator[ExtensionEntry]:
        return (self[sequence] for sequence in range(self._length, 0, -1))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExtensionJournal):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # compared by content, like a list

    def changed_since(self, earlier: "ExtensionJournal") -> list[ExtensionEntry]:
        """The entries that an earlier revision of this journal has otherwise, or not at all."""
        candidates = (*earlier.open, *range(len(earlier) + 1, len(self) + 1))
        return [self[n] for n in candidates if self[n] is not earlier.get(n)]

    def updated(self, entries: Mapping[int, ExtensionEntry]) -> "ExtensionJournal":
        """This journal with entries replaced and, behind them, added in order of their sequence."""
        longer = ExtensionJournal()
        longer.open, longer._length = self.open, self._length
        longer._settled, longer._sequences = self._settled, self._sequences
        if self._was_continued(entries):  # by a commit that did not become durable
            longer._settled = self._settled[: self._length]
            for sequence in self.open:
                longer._settled[sequence - 1] = None
            longer._sequences = {e.invocation.id: e.sequence for e in self}
        longer._take(entries)
        return longer

    def _was_continued(self, entries: Mapping[int, ExtensionEntry]) -> bool:
        """Whether another revision has been made of this one that this change would disturb."""
        settled = self._settled
        return len(settled) > self._length or any(
            settled[sequence - 1] is not None for sequence in entries if sequence <= self._length
        )

    def _take(self, entries: Mapping[int, ExtensionEntry]) -> None:
        opened = dict(self.open)
        for sequence, entry in sorted(entries.items()):
            if sequence > self._length:
                self._settled.append(None)
                self._sequences[entry.invocation.id] = sequence
                self._length = sequence
            if entry.is_open:
                opened[sequence] = entry
            else:
                opened.pop(sequence, None)
                self._settled[sequence - 1] = entry
        self.open = opened
