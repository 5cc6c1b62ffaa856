"""Letting others run while work comes faster than it makes anybody wait."""

from time import monotonic

import anyio.lowlevel

_SLICE_SECONDS = 0.001


class Pace:
    """Gives way after the first piece of work, and then once in a millisecond.

    A vendor's answer often lies in the receive buffer as a whole. Whoever reads it from there never
    waits, so its subscribers would hear nothing before it is over.
    """

    def __init__(self) -> None:
        self._gave_way = 0.0

    @property
    def is_due(self) -> bool:
        """Whether it is time to give way."""
        return monotonic() - self._gave_way > _SLICE_SECONDS

    async def give_way(self) -> None:
        """Let the others run."""
        await anyio.lowlevel.checkpoint()
        self._gave_way = monotonic()
