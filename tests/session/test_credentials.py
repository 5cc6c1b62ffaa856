"""References, the material they lead to, and where it is looked up."""

import copy
import pickle

import pytest

from agentslot import Application
from agentslot.session import ErrorKind
from agentslot.session.credential import (
    CREDENTIAL_RESOLVER,
    BasicLogin,
    BearerToken,
    CredentialError,
    CredentialKind,
    CredentialKindMismatch,
    CredentialNotFound,
    CredentialRef,
    CredentialResolver,
    CredentialsModule,
    CredentialUnavailable,
    EnvironmentCredentials,
    FirstOf,
    KeyringCredentials,
    MemoryCredentials,
)

SECRET = "sk-canary-0123456789"
VENDOR = CredentialRef("vendor")


async def token_of(resolver: CredentialResolver, ref: CredentialRef = VENDOR) -> str:
    async with resolver.resolve(ref) as material:
        return material.token


async def test_material_is_there_for_the_time_of_its_context_only() -> None:
    async with MemoryCredentials({"vendor": SECRET}).resolve(VENDOR) as material:
        assert material.token == SECRET
    with pytest.raises(RuntimeError, match="after its context"):
        _ = material.token


async def test_material_shows_its_secret_to_nobody() -> None:
    async with MemoryCredentials({"vendor": SECRET}).resolve(VENDOR) as material:
        for shown in (repr(material), str(material), f"{material!s}", material.fingerprint):
            assert SECRET not in shown
        for leak in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="pickled or copied"):
                leak(material)
    assert SECRET not in repr((BearerToken(SECRET), BasicLogin("me", SECRET)))


async def test_fingerprints_tell_credentials_apart() -> None:
    resolver = MemoryCredentials({"a": SECRET, "b": SECRET, "c": BasicLogin("x", SECRET)})
    prints: list[str] = []
    for name, kind in (("a", "bearer"), ("a", "bearer"), ("b", "bearer"), ("c", "basic")):
        async with resolver.resolve(CredentialRef(name), CredentialKind(kind)) as material:
            prints.append(material.fingerprint)
    assert prints[0] == prints[1]
    assert len(set(prints)) == 3


async def test_another_kind_than_the_stored_one_is_refused() -> None:
    resolver = MemoryCredentials({"vendor": BasicLogin("me", SECRET)})
    with pytest.raises(CredentialKindMismatch) as caught:
        await token_of(resolver)
    assert (caught.value.code, caught.value.reference) == ("credential_kind_mismatch", "vendor")
    async with resolver.resolve(VENDOR, CredentialKind.BASIC) as material:
        assert material.login == ("me", SECRET)
        with pytest.raises(RuntimeError, match="of kind"):
            _ = material.token


async def test_what_is_not_stored_is_not_found_and_the_message_says_what_to_do() -> None:
    with pytest.raises(CredentialNotFound, match="add it to MemoryCredentials") as caught:
        await token_of(MemoryCredentials({}))
    assert caught.value.kind is ErrorKind.NOT_FOUND


@pytest.mark.parametrize("token", ["", "  ", "a\nb: c", "кey", "\x00"])
async def test_what_cannot_stand_in_a_header_is_not_given_out(token: str) -> None:
    with pytest.raises(CredentialUnavailable) as caught:
        await token_of(MemoryCredentials({"vendor": token}))
    assert not token.strip() or token not in str(caught.value)


async def test_a_variable_is_read_each_time_and_the_first_that_is_not_blank_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resolver = EnvironmentCredentials({"vendor": ("VENDOR_TOKEN", "VENDOR_KEY")})
    monkeypatch.delenv("VENDOR_TOKEN", raising=False)
    monkeypatch.setenv("VENDOR_KEY", "old")
    assert await token_of(resolver) == "old"
    monkeypatch.setenv("VENDOR_KEY", "new")
    assert await token_of(resolver) == "new"
    monkeypatch.setenv("VENDOR_TOKEN", " ")
    assert await token_of(resolver) == "new"
    monkeypatch.setenv("VENDOR_TOKEN", "first")
    assert await token_of(resolver) == "first"
    assert await token_of(resolver, CredentialRef("env:VENDOR_KEY")) == "new"


async def test_a_missing_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VENDOR_KEY", raising=False)
    with pytest.raises(CredentialNotFound, match="variable 'VENDOR_KEY'"):
        await token_of(EnvironmentCredentials(), CredentialRef("env:VENDOR_KEY"))
    with pytest.raises(CredentialNotFound, match="no environment variable is configured"):
        await token_of(EnvironmentCredentials())


async def test_who_has_none_is_passed_over_and_who_fails_is_not() -> None:
    empty, full = MemoryCredentials({}), MemoryCredentials({"vendor": SECRET})
    assert await token_of(FirstOf(empty, full)) == SECRET
    assert await token_of(FirstOf(full, empty)) == SECRET
    with pytest.raises(CredentialNotFound):
        await token_of(FirstOf(empty, empty))
    with pytest.raises(CredentialUnavailable):
        await token_of(FirstOf(MemoryCredentials({"vendor": ""}), full))
    with pytest.raises(ValueError, match="at least one"):
        FirstOf()


async def test_an_error_while_material_is_used_passes_through() -> None:
    with pytest.raises(CredentialNotFound, match="inner"):
        async with FirstOf(
            MemoryCredentials({"vendor": SECRET}), MemoryCredentials({"vendor": SECRET})
        ).resolve(VENDOR):
            raise CredentialNotFound("inner", "inner")


@pytest.mark.parametrize("bad", ["", " x", "x\n", "x" * 257, "é" * 200])
def test_a_reference_is_short_printable_text(bad: str) -> None:
    with pytest.raises(ValueError, match="reference"):
        CredentialRef(bad)


def test_the_module_fills_the_slot() -> None:
    resolver = MemoryCredentials({})
    assembly = Application("test", [CredentialsModule(resolver)]).build()
    assert assembly[CREDENTIAL_RESOLVER] is resolver


async def test_a_keyring_gives_its_token(monkeypatch: pytest.MonkeyPatch) -> None:
    keyring = pytest.importorskip("keyring")
    stored = {("agentslot", "vendor"): SECRET}

    def get_password(service: str, name: str) -> str | None:
        return stored.get((service, name))

    monkeypatch.setattr(keyring, "get_password", get_password)
    assert await token_of(KeyringCredentials()) == SECRET
    with pytest.raises(CredentialNotFound, match="keyring set agentslot other"):
        await token_of(KeyringCredentials(), CredentialRef("other"))


async def test_a_machine_without_a_keyring_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    keyring = pytest.importorskip("keyring")

    def locked(*_: str) -> str:
        raise keyring.errors.NoKeyringError(SECRET)

    monkeypatch.setattr(keyring, "get_password", locked)
    with pytest.raises(CredentialUnavailable, match="locked or there is none") as caught:
        await token_of(KeyringCredentials())
    assert SECRET not in repr(caught.value)
    assert caught.value.__suppress_context__


def test_errors_can_be_caught_together() -> None:
    for error in (CredentialNotFound, CredentialUnavailable, CredentialKindMismatch):
        assert issubclass(error, CredentialError)
