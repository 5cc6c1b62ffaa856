"""Letting others run while work comes faster than it makes anybody wait."""

from time import monotonic

import anyio.lowlevel

_SLICE_SECONDS = 0.001


class Pace:
    """Gives way after the first piece of work, and then once in a millisecond.

    A vendor's answer often lies in the receive buffer as a whole. Whoever reads it from there never
    waits, so its subscribers would hear nothing before it is over.

    Attributes:
        due: when it is time to give way, on the clock of `monotonic`.
    """

    def __init__(self) -> None:
        self.due = 0.0

    async def give_way(self) -> None:
        """Let the others run."""
        await anyio.lowlevel.checkpoint()
        self.due = monotonic() + _SLICE_SECONDS
