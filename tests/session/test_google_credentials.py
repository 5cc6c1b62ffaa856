"""Google's application default credentials, in front of a token server on this machine."""

import base64
import json
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import anyio
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from agentslot.interaction import InProcessChannel, gateway_channel
from agentslot.model import GoogleModule, ModelConfig, VertexProject
from agentslot.session import FileStoreModule, RunStatus
from agentslot.session.credential import (
    GOOGLE_DEFAULT,
    CredentialNotFound,
    CredentialRef,
    CredentialsModule,
    CredentialUnavailable,
    EnvironmentCredentials,
    FirstOf,
    GoogleCredentials,
)
from agentslot.standardagent import new_application
from tests.loopback import Answer, Loopback, Request, loopback
from tests.model.test_google_module import HELLO

NOW = 1_700_000_000.0
TOKEN = "ya29.canary-6f1d"
KEY = rsa.generate_private_key(65537, 2048)
PEM = KEY.private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
).decode()
PERSON = {
    "type": "authorized_user",
    "client_id": "id",
    "client_secret": "canary-client-secret",
    "refresh_token": "canary-refresh-token",
}
ROBOT = {
    "type": "service_account",
    "client_email": "robot@project.iam.example",
    "private_key_id": "key-1",
    "private_key": PEM,
}
SECRETS = (TOKEN, "canary-client-secret", "canary-refresh-token", PEM[40:80])


def gives(token: str = TOKEN, seconds: object = 3600) -> Answer:
    answer = {"access_token": token, "expires_in": seconds, "token_type": "Bearer"}
    return Answer(json.dumps(answer).encode(), content_type="application/json")


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No credentials of whoever runs the tests, and no metadata server."""
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path / "gcloud"))
    monkeypatch.setenv("GCE_METADATA_HOST", "127.0.0.1:1")


@asynccontextmanager
async def token_server(*answers: Answer) -> AsyncGenerator[Loopback]:
    with anyio.fail_after(20):
        async with loopback(*(answers or (gives(),))) as server:
            yield server


def write(path: Path, document: Any, url: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    content: Any = {"token_uri": f"{url}/token", **document} if document else document
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


async def token_of(credentials: GoogleCredentials) -> str:
    async with credentials.resolve(GOOGLE_DEFAULT) as material:
        return material.token


def form_of(request: Request) -> dict[str, str]:
    return {name: value for name, [value] in parse_qs(request.body.decode()).items()}


async def test_a_persons_login_is_traded_for_a_token(tmp_path: Path) -> None:
    async with token_server() as server:
        file = write(tmp_path / "adc.json", PERSON, server.url)
        assert await token_of(GoogleCredentials(file)) == TOKEN
    [sent] = server.requests
    assert (sent.method, sent.path) == ("POST", "/token")
    assert form_of(sent) == {
        "grant_type": "refresh_token",
        "client_id": "id",
        "client_secret": "canary-client-secret",
        "refresh_token": "canary-refresh-token",
    }


async def test_a_service_account_signs_who_it_is(tmp_path: Path) -> None:
    async with token_server() as server:
        file = write(tmp_path / "adc.json", ROBOT, server.url)
        assert await token_of(GoogleCredentials(file, clock=lambda: NOW)) == TOKEN
    form = form_of(server.requests[0])
    assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
    head, claims, signature = (
        base64.urlsafe_b64decode(part + "==") for part in form["assertion"].split(".")
    )
    signed = form["assertion"].rpartition(".")[0].encode()
    KEY.public_key().verify(signature, signed, padding.PKCS1v15(), hashes.SHA256())
    assert json.loads(head) == {"alg": "RS256", "typ": "JWT", "kid": "key-1"}
    assert json.loads(claims) == {
        "iss": "robot@project.iam.example",
        "scope": "https://www.googleapis.com/auth/cloud-platform",
        "aud": f"{server.url}/token",
        "iat": NOW,
        "exp": NOW + 3600,
    }


async def test_a_machine_of_the_cloud_asks_its_metadata_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with token_server() as server:
        monkeypatch.setenv("GCE_METADATA_HOST", server.url.removeprefix("http://"))
        assert await token_of(GoogleCredentials()) == TOKEN
    [sent] = server.requests
    assert sent.method == "GET"
    assert sent.path == "/computeMetadata/v1/instance/service-accounts/default/token"
    assert sent.headers["metadata-flavor"] == "Google"


async def test_the_file_of_the_variable_comes_before_the_one_of_gcloud(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with token_server(gives("one"), gives("two")) as server:
        write(tmp_path / "gcloud/application_default_credentials.json", PERSON, server.url)
        assert await token_of(GoogleCredentials()) == "one"
        named = write(tmp_path / "named.json", {**PERSON, "client_id": "named"}, server.url)
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(named))
        assert await token_of(GoogleCredentials()) == "two"
    assert [form_of(sent)["client_id"] for sent in server.requests] == ["id", "named"]


async def test_a_token_is_fetched_once_however_many_need_it_and_again_before_it_expires(
    tmp_path: Path,
) -> None:
    now = NOW
    async with token_server(gives("one"), gives("two")) as server:
        file = write(tmp_path / "adc.json", PERSON, server.url)
        credentials = GoogleCredentials(file, clock=lambda: now)
        got: list[str] = []

        async def get() -> None:
            got.append(await token_of(credentials))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(get)
        assert got == ["one"] * 5
        now = NOW + 3600 - 301
        assert await token_of(credentials) == "one"
        now = NOW + 3600 - 299
        assert await token_of(credentials) == "two"
    assert len(server.requests) == 2


REFUSALS: list[tuple[Any, Answer, str]] = [
    (PERSON, Answer(b'{"error":"invalid_grant"}', 400), r"invalid_grant \(status 400\)"),
    (PERSON, Answer(b'{"error":"canary-client-secret!"}', 400), r"token server: status 400"),
    (PERSON, Answer(b"<html>", 503), "token server: status 503"),
    (PERSON, Answer(b"<html>"), "holds no token"),
    (PERSON, gives(seconds="soon"), "holds no token"),
    (PERSON, Answer(b"{" * 100_000), "holds no token"),
    (PERSON, Answer(b"", drop=True), "the connection broke"),
    ({**ROBOT, "private_key": "canary-refresh-token"}, gives(), "no RSA key in PEM"),
    ({**PERSON, "token_uri": "http://example.test/"}, gives(), "does not begin with https"),
    ({**PERSON, "token_uri": 1}, gives(), "token_uri is no address"),
    (
        {"type": "gdch_service_account"},
        gives(),
        "type gdch_service_account, which is not supported",
    ),
    ({**PERSON, "token_uri": "https://[half"}, gives(), "token_uri is no address"),
    ({"type": "authorized_user"}, gives(), "holds no Google credentials"),
    ([], gives(), "holds no Google credentials"),
]


@pytest.mark.parametrize(("document", "answer", "problem"), REFUSALS)
async def test_what_does_not_work_is_said_without_a_secret(
    document: Any, answer: Answer, problem: str, tmp_path: Path
) -> None:
    async with token_server(answer) as server:
        file = write(tmp_path / "adc.json", document, server.url)
        with pytest.raises(CredentialUnavailable, match=problem) as caught:
            await token_of(GoogleCredentials(file))
    assert not [secret for secret in (*SECRETS, str(tmp_path)) if secret in str(caught.value)]
    assert caught.value.__cause__ is None


async def test_without_any_credentials_it_says_how_to_get_some() -> None:
    with pytest.raises(CredentialUnavailable, match="gcloud auth application-default login"):
        await token_of(GoogleCredentials())


@pytest.mark.parametrize("content", [None, "{", '{"a":1,"a":2}'])
async def test_a_file_that_cannot_be_read_is_not_passed_over(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = anyio.Path(tmp_path / "adc.json")
    if content is not None:
        await file.write_text(content, encoding="utf-8")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    with pytest.raises(CredentialUnavailable, match="GOOGLE_APPLICATION_CREDENTIALS names"):
        await token_of(GoogleCredentials())


async def test_other_references_are_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "some key")
    others = FirstOf(GoogleCredentials(), EnvironmentCredentials())
    async with others.resolve(CredentialRef("env:SOME_KEY")) as material:
        assert material.token == "some key"
    with pytest.raises(CredentialNotFound):
        await GoogleCredentials().lookup(CredentialRef("openai"))


async def run_in_the_cloud(
    credentials: GoogleCredentials, folder: Path, caplog: pytest.LogCaptureFixture
) -> tuple[list[str], str]:
    """Two Runs of an agent: the keys that the server saw, and all that was shown or written."""
    caplog.set_level(logging.DEBUG)
    channel = InProcessChannel()
    async with loopback(HELLO) as vertex:
        application = new_application(
            "test",
            modules=[
                FileStoreModule(folder / "sessions"),
                CredentialsModule(credentials),
                GoogleModule(
                    ["gemini-3.8-flash"],
                    base_url=vertex.url,
                    vertex=VertexProject("mine"),
                    credential=GOOGLE_DEFAULT,
                ),
                gateway_channel("test", channel),
            ],
            default_model=ModelConfig("google", "gemini-3.8-flash"),
        )
        shown = [application.build().describe().model_dump_json(), repr(vars(credentials))]
        async with application.start():
            session = await channel.create_session(agent="a", workspace="w")
            for _ in range(2):
                result = await session.send_and_wait("hi")
                assert result.status is RunStatus.COMPLETED
            shown.append(repr(await session.view()))
    written = [p.read_text() for p in (folder / "sessions").rglob("*") if p.is_file()]
    logged = [
        record.getMessage()
        for record in caplog.records
        if record.name.startswith("agentslot") or record.levelno > logging.DEBUG
    ]
    keys = [sent.headers["authorization"] for sent in vertex.requests]
    return keys, "\n".join([*shown, *written, *logged])


@pytest.mark.parametrize("document", [PERSON, ROBOT], ids=["person", "robot"])
async def test_an_agent_in_the_cloud_runs_with_them_and_nothing_secret_is_written_or_shown(
    document: dict[str, str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with token_server() as tokens:
        credentials = GoogleCredentials(write(tmp_path / "adc.json", document, tokens.url))
        keys, everything = await run_in_the_cloud(credentials, tmp_path, caplog)
    assert keys == [f"Bearer {TOKEN}"] * 2
    assert len(tokens.requests) == 1
    assert "gemini-3.8-flash" in everything
    assert not [secret for secret in SECRETS if secret in everything]
