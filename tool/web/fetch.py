"""A request with its redirects: each hop is checked like the first, and headers stay at home."""

import re
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import anyio

from agentslot._exchange import RawAnswer, Target, exchange
from agentslot._http import HttpError, HttpFailure
from agentslot.tool.errors import ToolFailedError
from agentslot.tool.web.body import Body, read_body
from agentslot.tool.web.guard import Guard
from agentslot.tool.web.hosts import HostList

MAX_REDIRECTS = 5
MAX_HEADER_BYTES = 64 * 1024

SHOWN_HEADERS = (
    "content-type", "content-length", "location", "last-modified", "etag", "cache-control",
)  # fmt: skip
"""Header fields of an answer that are passed on, `MAX_SHOWN_HEADER` characters of each."""
MAX_SHOWN_HEADER = 256

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SAFE = frozenset({"GET", "HEAD"})
_TRAVELLING = re.compile(r"accept(-[a-z]+)?|user-agent|content-type", re.IGNORECASE)
_FAILURES = {
    HttpFailure.UNREACHABLE: "cannot be reached: no server, or no valid certificate",
    HttpFailure.TIMEOUT: "did not answer in time",
    HttpFailure.BROKEN: "broke the connection before the answer was complete",
    HttpFailure.INVALID_REQUEST: "cannot be asked: a header or the URL has a forbidden character",
    HttpFailure.UNREADABLE: "sent an answer that cannot be read",
}


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked of a server."""

    target: Target
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    content: bytes = b""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the last server said.

    Attributes:
        headers: those of SHOWN_HEADERS that it had.
    """

    target: Target
    status: int
    headers: Mapping[str, str]
    body: Body


class Fetcher:
    """Asks servers, within a guard, a list of hosts, a size and a time.

    Attributes:
        timeout_seconds: the limit on a whole call, redirects and body included.
        max_bytes: the limit on a body, on the wire and decompressed.
    """

    def __init__(
        self, guard: Guard, hosts: HostList | None, *, timeout_seconds: float, max_bytes: int
    ) -> None:
        """Set up; without `hosts` every public host may be asked."""
        self.guard = guard
        self.timeout_seconds = timeout_seconds
        self.max_bytes = max_bytes
        self._hosts = hosts

    async def fetch(self, query: Query, *, timeout_seconds: float | None = None) -> Answer:
        """Send the query and follow where it is sent on.

        Raises:
            ToolFailedError: `host_not_allowed`, `scheme_not_allowed`, `address_not_allowed`,
                `too_many_redirects`, `redirect_loop`, `redirect_refused`, `timeout`,
                `request_failed`.
        """
        limit = min(timeout_seconds or self.timeout_seconds, self.timeout_seconds)
        with anyio.move_on_after(limit):
            return await self._follow(query)
        origin = query.target.origin
        raise ToolFailedError("timeout", f"{origin} gave no complete answer in {limit:g} seconds")

    async def _follow(self, query: Query) -> Answer:
        seen: set[tuple[str, str]] = set()
        for _ in range(MAX_REDIRECTS + 1):
            seen.add((query.method, query.target.url))
            async with self._ask(query) as raw:
                location = raw.headers.get("location")
                if raw.status not in _REDIRECTS or not location:
                    body = await read_body(raw, self.max_bytes)
                    return Answer(query.target, raw.status, _shown(raw.headers), body)
            query = self._redirected(query, raw.status, location, seen)
        raise ToolFailedError(
            "too_many_redirects",
            f"more than {MAX_REDIRECTS} redirects; ask for the last URL itself",
        )

    @asynccontextmanager
    async def _ask(self, query: Query) -> AsyncGenerator[RawAnswer]:
        target = query.target
        if self._hosts is not None:
            self._hosts.require(target)
        headers = {"Accept-Encoding": "gzip", "User-Agent": "agentslot", **query.headers}
        try:
            async with exchange(
                query.method,
                target,
                list(headers.items()),
                query.content,
                self.guard.dialling,
            ) as raw:
                if raw.header_bytes > MAX_HEADER_BYTES:
                    raise ToolFailedError("request_failed", f"{target.origin} sent huge headers")
                yield raw
        except HttpError as error:
            message = f"{target.origin} {_FAILURES[error.failure]}"
            raise ToolFailedError("request_failed", message) from error

    def _redirected(
        self, query: Query, status: int, location: str, seen: Collection[tuple[str, str]]
    ) -> Query:
        """The next query, as far as one may go on."""
        target = self.guard.target(location, query.target)
        moved = replace(query, target=target)
        if status == 303 or (status in {301, 302} and query.method == "POST"):
            moved = replace(moved, method="HEAD" if query.method == "HEAD" else "GET", content=b"")
        if target.origin != query.target.origin:
            if moved.method not in _SAFE:
                raise ToolFailedError(
                    "redirect_refused",
                    f"{query.target.origin} sends a {moved.method} on to {target.origin}; ask that "
                    "URL itself if it is meant",
                )
            travelling = {k: v for k, v in query.headers.items() if _TRAVELLING.fullmatch(k)}
            moved = replace(moved, headers=travelling)
        if (moved.method, target.url) in seen:
            raise ToolFailedError("redirect_loop", f"{target.url[:200]} redirects to itself")
        return moved


def _shown(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: headers[name][:MAX_SHOWN_HEADER] for name in SHOWN_HEADERS if name in headers}
