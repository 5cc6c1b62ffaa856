"""Real exchanges with a provider, recorded once and replayed in tests ever after.

```python
module = OpenAIResponsesModule(["gpt-5-mini"]).over(exchanges("tests/recordings/hello.json"))
```

The first run asks the provider and writes the file, all others read it and need no network. What is
recorded is what crossed the wire, so encoder, decoder, retries and errors are the real ones.
"""

from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

import anyio.to_thread

from agentslot._http import HttpTransport, network_transport, stream_response
from agentslot.model.testing.recording import (
    Exchange,
    ExchangeMismatch,
    first_difference,
    read_recording,
    write_recording,
)
from agentslot.session.credential import (
    BearerToken,
    CredentialRef,
    CredentialResolver,
    LookupCredentials,
)

if TYPE_CHECKING:
    from agentslot._http import HttpRequest, HttpResponse


def exchanges(path: str | Path) -> HttpTransport:
    """Replay the recording if the file is there, else make it."""
    return ExchangePlayer(path) if Path(path).exists() else ExchangeRecorder(path)


class ExchangeRecorder:
    """A transport that asks the provider and keeps what was said, for `ExchangePlayer`.

    The file is written when the connections are closed, so when the application ends. Keys do not
    get into it: only known header fields are kept, and what stood in the others is replaced
    wherever a server repeated it.
    """

    def __init__(self, path: str | Path, transport: HttpTransport | None = None) -> None:
        """Write to `path` what goes through `transport`, by default the network."""
        self._path = Path(path)
        self._transport = transport
        self._exchanges: list[Exchange] = []

    async def handle_async_request(self, request: "HttpRequest") -> "HttpResponse":
        """Pass a request on, and keep it with its answer."""
        if self._transport is None:
            self._transport = await anyio.to_thread.run_sync(network_transport)
        response = await self._transport.handle_async_request(request)
        body = cast("AsyncIterable[bytes]", response.stream)  # it could be synchronous elsewhere
        pieces: list[bytes] = []

        async def watched() -> AsyncIterator[bytes]:
            async for piece in body:
                pieces.append(piece)
                yield piece

        async def closed() -> None:
            await response.aclose()
            self._keep(request, response.status_code, dict(response.headers), b"".join(pieces))

        return stream_response(response.status_code, dict(response.headers), watched(), closed)

    async def aclose(self) -> None:
        """Write the file and close the connections."""
        if self._transport is not None:
            await self._transport.aclose()
            self._transport = None
        await anyio.to_thread.run_sync(write_recording, self._path, tuple(self._exchanges))

    def _keep(
        self, request: "HttpRequest", status: int, headers: Mapping[str, str], body: bytes
    ) -> None:
        said = Exchange(
            _path_of(request), dict(request.headers), request.content, status, headers, body
        )
        self._exchanges.append(said.without_secrets())


class ExchangePlayer:
    """A transport that answers from a recording, and never from the network.

    Each exchange answers once, the first that fits: so equal requests get their answers in order.

    Attributes:
        credentials: gives out what nobody looks at, so a replay needs no key.
    """

    credentials: CredentialResolver

    def __init__(self, path: str | Path) -> None:
        """Read the recording at `path` when it is first needed."""
        self._path = Path(path)
        self._left: list[Exchange] | None = None
        self.credentials = _NoKeys()

    async def handle_async_request(self, request: "HttpRequest") -> "HttpResponse":
        """Answer a request as it was answered when it was recorded.

        Raises:
            ExchangeMismatch: no such request is left, and the message says where the next one
                differs; or the file is no recording.
        """
        if self._left is None:
            self._left = await anyio.to_thread.run_sync(read_recording, self._path)
        path, body = _path_of(request), request.content
        for number, exchange in enumerate(self._left):
            if exchange.answers(path, body):
                del self._left[number]
                return stream_response(exchange.status, exchange.headers, _once(exchange.body))
        raise ExchangeMismatch(self._difference(self._left, path, body))

    async def aclose(self) -> None:
        """Nothing is open."""

    def _difference(self, left: Sequence[Exchange], path: str, body: bytes) -> str:
        where = f"the recording {self._path.name!r}"
        nearest = next((each for each in left if each.path == path), None)
        if nearest is None:
            return f"{where} has no request to {path!r} left: delete it to record it again"
        difference = first_difference(nearest.request, body)
        return (
            f"{where} has no such request to {path!r} left; the next one differs in {difference}:"
            " delete it to record it again"
        )


class _NoKeys(LookupCredentials):
    async def lookup(self, ref: CredentialRef) -> BearerToken:
        return BearerToken("a replay needs no key")


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body


def _path_of(request: "HttpRequest") -> str:
    return urlsplit(str(request.url)).path
