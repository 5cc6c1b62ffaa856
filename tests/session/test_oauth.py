"""OAuth tokens are refreshed once, whoever needs them at the same time."""

import traceback
from collections.abc import Callable

import anyio
import anyio.lowlevel
import pytest

from agentslot.session.credential import (
    CredentialNotFound,
    CredentialRef,
    CredentialUnavailable,
    MemoryTokens,
    OAuthCredentials,
    OAuthToken,
)
from agentslot.session.credential.oauth import KeyedLocks

VENDOR = CredentialRef("vendor")
NOW = 1_000_000.0
STALE = OAuthToken("old", "spend-1", NOW + 299)


class Vendor:
    """Trades each refresh token once."""

    def __init__(self) -> None:
        self.spent: list[str] = []
        self.gate: anyio.Event | None = None

    async def refresh(self, vendor: str, token: OAuthToken) -> OAuthToken:
        assert token.refresh not in self.spent, "a refresh token was spent twice"
        self.spent.append(token.refresh)
        if self.gate is not None:
            await self.gate.wait()
        await anyio.lowlevel.checkpoint()
        return OAuthToken(f"new-{vendor}", "spend-2", NOW + 3_600)


def credentials(
    peer: Vendor, clock: Callable[[], float] = lambda: NOW, **tokens: OAuthToken
) -> tuple[OAuthCredentials, MemoryTokens]:
    store = MemoryTokens(**tokens)
    return OAuthCredentials(store, peer.refresh, clock=clock), store


async def token_of(resolver: OAuthCredentials, ref: CredentialRef = VENDOR) -> str:
    async with resolver.resolve(ref) as material:
        return material.token


@pytest.mark.parametrize("expires_at", [0, NOW + 301])
async def test_a_fresh_token_is_used_as_it_is(expires_at: float) -> None:
    vendor = Vendor()
    resolver, _ = credentials(vendor, vendor=OAuthToken("fresh", "spend-1", expires_at))
    assert await token_of(resolver) == "fresh"
    assert not vendor.spent


async def test_many_who_need_a_token_at_once_spend_one_refresh_token() -> None:
    vendor = Vendor()
    resolver, store = credentials(vendor, vendor=STALE)
    tokens: list[str] = []

    async def ask() -> None:
        tokens.append(await token_of(resolver))

    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(ask)
    assert tokens == ["new-vendor"] * 20
    assert vendor.spent == ["spend-1"]
    kept = await store.load("vendor")
    assert kept is not None
    assert kept.refresh == "spend-2"


async def test_vendors_do_not_wait_for_each_other() -> None:
    vendor = Vendor()
    vendor.gate = anyio.Event()
    resolver, _ = credentials(vendor, vendor=STALE, other=OAuthToken("o", "spend-o", NOW))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(token_of, resolver)
        tasks.start_soon(token_of, resolver, CredentialRef("other"))
        with anyio.fail_after(20):
            while len(vendor.spent) < 2:
                await anyio.lowlevel.checkpoint()
        vendor.gate.set()


async def test_a_cancelled_call_does_not_lose_the_tokens_that_it_was_getting() -> None:
    vendor = Vendor()
    vendor.gate = anyio.Event()
    resolver, store = credentials(vendor, vendor=STALE)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(token_of, resolver)
        while not vendor.spent:
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
        vendor.gate.set()
    kept = await store.load("vendor")
    assert kept is not None
    assert kept.access == "new-vendor"


async def test_what_cannot_be_refreshed_says_so() -> None:
    resolver, _ = credentials(Vendor(), vendor=OAuthToken("old", "", NOW))
    with pytest.raises(CredentialUnavailable, match="log in to that vendor again"):
        await token_of(resolver)
    resolver, _ = credentials(Vendor())
    with pytest.raises(CredentialNotFound, match="log in to that vendor first"):
        await token_of(resolver)


async def test_locks_are_let_go_when_nobody_needs_them() -> None:
    locks = KeyedLocks()
    order: list[str] = []

    async def hold(name: str) -> None:
        async with locks.hold("vendor"):
            order.append(name)
            await anyio.lowlevel.checkpoint()
            order.append(name)

    async with anyio.create_task_group() as tasks:
        for name in "abc":
            tasks.start_soon(hold, name)
    assert order[0::2] == order[1::2]
    assert len(locks) == 0
    with anyio.move_on_after(0):
        await hold("d")
    assert len(locks) == 0


def test_tokens_do_not_show_themselves() -> None:
    assert "secret" not in repr(OAuthToken("secret-a", "secret-r", 1.0))


async def test_a_refresh_that_fails_makes_the_credential_unavailable_and_shows_nothing() -> None:
    down = True

    async def refresh(vendor: str, token: OAuthToken) -> OAuthToken:
        if down:
            raise ConnectionError(f"POST https://auth.example/?refresh_token={token.refresh}")
        return OAuthToken(f"new-{vendor}", "spend-2", NOW + 3_600)

    resolver = OAuthCredentials(MemoryTokens(vendor=STALE), refresh, clock=lambda: NOW)
    with pytest.raises(
        CredentialUnavailable, match=r"'vendor' could not .*ConnectionError"
    ) as caught:
        await token_of(resolver)
    told = "".join(traceback.format_exception(caught.value))
    assert STALE.refresh not in told
    down = False
    assert await token_of(resolver) == "new-vendor"
