"""One HTTP exchange on a connection whose address was looked at before and after it was opened.

This lies one layer below the client of `agentslot._http`: there a name is resolved inside the pool,
where nobody can look. Nothing is followed, decompressed, kept alive or read from the environment.
"""

import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import anyio.to_thread

from agentslot._http import HttpError, HttpFailure, http_library

CONNECT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes.

    Attributes:
        scheme: `http` or `https`.
        host: a name or an address; an IPv6 address stands without its brackets.
        path: what follows the authority, percent-encoded, query included.
    """

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Host and port as the Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        is_default = self.port == {"http": 80, "https": 443}[self.scheme]
        return host if is_default else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme and authority; headers of one origin are no business of another."""
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        """The whole address."""
        return self.origin + self.path


@dataclass(frozen=True, slots=True)
class Dialling:
    """How a connection is opened.

    Attributes:
        resolve: all addresses of a host and port; raises if one of them is not to be reached.
        confirm: looks at the address that was really connected; raises likewise.
        ssl_context: verifies servers; by default as the HTTP library does.
    """

    resolve: Callable[[str, int], Awaitable[Sequence[str]]]
    confirm: Callable[[str], None]
    ssl_context: ssl.SSLContext | None = None


class RawAnswer:
    """An answer whose head has arrived; its body is read as it comes, still compressed.

    Attributes:
        headers: names in lower case; of several fields with one name the last.
        header_bytes: size of all fields.
    """

    def __init__(self, response: Any, pieces: AsyncIterator[bytes]) -> None:
        fields = [(name.decode("latin-1"), v.decode("latin-1")) for name, v in response.headers]
        self.status: int = response.status
        self.headers = {name.lower(): value for name, value in fields}
        self.header_bytes = sum(len(name) + len(value) for name, value in fields)
        self._pieces = pieces

    async def read(self) -> bytes:
        """Wait for the next bytes; empty at the end.

        Raises:
            HttpError: the connection broke.
        """
        with _core_errors():
            return await anext(self._pieces, b"")


@asynccontextmanager
async def exchange(
    method: str,
    target: Target,
    headers: Sequence[tuple[str, str]],
    content: bytes,
    dialling: Dialling,
) -> AsyncGenerator[RawAnswer]:
    """Send one request; leaving the block closes the connection.

    Raises:
        HttpError: no answer.
        Exception: whatever `dialling` raises.
    """
    core = _core()
    context = dialling.ssl_context
    if context is None and target.scheme == "https":
        context = await anyio.to_thread.run_sync(_default_ssl_context)
    url = core.URL(
        scheme=target.scheme.encode(),
        host=target.host.encode(),
        port=target.port,
        target=target.path.encode(),
    )
    fields = [("Host", target.authority), *headers, ("Connection", "close")]
    if content or method in {"POST", "PUT", "PATCH"}:
        fields.append(("Content-Length", str(len(content))))
    encoded = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in fields]
    request = core.Request(method, url, headers=encoded, content=content)
    async with core.AsyncConnectionPool(context, network_backend=_Dialler(dialling)) as pool:
        with _core_errors():
            response = await pool.handle_async_request(request)
        try:
            async with aclosing(response.aiter_stream()) as pieces:
                yield RawAnswer(response, pieces)
        finally:
            await response.aclose()


class _Dialler:
    """The network backend of the pool."""

    def __init__(self, dialling: Dialling) -> None:
        self._dialling = dialling
        self._network = _core().AnyIOBackend()

    async def connect_tcp(self, host: str, port: int, **options: Any) -> Any:
        """Connect to the first address that answers; only ever to one that was resolved here."""
        failure: Exception | None = None
        for address in await self._dialling.resolve(host, port):
            try:
                options["timeout"] = CONNECT_SECONDS
                stream = await self._network.connect_tcp(address, port, **options)
            except (_core().ConnectError, _core().ConnectTimeout) as error:
                failure = error
                continue
            try:
                self._dialling.confirm(stream.get_extra_info("server_addr")[0])
            except BaseException:
                await stream.aclose()
                raise
            return stream
        raise failure or _core().ConnectError("the name has no address")


@contextmanager
def _core_errors() -> Generator[None]:
    core = _core()
    try:
        yield
    except core.TimeoutException as error:
        raise HttpError(HttpFailure.TIMEOUT) from error
    except core.ConnectError as error:
        raise HttpError(HttpFailure.UNREACHABLE) from error
    except core.LocalProtocolError as error:
        raise HttpError(HttpFailure.INVALID_REQUEST) from error
    except (core.NetworkError, core.ProtocolError) as error:
        raise HttpError(HttpFailure.BROKEN) from error


@cache
def _default_ssl_context() -> ssl.SSLContext:
    context: ssl.SSLContext = http_library().create_ssl_context(trust_env=False)
    return context


def _core() -> Any:  # one of two modules with one interface, as in agentslot._http
    """The layer below the client library that is used."""
    return import_module(http_library().__name__.replace("httpx", "httpcore"))
