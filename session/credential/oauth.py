"""OAuth tokens that are refreshed before they expire, once for all who wait."""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

import anyio

from agentslot.session.credential.errors import (
    CredentialError,
    CredentialNotFound,
    CredentialUnavailable,
)
from agentslot.session.credential.lookup import LookupCredentials
from agentslot.session.credential.material import BearerToken, CredentialRef

_FLOOR_SECONDS = 300
_REFRESH_SECONDS = 15


@dataclass(frozen=True, slots=True)
class OAuthToken:
    """What a vendor gave.

    Attributes:
        access: sent with each request.
        refresh: spent once to get the next pair; empty if there is no such flow.
        expires_at: Unix time in seconds; 0 never.
    """

    access: str = field(repr=False)
    refresh: str = field(default="", repr=False)
    expires_at: float = 0

    def fresh(self, now: float) -> bool:
        """Whether it may be used without a refresh at that time."""
        return not self.expires_at or now < self.expires_at - _FLOOR_SECONDS


class TokenStore(Protocol):
    """Keeps the tokens of each vendor. It needs no lock of its own."""

    async def load(self, vendor: str) -> OAuthToken | None:
        """The vendor's tokens, if there are some."""
        ...

    async def save(self, vendor: str, token: OAuthToken) -> None:
        """Keep the vendor's tokens in place of those before."""
        ...


class MemoryTokens:
    """A TokenStore that forgets with its process."""

    def __init__(self, **tokens: OAuthToken) -> None:
        self._tokens = dict(tokens)

    async def load(self, vendor: str) -> OAuthToken | None:
        """The vendor's tokens, if there are some."""
        return self._tokens.get(vendor)

    async def save(self, vendor: str, token: OAuthToken) -> None:
        """Keep the vendor's tokens."""
        self._tokens[vendor] = token


Refresh = Callable[[str, OAuthToken], Awaitable[OAuthToken]]
"""Trades a vendor's refresh token for the next pair."""


class OAuthCredentials(LookupCredentials):
    """OAuth tokens by the names of their vendors, refreshed five minutes before they expire.

    A refresh token can be spent only once. So a refresh holds the vendor's lock, looks again under
    it, and is not cut short when the call that needs it is cancelled.
    """

    def __init__(
        self, store: TokenStore, refresh: Refresh, *, clock: Callable[[], float] = time.time
    ) -> None:
        """Keep tokens in `store`, and get new ones by `refresh`, which has 15 seconds."""
        self._store = store
        self._refresh = refresh
        self._clock = clock
        self._locks = KeyedLocks()

    async def lookup(self, ref: CredentialRef) -> BearerToken:
        """Find the vendor's token; see LookupCredentials."""
        token = await self._store.load(ref.id)
        if token is not None and not token.fresh(self._clock()):
            token = await self._renewed(ref)
        if token is None:
            raise CredentialNotFound(ref.id, "log in to that vendor first")
        return BearerToken(token.access)

    async def modify(
        self, vendor: str, change: Callable[[OAuthToken | None], Awaitable[OAuthToken]]
    ) -> OAuthToken:
        """Replace a vendor's tokens under its lock; the only way to write them."""
        async with self._locks.hold(vendor):
            token = await self._store.load(vendor)
            with anyio.CancelScope(shield=True):
                token = await change(token)
                await self._store.save(vendor, token)
                return token
        raise AssertionError("unreachable: a shielded scope swallows nothing")

    async def _renewed(self, ref: CredentialRef) -> OAuthToken:
        async def renew(token: OAuthToken | None) -> OAuthToken:
            if token is None:
                raise CredentialNotFound(ref.id, "log in to that vendor first")
            if token.fresh(self._clock()):
                return token  # somebody else renewed it while we waited
            if not token.refresh:
                raise CredentialUnavailable(ref.id, "has expired: log in to that vendor again")
            try:
                with anyio.fail_after(_REFRESH_SECONDS):
                    return await self._refresh(ref.id, token)
            except TimeoutError:
                raise CredentialUnavailable(ref.id, "could not be refreshed in time") from None
            except CredentialError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever it is may show the tokens
                kind = type(error).__name__
                why = f"could not be refreshed ({kind}): try again, or log in to that vendor again"
                raise CredentialUnavailable(ref.id, why) from None

        return await self.modify(ref.id, renew)


class KeyedLocks:
    """A lock for each key, which lives as long as somebody holds it or waits for it."""

    def __init__(self) -> None:
        self._locks: dict[str, tuple[anyio.Lock, int]] = {}

    def __len__(self) -> int:
        return len(self._locks)

    @asynccontextmanager
    async def hold(self, key: str) -> AsyncGenerator[None]:
        """Hold the key's lock."""
        lock, users = self._locks.get(key, (anyio.Lock(), 0))
        self._locks[key] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            lock, users = self._locks.pop(key)
            if users > 1:
                self._locks[key] = (lock, users - 1)
