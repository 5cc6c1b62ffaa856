"""The one place that knows which HTTP client is installed: httpx2 if it is there, else httpx.

Both have the same interface. Nothing else imports either, and this module imports them only when a
client is made, so that `import agentslot` stays light.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from enum import StrEnum
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

import anyio

from agentslot._errors import AgentSlotError

if TYPE_CHECKING:  # the checkers know httpx; httpx2 looks the same
    import httpx  # noqa: TID251 - this module is the exception that the ban names

    AsyncByteStream: TypeAlias = httpx.AsyncByteStream
    AsyncClient: TypeAlias = httpx.AsyncClient
    HttpRequest: TypeAlias = httpx.Request
    HttpResponse: TypeAlias = httpx.Response


_CLOSE_SECONDS = 2.0


class HttpTransport(Protocol):
    """What carries requests: the network, or what stands in for it."""

    async def handle_async_request(self, request: "HttpRequest") -> "HttpResponse":
        """Send a request and wait for the head of its answer."""
        ...

    async def aclose(self) -> None:
        """Close all connections."""
        ...


class HttpFailure(StrEnum):
    """Why there is no complete response; the closed set."""

    UNREACHABLE = "unreachable"
    """No connection: name, network, TLS or proxy. Nothing was sent."""
    TIMEOUT = "timeout"
    """Connecting, sending or waiting for the next bytes took too long."""
    BROKEN = "broken"
    """The connection ended or spoke no HTTP in the middle."""
    UNREADABLE = "unreadable"
    """The body could not be decompressed."""
    INVALID_REQUEST = "invalid_request"
    """The request itself cannot be sent: bad URL, scheme or header."""


_MESSAGES = {
    HttpFailure.UNREACHABLE: "the server could not be reached",
    HttpFailure.TIMEOUT: "the server did not answer in time",
    HttpFailure.BROKEN: "the connection broke before the answer was complete",
    HttpFailure.UNREADABLE: "the answer could not be decompressed",
    HttpFailure.INVALID_REQUEST: "the request cannot be sent: check the base URL and the headers",
}


class HttpError(AgentSlotError):
    """An exchange that did not complete. Neither the URL nor a header stands in the message.

    Attributes:
        failure: The one thing a caller may branch on.
    """

    def __init__(self, failure: HttpFailure) -> None:
        super().__init__(_MESSAGES[failure])
        self.failure = failure


def new_client(
    *,
    idle_seconds: float,
    connect_seconds: float = 10.0,
    max_connections: int = 100,
    transport: HttpTransport | None = None,
) -> "AsyncClient":
    """Make an asynchronous client without hidden behaviour.

    Nothing is read from the environment (proxies, certificates, .netrc) and redirects are not
    followed: a redirect must not carry credentials to another host. Close it with `aclose()`.

    Args:
        idle_seconds: Longest silence while sending or receiving. It is no limit on the whole.
        connect_seconds: Longest wait for a new connection.
        max_connections: Requests that may run at once; others wait for `connect_seconds`.
        transport: Stands in for the network in tests, or checks addresses before connecting.
    """
    http = http_library()
    client: AsyncClient = http.AsyncClient(
        trust_env=False,
        follow_redirects=False,
        timeout=http.Timeout(idle_seconds, connect=connect_seconds, pool=connect_seconds),
        limits=http.Limits(max_connections=max_connections, max_keepalive_connections=20),
        headers={"user-agent": _user_agent()},
        transport=transport,
    )
    return client


def network_transport() -> HttpTransport:
    """A transport to the network that takes nothing from the environment."""
    transport: HttpTransport = http_library().AsyncHTTPTransport(trust_env=False)
    return transport


def stream_response(
    status: int,
    headers: Mapping[str, str],
    pieces: AsyncIterator[bytes],
    closed: Callable[[], Awaitable[None]] | None = None,
) -> "HttpResponse":
    """An answer whose body comes in pieces, for transports of one's own.

    Args:
        status: HTTP status.
        headers: Header fields.
        pieces: The body.
        closed: Called when nobody wants more of it.
    """
    http = http_library()
    base: type[object] = http.AsyncByteStream

    class Pieces(base):  # type: ignore[misc, valid-type]  # the library asks for this base
        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for piece in pieces:
                yield piece

        async def aclose(self) -> None:
            if closed is not None:
                await closed()

    response: HttpResponse = http.Response(status, headers=dict(headers), stream=Pieces())
    return response


class HttpBody:
    """An answer whose head has arrived; its body is read piece by piece, as it comes.

    Attributes:
        status: HTTP status.
        headers: Header fields, names in lower case.
    """

    def __init__(self, response: "httpx.Response") -> None:
        self.status = response.status_code
        self.headers: Mapping[str, str] = dict(response.headers)
        self._response = response
        self._errors = _errors()
        # `aiter_raw` would put one generator more between each piece and us.
        self._pieces = cast("AsyncByteStream", response.stream).__aiter__()

    async def read(self) -> bytes:
        """Wait for the next bytes; empty at the end.

        Raises:
            HttpError: The connection broke or was silent for too long.
        """
        # As `http_errors()` does, which would cost as much as all the rest; so would `anext`.
        try:
            async for piece in self._pieces:
                if piece:
                    return piece
        except self._errors as error:
            raise HttpError(_classify(error)) from error
        return b""

    async def aclose(self, linger_seconds: float = 0.0) -> None:
        """Give the connection back, or close it if the body was not read to its end.

        Args:
            linger_seconds: How long to wait for the end of a body of which nothing more is wanted,
                so that the connection can be used again.
        """
        # Cancelling a read: the library's generators are nested and close only from the inside.
        with anyio.move_on_after(linger_seconds):
            with suppress(HttpError):
                while await self.read():
                    pass
        with anyio.move_on_after(_CLOSE_SECONDS, shield=True):
            await self._response.aclose()


async def open_body(
    client: "AsyncClient",
    url: str,
    headers: Mapping[str, str],
    content: bytes,
    *,
    method: str = "POST",
) -> HttpBody:
    """Send `content` and wait for the head of the answer. Close what is returned.

    Compression is not asked for: a compressed stream of events would arrive in large lumps.

    Raises:
        HttpError: No answer; or one that is compressed all the same.
    """
    with http_errors():
        request = client.build_request(method, url, headers=dict(headers), content=content)
        request.headers["accept-encoding"] = "identity"
        body = HttpBody(await client.send(request, stream=True))
    if body.headers.get("content-encoding", "identity") != "identity":
        await body.aclose()
        raise HttpError(HttpFailure.UNREADABLE)
    return body


@contextmanager
def http_errors() -> Generator[None]:
    """Turn what the client library raises inside the block into `HttpError`.

    Raises:
        HttpError: The exchange did not complete.
    """
    try:
        yield
    except _errors() as error:
        raise HttpError(_classify(error)) from error


def _errors() -> tuple[type[Exception], ...]:
    http = http_library()
    return http.HTTPError, http.InvalidURL, http.StreamError


def _classify(error: Exception) -> HttpFailure:
    http = http_library()
    failures: list[tuple[tuple[type[Exception], ...], HttpFailure]] = [
        ((http.ConnectError, http.ProxyError), HttpFailure.UNREACHABLE),
        ((http.TimeoutException,), HttpFailure.TIMEOUT),
        (
            (http.LocalProtocolError, http.UnsupportedProtocol, http.InvalidURL, http.StreamError),
            HttpFailure.INVALID_REQUEST,
        ),
        ((http.DecodingError,), HttpFailure.UNREADABLE),
    ]
    return next((kind for types, kind in failures if isinstance(error, types)), HttpFailure.BROKEN)


def _user_agent() -> str:
    try:
        return f"agentslot/{version('agentslot')}"
    except PackageNotFoundError:  # a source tree that nobody installed
        return "agentslot"


@cache
def http_library() -> Any:  # one of two modules with one interface; Any spares a copy of stubs
    """The client library that is used, as a module; for tests and for custom transports."""
    try:
        return import_module("httpx2")
    except ImportError:
        return import_module("httpx")
