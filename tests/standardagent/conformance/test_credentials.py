"""The referee of credential resolvers."""

import json
import time
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from agentslot.session.credential import (
    GOOGLE_DEFAULT,
    BasicLogin,
    BearerToken,
    CredentialKind,
    CredentialKindMismatch,
    CredentialNotFound,
    CredentialRef,
    CredentialResolver,
    CredentialUnavailable,
    EncryptedFileCredentials,
    EnvironmentCredentials,
    FirstOf,
    GoogleCredentials,
    KeyringCredentials,
    Material,
    MemoryCredentials,
    MemoryTokens,
    OAuthCredentials,
    OAuthToken,
    seal,
)
from agentslot.standardagent.conformance import (
    CREDENTIAL_RESOLVER_SUITE,
    OpenResolving,
    Resolving,
    asking,
)
from tests.loopback import Answer, loopback
from tests.standardagent.conformance.judging import broken_rules
from tests.standardagent.conformance.wrong import some_rounds, stubborn, unready

VENDOR = CredentialRef("vendor")
TOKEN = BearerToken("sk-canary-0123456789")
LOGIN = BasicLogin("me", "canary-password")


def having(
    resolver: CredentialResolver,
    record: BearerToken | BasicLogin = TOKEN,
    ref: CredentialRef = VENDOR,
) -> OpenResolving:
    @asynccontextmanager
    async def opened() -> AsyncGenerator[Resolving]:
        yield Resolving(resolver, ref, record)

    return opened


@pytest.mark.parametrize("record", [TOKEN, LOGIN], ids=["token", "login"])
async def test_resolvers_of_any_record_conform(
    record: BearerToken | BasicLogin, tmp_path: Path
) -> None:
    pytest.importorskip("cryptography")
    memory = MemoryCredentials({"vendor": record})
    file, key = tmp_path / "credentials", bytes(range(32))
    file.write_bytes(seal({"vendor": record}, key))
    file.chmod(0o600)
    resolvers: list[CredentialResolver] = [
        memory,
        FirstOf(MemoryCredentials({"another": "token"}), memory),
        FirstOf(memory, MemoryCredentials({})),
        EncryptedFileCredentials(file, lambda: key),
    ]
    for resolver in resolvers:
        await CREDENTIAL_RESOLVER_SUITE.check(having(resolver, record))


async def test_resolvers_of_tokens_conform(monkeypatch: pytest.MonkeyPatch) -> None:
    keyring = pytest.importorskip("keyring")
    monkeypatch.setenv("VENDOR_KEY", TOKEN.token)

    def get_password(service: str, name: str) -> str | None:
        return TOKEN.token if (service, name) == ("agentslot", "vendor") else None

    monkeypatch.setattr(keyring, "get_password", get_password)
    resolvers: list[CredentialResolver] = [
        EnvironmentCredentials({"vendor": "VENDOR_KEY"}),
        KeyringCredentials(),
    ]
    for resolver in resolvers:
        await CREDENTIAL_RESOLVER_SUITE.check(having(resolver))


async def test_tokens_that_have_to_be_refreshed_conform() -> None:
    async def refresh(vendor: str, token: OAuthToken) -> OAuthToken:
        await some_rounds()
        return OAuthToken(TOKEN.token)

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Resolving]:
        stale = MemoryTokens(vendor=OAuthToken("old", "spend-1", expires_at=1))
        yield Resolving(OAuthCredentials(stale, refresh), VENDOR, TOKEN)

    await CREDENTIAL_RESOLVER_SUITE.check(opened)


async def test_the_credentials_of_google_conform(tmp_path: Path) -> None:
    given = {"access_token": TOKEN.token, "expires_in": 3600, "token_type": "Bearer"}
    person = {"type": "authorized_user", "client_id": "i", "client_secret": "s"}
    file = tmp_path / "google.json"
    answer = Answer(json.dumps(given).encode(), content_type="application/json")

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Resolving]:
        async with loopback(answer) as server:
            content = {**person, "refresh_token": "r", "token_uri": f"{server.url}/token"}
            await anyio.Path(file).write_text(json.dumps(content), encoding="utf-8")
            yield Resolving(GoogleCredentials(file), GOOGLE_DEFAULT, TOKEN)

    await CREDENTIAL_RESOLVER_SUITE.check(opened)


class Vault:
    """A good resolver whose parts can be replaced by worse ones."""

    token = TOKEN

    async def find(self, ref: CredentialRef) -> BearerToken:
        await anyio.lowlevel.checkpoint()
        if ref != VENDOR:
            raise CredentialNotFound(ref.id, "put it into the vault")
        return self.token

    def refuse(self, ref: CredentialRef, kind: CredentialKind) -> None:
        if kind is not CredentialKind.BEARER:
            raise CredentialKindMismatch(ref.id, kind, CredentialKind.BEARER)

    def material(self, ref: CredentialRef, token: BearerToken) -> Material:
        return Material(ref, token)

    @asynccontextmanager
    async def resolve(
        self, ref: CredentialRef, kind: CredentialKind = CredentialKind.BEARER
    ) -> AsyncGenerator[Material]:
        token = await self.find(ref)
        self.refuse(ref, kind)
        material = self.material(ref, token)
        try:
            yield material
        finally:
            material.clear()


async def test_a_resolver_of_somebody_else_conforms() -> None:
    await CREDENTIAL_RESOLVER_SUITE.check(having(Vault()))


class Mistaken(Vault):
    token = BearerToken("another")


class Fond(Vault):
    @asynccontextmanager
    async def resolve(
        self, ref: CredentialRef, kind: CredentialKind = CredentialKind.BEARER
    ) -> AsyncGenerator[Material]:
        token = await self.find(ref)
        self.refuse(ref, kind)
        yield self.material(ref, token)


class FondAfterErrors(Fond):
    @asynccontextmanager
    async def resolve(
        self, ref: CredentialRef, kind: CredentialKind = CredentialKind.BEARER
    ) -> AsyncGenerator[Material]:
        async with super().resolve(ref, kind) as material:
            yield material
            material.clear()


class Soothing(Vault):
    @asynccontextmanager
    async def resolve(
        self, ref: CredentialRef, kind: CredentialKind = CredentialKind.BEARER
    ) -> AsyncGenerator[Material]:
        async with super().resolve(ref, kind) as material:
            try:
                yield material
            except CredentialNotFound as error:
                if error.reference != "theirs":
                    raise


class Thrifty(Vault):
    kept: Material | None = None

    def material(self, ref: CredentialRef, token: BearerToken) -> Material:
        if self.kept is None:
            self.kept = super().material(ref, token)
        return self.kept


class Restless(Vault):
    def material(self, ref: CredentialRef, token: BearerToken) -> Material:
        return super().material(CredentialRef(str(uuid.uuid4())), token)


class Telling(Vault):
    def material(self, ref: CredentialRef, token: BearerToken) -> Material:
        material = super().material(ref, token)
        material.fingerprint = f"vendor:{token.token}"
        return material


class Generous(Vault):
    async def find(self, ref: CredentialRef) -> BearerToken:
        return await super().find(VENDOR)


class Vague(Vault):
    async def find(self, ref: CredentialRef) -> BearerToken:
        try:
            return await super().find(ref)
        except CredentialNotFound:
            raise CredentialUnavailable(ref.id, "is not here") from None


class Absent(Vault):
    async def find(self, ref: CredentialRef) -> BearerToken:
        return {"vendor": self.token}[ref.id]


class Confused(Vault):
    async def find(self, ref: CredentialRef) -> BearerToken:
        try:
            return await super().find(ref)
        except CredentialNotFound:
            raise CredentialNotFound("default", "put it into the vault") from None


class Careless(Vault):
    def refuse(self, ref: CredentialRef, kind: CredentialKind) -> None:
        pass


class Unkind(Vault):
    def refuse(self, ref: CredentialRef, kind: CredentialKind) -> None:
        if kind is not CredentialKind.BEARER:
            raise CredentialNotFound(ref.id, "it is of another kind")


class Anonymous(Vault):
    def refuse(self, ref: CredentialRef, kind: CredentialKind) -> None:
        super().refuse(CredentialRef("another"), kind)


class Talkative(Vault):
    def refuse(self, ref: CredentialRef, kind: CredentialKind) -> None:
        if kind is not CredentialKind.BEARER:
            raise CredentialKindMismatch(ref.id, kind, TOKEN.token)


class Explaining(Vault):
    def refuse(self, ref: CredentialRef, kind: CredentialKind) -> None:
        try:
            _, _ = TOKEN.token.split(":")
        except ValueError as error:
            error.add_note(f"there is {TOKEN.token}")
            super().refuse(ref, kind)


class Blocking(Vault):
    async def find(self, ref: CredentialRef) -> BearerToken:
        enough = time.perf_counter() + 0.001
        while time.perf_counter() < enough:
            pass
        return await super().find(ref)


class Finding(Vault):
    """Looks records up in some wrong way."""

    def __init__(self, wrong: Callable[[Any], Any]) -> None:
        self.find: Any = wrong(super().find)


class Bare:
    def __init__(self) -> None:
        self.resolve: Any = self._resolve

    @asynccontextmanager
    async def _resolve(self, *_: object) -> AsyncGenerator[str]:
        yield TOKEN.token


LEADS = "a_reference_leads_to_its_credential"
EMPTY = "material_is_empty_once_its_context_has_ended"
FINGERPRINT = "a_fingerprint_stays_and_betrays_nothing"
NOT_FOUND = "what_is_not_there_is_not_found"
KIND = "another_kind_is_refused"
SHOWS = "no_refusal_shows_the_credential"
KEEPS = "it_does_not_keep_the_event_loop"
CANCELLED = "a_question_that_is_cancelled_ends"


@pytest.mark.parametrize(
    ("make", "rules", "said"),
    [
        (Fond, [EMPTY], "it can be read after its context has ended"),
        (FondAfterErrors, [EMPTY], "it can be read after its context has failed"),
        (Soothing, [EMPTY], "of an error in the context came None"),
        (Restless, [FINGERPRINT], "another fingerprint each time"),
        (Telling, [FINGERPRINT], "shows the credential to whoever prints it"),
        (Generous, [NOT_FOUND], "it gave a credential of kind bearer"),
        (Vague, [NOT_FOUND], "refused as CredentialUnavailable"),
        (Absent, [NOT_FOUND, SHOWS], "it failed with KeyError('nobody-knows-me')"),
        (Confused, [NOT_FOUND], "the refusal is of 'default'"),
        (Careless, [KIND], "it gave a credential of kind bearer"),
        (Unkind, [KIND], "another kind is refused as CredentialNotFound"),
        (Anonymous, [KIND], "the refusal is of 'another', and 'vendor' was asked"),
        (Talkative, [SHOWS], "the CredentialKindMismatch of a refusal shows it"),
        (Explaining, [SHOWS], "the ValueError of a refusal shows it"),
        (Blocking, [KEEPS], "it keeps the event loop"),
        (lambda: Finding(stubborn), [CANCELLED], "goes on"),
        (
            lambda: Finding(unready),
            ["questions_at_the_same_time_do_not_disturb_each_other"],
            "busy",
        ),
    ],
)
async def test_a_broken_resolver_fails_the_check_that_is_for_it(
    make: Callable[[], Vault], rules: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if rules == [CANCELLED]:
        monkeypatch.setattr(asking, "CANCEL_SECONDS", 0.0)
    if rules == [KEEPS]:
        monkeypatch.setattr(asking, "STEP_SECONDS", 0.0005)
    found = await broken_rules(CREDENTIAL_RESOLVER_SUITE, having(make()))
    assert list(found) == rules
    assert said in found[rules[0]]


async def test_material_that_is_shared_is_found_where_it_is_needed_once_more() -> None:
    @asynccontextmanager
    async def opened() -> AsyncGenerator[Resolving]:
        yield Resolving(Thrifty(), VENDOR, TOKEN)

    found = await broken_rules(CREDENTIAL_RESOLVER_SUITE, opened)
    assert "has emptied it" in found["each_context_has_material_of_its_own"]


@pytest.mark.parametrize(
    ("opened", "said"),
    [
        (having(Mistaken()), "it gave another token than is there"),
        (
            having(MemoryCredentials({"vendor": BasicLogin("me", "another")}), LOGIN),
            "it gave another name or password than is there",
        ),
        (having(MemoryCredentials({"vendor": LOGIN}), TOKEN), "it failed: "),
        (having(Bare()), "it gave a str, which is no Material"),
    ],
)
async def test_what_leads_elsewhere_is_found(opened: OpenResolving, said: str) -> None:
    found = await broken_rules(CREDENTIAL_RESOLVER_SUITE, opened)
    assert said in found[LEADS]
