"""What time it is, and that it never goes backwards in a Session."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], datetime]

_TICK = timedelta(microseconds=1)


def utc_now() -> datetime:
    """The time of this machine, in UTC."""
    return datetime.now(UTC)


class StrictClock:
    """A clock whose every reading is later than the one before, however the machine's is set."""

    __slots__ = ("_clock", "_last")

    def __init__(self, clock: Clock = utc_now) -> None:
        self._clock = clock
        self._last = datetime.min.replace(tzinfo=UTC)

    def __call__(self, after: datetime | None = None) -> datetime:
        """The time: later than the last reading, and than `after`."""
        now = self._clock()
        last = self._last if after is None or after < self._last else after
        if now <= last:
            now = last + _TICK
        self._last = now
        return now
