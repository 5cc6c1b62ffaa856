"""The guard of the web tools: where a URL leads is checked by name, by address and once connected.

1. The scheme and the host of every URL, of redirects too.
2. Every address of the name, not only the one that is used; a name with one bad address is refused.
3. The address that was really connected, before a byte is sent: whatever the resolver says the
   second time, this is the peer.
"""

import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_network
from urllib.parse import quote, urljoin, urlsplit

import anyio

from agentslot._exchange import Dialling, Target
from agentslot.tool.errors import ToolFailedError
from agentslot.tool.web.addresses import Network, blocked_as, is_within

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

_UNSAFE = re.compile(r"[\x00-\x20\x7f]")
_PORTS = {"http": 80, "https": 443}


class Guard:
    """What the requests of one module may reach.

    Attributes:
        allow_http: whether URLs without encryption are followed.
        dialling: opens connections that this guard has checked.
    """

    def __init__(
        self,
        *,
        allow_http: bool = False,
        networks: Sequence[str] = (),
        resolve: Resolve | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """Set up the guard.

        Args:
            allow_http: also follow URLs of the scheme http.
            networks: networks that may be reached although they are not public, such as
                `127.0.0.1/32`.
            resolve: gives all addresses of a name; the system's resolver by default.
            ssl_context: verifies servers.

        Raises:
            ValueError: one of `networks` is no network.
        """
        self.allow_http = allow_http
        self._networks: tuple[Network, ...] = tuple(map(ip_network, networks))
        self._resolve = resolve or resolved
        self.dialling = Dialling(self._addresses, self._confirm, ssl_context)

    def target(self, url: str, base: Target | None = None) -> Target:
        """Read a URL; a relative one starts from `base`.

        Raises:
            ToolFailedError: `invalid_arguments` or `scheme_not_allowed`.
        """
        target = parse_url(urljoin(base.url, url) if base else url)
        if target.scheme == "http" and not self.allow_http:
            raise ToolFailedError(
                "scheme_not_allowed", f"{target.origin} is not encrypted; use an https URL"
            )
        return target

    async def _addresses(self, host: str, port: int) -> Sequence[str]:
        addresses = await self._resolve(host, port)
        for address in addresses:
            self._require_allowed(address, host)
        return addresses

    def _confirm(self, address: str) -> None:
        self._require_allowed(address, address)

    def _require_allowed(self, address: str, host: str) -> None:
        kind = blocked_as(address)
        if kind is None or is_within(address, self._networks):
            return
        leads = f"{host!r} is" if host == address else f"{host!r} leads to {address}, which is"
        raise ToolFailedError(
            "address_not_allowed", f"{leads} no public address ({kind}); use a public URL"
        )


def parse_url(url: str) -> Target:
    """Take a URL apart.

    Raises:
        ToolFailedError: `scheme_not_allowed` for another scheme than http and https,
            `invalid_arguments` for no URL, or one with a password.
    """
    if _UNSAFE.search(url):
        raise _invalid(url, "a space or control character must be percent-encoded")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise _invalid(url, str(error)) from error
    if parts.scheme not in _PORTS:
        raise ToolFailedError(
            "scheme_not_allowed", f"{url[:200]!r} is no https URL; it must begin with https://"
        )
    if not host:
        raise _invalid(url, "it names no host")
    if parts.username is not None or parts.password is not None:
        raise _invalid(url, "it must not carry a user name or password")
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="/%:@!$&'()*+,;=~-._?")
    return Target(
        parts.scheme,
        _ascii_host(host, url),
        _PORTS[parts.scheme] if port is None else port,
        f"{path}?{query}" if query else path,
    )


def _ascii_host(host: str, url: str) -> str:
    plain = host.rstrip(".")
    try:
        return plain if plain.isascii() and plain else plain.encode("idna").decode()
    except UnicodeError as error:
        raise _invalid(url, "its host is no name") from error


async def resolved(host: str, port: int) -> Sequence[str]:
    """All addresses that the system's resolver gives, each once.

    Raises:
        ToolFailedError: `request_failed` if there are none.
    """
    try:
        found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ToolFailedError(
            "request_failed", f"the host {host!r} was not found; check its spelling"
        ) from error
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _invalid(url: str, reason: str) -> ToolFailedError:
    return ToolFailedError("invalid_arguments", f"{url[:200]!r} is no usable URL: {reason}")
