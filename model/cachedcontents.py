"""Keeping the heads of requests at the server, under names: made, used, renewed and deleted.

A request never waits for any of it. One whose head has no name yet goes out as it is, and a task of
the application asks the server to keep that head for those that come after.
"""

import hashlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.model.wire import WireRequest

log = logging.getLogger(__name__)

Exchange = Callable[[WireRequest, str], Awaitable[bytes]]
"""Sends a request with that HTTP method, and gives the body of its answer.

Raises:
    ModelError: there is none, or it is a failure.
"""

_BYTES_PER_TOKEN = 4
_USED = 0.95
"""So much of its time a content is named: the server's clock is another one."""
_RENEWED = 0.85
_PAUSE_SECONDS = 300.0
"""How long a head stays as it is that could not be kept, or not be named."""
_CLOSE_SECONDS = 5.0
_OWN_FAULT = frozenset({ModelErrorCode.QUOTA_EXHAUSTED, ModelErrorCode.CONTEXT_EXCEEDED})
"""Refusals that no cached content is the cause of."""


@dataclass(frozen=True, slots=True)
class ExplicitCaching:
    """When the beginning of requests is kept at the server for a time, which costs by the hour.

    Attributes:
        min_tokens: how large system prompt and tools must be together, taking four bytes for a
            token. The server's own cache serves smaller ones for nothing, if not always; and most
            models keep nothing of less than 4,096 tokens.
        ttl_seconds: how long one is kept. Whatever is still asked for then is kept anew.
        max_contents: so many different ones are kept at once; what is new after that goes without.

    Raises:
        ValueError: min_tokens or max_contents is less than 1, or ttl_seconds less than 60.
    """

    min_tokens: int = 32_768
    ttl_seconds: float = 3_600.0
    max_contents: int = 16

    def __post_init__(self) -> None:
        for name, value, least in (
            ("min_tokens", self.min_tokens, 1),
            ("ttl_seconds", self.ttl_seconds, 60),
            ("max_contents", self.max_contents, 1),
        ):
            if value < least:
                raise ValueError(f"{name} must be at least {least}, not {value}")


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is known of one head; times are those of the loop's clock.

    Attributes:
        name: what the server calls it; empty while it keeps nothing.
        until: until when the name is used.
        next_at: from when the server is asked to keep it, or to keep it anew.
    """

    name: str = ""
    until: float = 0.0
    next_at: float = float("inf")


class ContentRequests(Protocol):
    """How a wire says all of this to its server."""

    def creation(self, request: WireRequest, ttl_seconds: float) -> WireRequest:
        """Have the server keep the head of a request for so long; to be sent with POST."""
        ...

    def created_name(self, answer: bytes) -> str:
        """The name that the server gave to what it keeps, as it answered.

        Raises:
            ModelError: `invalid_answer`: it gave none.
        """
        ...

    def naming(self, request: WireRequest, name: str) -> WireRequest:
        """The request with the name of what the server keeps in place of its head."""
        ...

    def deletion(self, name: str) -> WireRequest:
        """Have the server forget what it keeps; to be sent with DELETE."""
        ...


class CachedContents:
    """What a server keeps for all Sessions, one content for each model and head."""

    def __init__(
        self, exchange: Exchange, requests: ContentRequests, caching: ExplicitCaching
    ) -> None:
        self._exchange = exchange
        self._requests = requests
        self._caching = caching
        self._kept: dict[bytes, _Kept] = {}
        self._living: dict[str, float] = {}  # every name that was given, and its end
        self._told = set[str]()
        self._tasks: list[TaskGroup] = []  # of the applications that run

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Keep contents as long as the block runs; at its end the server is told to forget them.

        Of several blocks, the last one to end has it forget.
        """
        try:
            async with anyio.create_task_group() as tasks:
                self._tasks.append(tasks)
                try:
                    yield
                finally:
                    self._tasks.remove(tasks)
                tasks.cancel_scope.cancel()
        finally:
            if not self._tasks:
                with anyio.move_on_after(_CLOSE_SECONDS, shield=True):
                    await self._delete_all()

    def shortened(self, request: WireRequest) -> WireRequest:
        """The request with a name in place of its head, if the server keeps that by now."""
        if not self._tasks or request.head < self._caching.min_tokens * _BYTES_PER_TOKEN:
            return request
        now, key = anyio.current_time(), _key_of(request)
        kept = self._kept.get(key) or self._room(now)
        if kept is None:
            return request
        if now >= kept.next_at:
            self._kept[key] = replace(kept, next_at=float("inf"))
            self._tasks[-1].start_soon(self._create, key, request)
        if not kept.name or now >= kept.until:
            return request
        return self._requests.naming(request, kept.name)

    def refused(self, sent: WireRequest, error: ModelError) -> bool:
        """Whether a request was refused that names a content, which is then named no more.

        The same request is to be sent once again, and does without.
        """
        refusal = error.status is not None and 400 <= error.status < 500
        if not sent.cached or not refusal or error.retryable or error.code in _OWN_FAULT:
            return False
        log.warning(
            "a request to %s was refused with the cached content that it named; it is sent again"
            " without, and for %g minutes its like name none",
            _place_of(sent),
            _PAUSE_SECONDS / 60,
        )
        for key, kept in self._kept.items():
            if kept.name == sent.cached:
                self._kept[key] = _Kept(next_at=anyio.current_time() + _PAUSE_SECONDS)
                break
        return True

    def _room(self, now: float) -> _Kept | None:
        """A place for one head more: prompts that always change must not fill the server."""
        if len(self._kept) >= self._caching.max_contents:
            self._kept = {
                key: kept
                for key, kept in self._kept.items()
                if now < kept.until or now < kept.next_at
            }
        return _Kept(next_at=now) if len(self._kept) < self._caching.max_contents else None

    async def _create(self, key: bytes, request: WireRequest) -> None:
        began, ttl = anyio.current_time(), self._caching.ttl_seconds
        try:
            answer = await self._exchange(self._requests.creation(request, ttl), "POST")
            name = self._requests.created_name(answer)
        except Exception as error:  # noqa: BLE001 - whatever a resolver raises, agents do without
            self._tell_once(_place_of(request), error)
            again = anyio.current_time() + _PAUSE_SECONDS
            self._kept[key] = replace(self._kept.get(key, _Kept()), next_at=again)
            return
        except anyio.get_cancelled_exc_class():
            # An application has stopped, and another one may go on.
            self._kept[key] = replace(self._kept.get(key, _Kept()), next_at=began)
            raise
        self._living = {name: end for name, end in self._living.items() if began < end}
        self._living[name] = began + ttl
        self._kept[key] = _Kept(name, began + ttl * _USED, began + ttl * _RENEWED)

    def _tell_once(self, place: str, error: Exception) -> None:
        """Log the first failure of each model; another kind of error may hold a secret."""
        level = logging.DEBUG if place in self._told else logging.WARNING
        self._told.add(place)
        message = error.message if isinstance(error, ModelError) else type(error).__name__
        log.log(level, "no cached content was made for %s: %s", place, message)

    async def _delete_all(self) -> None:
        now, living = anyio.current_time(), self._living
        self._kept, self._living = {}, {}
        async with anyio.create_task_group() as tasks:
            for name, end in living.items():
                if now < end:
                    tasks.start_soon(self._delete, name)

    async def _delete(self, name: str) -> None:
        try:
            await self._exchange(self._requests.deletion(name), "DELETE")
        except Exception as error:  # noqa: BLE001 - it ends by itself, and we have to stop
            log.info("%s was not deleted: %s", name, type(error).__name__)


def _place_of(request: WireRequest) -> str:
    """The model with its path, for people."""
    return request.path.rpartition(":")[0]


def _key_of(request: WireRequest) -> bytes:
    """What has the same model and the same head has the same key."""
    digest = hashlib.blake2b(f"{request.path}\n".encode(), digest_size=16)
    digest.update(memoryview(request.body)[: request.head])
    return digest.digest()
