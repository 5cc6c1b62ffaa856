"""No more requests a minute than a provider allows."""

import time
from collections.abc import Awaitable, Callable

import anyio

from agentslot.model.contract import AttemptRecorder, ModelRequest, ModelStream
from agentslot.model.extension import Proceed
from agentslot.model.middleware.recording import PassingRecorder
from agentslot.session import AttemptId


class TokenBucket:
    """Spreads events over time: `burst` at once, then one each interval.

    It keeps when the next event is due instead of a count, so a wait is never credited again.
    """

    def __init__(self, per_minute: float, burst: int) -> None:
        """Allow `per_minute` events a minute in the long run."""
        if not (per_minute > 0 and burst >= 1):
            raise ValueError(
                f"a rate limit needs a positive rate and a burst of at least 1, not {per_minute}"
                f" a minute and {burst}"
            )
        self._interval = 60 / per_minute
        self._ahead = (burst - 1) * self._interval
        self._due = float("-inf")

    def reserve(self, now: float) -> float:
        """Take the next place and return how many seconds to wait for it; `now` in seconds."""
        due = max(self._due, now)
        self._due = due + self._interval
        return max(0.0, due - self._ahead - now)

    def give_back(self) -> None:
        """Return a place that was not used."""
        self._due -= self._interval


class RateLimit:
    """A ModelMiddleware that lets each physical request wait for its turn, retries included.

    Waiting is no attempt: nothing is recorded before the turn has come.
    """

    def __init__(
        self,
        requests_per_minute: float,
        *,
        burst: int = 1,
        provider: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Limit the requests of the whole application.

        Args:
            requests_per_minute: in the long run.
            burst: how many may go out at once after a pause.
            provider: key of the only provider that is limited; None limits all together.
            clock: seconds from any beginning.
        """
        self._bucket = TokenBucket(requests_per_minute, burst)
        self._provider = provider
        self._clock = clock

    def execute(
        self, request: ModelRequest, recorder: AttemptRecorder, proceed: Proceed
    ) -> ModelStream:
        """Begin the call; its attempts start in turn."""
        if self._provider in (None, request.config.provider):
            recorder = _PacedRecorder(recorder, self._wait)
        return proceed(request, recorder)

    async def _wait(self) -> None:
        delay = self._bucket.reserve(self._clock())
        try:
            await anyio.sleep(delay)
        except BaseException:
            self._bucket.give_back()
            raise


class _PacedRecorder(PassingRecorder):
    """Waits before the start of each attempt is recorded."""

    def __init__(self, recorder: AttemptRecorder, wait: Callable[[], Awaitable[None]]) -> None:
        super().__init__(recorder)
        self._wait = wait

    async def started(self) -> AttemptId:
        await self._wait()
        return await super().started()
