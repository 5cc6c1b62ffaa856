"""Where in History a subject stands, in twelve bytes each: the index of facts on the disk."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator

from agentslot.session.history import Subject


class CompactPositions:
    """Positions by the hash of a subject, which has 64 bits and a key of this process.

    Two of 100,000 subjects share one in one process of a billion. Whoever reads a fact looks
    whether it is the right one; whoever asks whether there is one would refuse a new identity.
    """

    __slots__ = ("_hashes", "_positions")

    def __init__(self) -> None:
        self._hashes = array("q")
        self._positions = array("I")

    def add(self, subject: Subject, position: int) -> None:
        """Take in what a fact is about; `sort` has to be called before anybody asks."""
        self._hashes.append(hash(subject))
        self._positions.append(position)

    def sort(self) -> None:
        """Make the positions ready to be asked for."""
        hashes, positions = self._hashes, self._positions
        order = sorted(range(len(hashes)), key=hashes.__getitem__)
        self._hashes = array("q", [hashes[place] for place in order])
        self._positions = array("I", [positions[place] for place in order])

    def __call__(self, subject: Subject) -> Iterator[int]:
        """Where facts about the subject are."""
        wanted = hash(subject)
        place = bisect_left(self._hashes, wanted)
        while place < len(self._hashes) and self._hashes[place] == wanted:
            yield self._positions[place]
            place += 1
