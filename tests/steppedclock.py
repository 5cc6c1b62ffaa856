"""The loop's clock for tests of time limits: moved on by hand, so nothing waits and nothing races.

A test module that uses it takes its fixture, `anyio_backend`, in place of the usual one.
"""

import asyncio  # noqa: TID251 - a loop of its kind is what is put forward here
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

import anyio
import pytest
import trio.lowlevel
import trio.testing

from agentslot._http import network_transport, stream_response

if TYPE_CHECKING:
    from agentslot._http import AsyncByteStream, HttpRequest, HttpResponse


class _SteppedLoop(asyncio.SelectorEventLoop):
    """A loop whose clock can be put forward."""

    skipped = 0.0

    def time(self) -> float:
        return super().time() + self.skipped


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Both backends, each with a clock that `skip` moves; that of trio stands still otherwise."""
    options: dict[str, dict[str, Any]] = {
        "asyncio": {"loop_factory": _SteppedLoop},
        "trio": {"clock": trio.testing.MockClock()},
    }
    return request.param, options[request.param]


def skip(seconds: float) -> None:
    """Let that much time pass at once for everything that has a time limit."""
    if trio.lowlevel.in_trio_run():
        clock = trio.lowlevel.current_clock()
        assert isinstance(clock, trio.testing.MockClock)
        clock.jump(seconds)
    else:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, _SteppedLoop)
        loop.skipped += seconds


class WatchedNetwork:
    """The network, which knows how much of an answer has come and that more is waited for.

    Attributes:
        skipped: how much time has passed by `skip` while a client waited, in seconds.
    """

    def __init__(self) -> None:
        self.skipped = 0.0
        self._network = network_transport()
        self._received = 0
        self._asked = anyio.Event()

    async def handle_async_request(self, request: "HttpRequest") -> "HttpResponse":
        self._received = 0
        response = await self._network.handle_async_request(request)
        body: AsyncByteStream = response.stream  # type: ignore[assignment]  # an asynchronous one
        pieces = self._watched(body)
        return stream_response(response.status_code, response.headers, pieces, body.aclose)

    async def _watched(self, body: "AsyncByteStream") -> AsyncIterator[bytes]:
        async for piece in body:
            yield piece
            # Whoever is woken by this runs when the wait for the next piece has begun.
            self._received += len(piece)
            self._asked.set()

    async def aclose(self) -> None:
        await self._network.aclose()

    def skipping(self, seconds: float) -> Callable[[int], Awaitable[None]]:
        """For a server: waits until its client has read so many bytes, then lets time pass."""

        async def paced(sent: int) -> None:
            while self._received < sent:
                self._asked = anyio.Event()
                await self._asked.wait()
            skip(seconds)
            self.skipped += seconds

        return paced
