"""Credentials for Google that begin elsewhere: external accounts, and who speaks for another."""

import base64
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import anyio
import pytest

from agentslot.session.credential import (
    CredentialUnavailable,
    GoogleCredentials,
)
from tests.loopback import Answer, Loopback, loopback
from tests.session.test_google_credentials import (
    PERSON,
    SECRETS,
    form_of,
    gives,
    run_in_the_cloud,
    token_of,
)

NOW = 1_700_000_000.0
SUBJECT = "canary-subject-token"
BORROWED = "ya29.canary-borrowed"
HIDDEN = (*SECRETS, SUBJECT, BORROWED, "canary-header", "canary-pool-secret")
POOL = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q"
JWT = "urn:ietf:params:oauth:token-type:jwt"
ACCOUNT = "/v1/projects/-/serviceAccounts/robot@mine.iam.gserviceaccount.com:generateAccessToken"
SCOPE = "https://www.googleapis.com/auth/cloud-platform"


def says(document: Any, status: int = 200) -> Answer:
    return Answer(json.dumps(document).encode(), status, content_type="application/json")


def lends(token: str = BORROWED, expires: str = "2023-11-14T23:13:20Z") -> Answer:
    return says({"accessToken": token, "expireTime": expires})


@asynccontextmanager
async def google(*answers: Answer) -> AsyncGenerator[Loopback]:
    """Whatever is asked for tokens, one answer after the other."""
    with anyio.fail_after(20):
        async with loopback(*(answers or (gives(),))) as server:
            yield server


def pool(url: str, source: Any, **more: Any) -> dict[str, Any]:
    """The file of an external account."""
    return {
        "type": "external_account",
        "audience": POOL,
        "subject_token_type": JWT,
        "token_url": f"{url}/v1/token",
        "credential_source": source,
        **more,
    }


def credentials(folder: Path, document: Any) -> GoogleCredentials:
    file = folder / "adc.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return GoogleCredentials(file, clock=lambda: NOW)


def proof(folder: Path, content: str = SUBJECT) -> str:
    file = folder / "proof"
    file.write_text(content, encoding="utf-8")
    return str(file)


async def test_a_proof_in_a_file_is_traded_for_a_token(tmp_path: Path) -> None:
    async with google() as server:
        file = credentials(tmp_path, pool(server.url, {"file": proof(tmp_path, f"{SUBJECT}\n")}))
        assert await token_of(file) == "ya29.canary-6f1d"
    [sent] = server.requests
    assert (sent.method, sent.path) == ("POST", "/v1/token")
    assert "authorization" not in sent.headers
    assert form_of(sent) == {
        "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
        "audience": POOL,
        "scope": SCOPE,
        "requested_token_type": "urn:ietf:params:oauth:token-type:access_token",
        "subject_token": SUBJECT,
        "subject_token_type": JWT,
    }


async def test_a_proof_is_read_anew_for_each_exchange(tmp_path: Path) -> None:
    now = NOW
    async with google(gives("one"), gives("two", "3600")) as server:
        where = {"file": proof(tmp_path), "format": {"type": "text"}}
        file = tmp_path / "adc.json"
        await anyio.Path(file).write_text(json.dumps(pool(server.url, where)), encoding="utf-8")
        found = GoogleCredentials(file, clock=lambda: now)
        assert await token_of(found) == await token_of(found) == "one"
        proof(tmp_path, "newer proof")
        now = NOW + 3600 - 299
        assert await token_of(found) == await token_of(found) == "two"
    assert [form_of(sent)["subject_token"] for sent in server.requests] == [SUBJECT, "newer proof"]


async def test_a_proof_is_asked_of_a_server_with_the_header_fields_that_it_wants(
    tmp_path: Path,
) -> None:
    async with google(says({"access_token": SUBJECT}), gives()) as server:
        source = {
            "url": f"{server.url}/identity?api=1",
            "headers": {"Metadata": "canary-header"},
            "format": {"type": "json", "subject_token_field_name": "access_token"},
        }
        await token_of(credentials(tmp_path, pool(server.url, source)))
    asked, traded = server.requests
    assert (asked.method, asked.path) == ("GET", "/identity?api=1")
    assert asked.headers["metadata"] == "canary-header"
    assert form_of(traded)["subject_token"] == SUBJECT


async def test_a_pool_is_told_who_asks_or_which_project_it_counts_for(tmp_path: Path) -> None:
    async with google() as server:
        source = {"file": proof(tmp_path)}
        project = {"workforce_pool_user_project": "42"}
        client = {"client_id": "id", "client_secret": "canary-pool-secret"}
        await token_of(credentials(tmp_path, pool(server.url, source, **project)))
        await token_of(credentials(tmp_path, pool(server.url, source, **project, **client)))
    counted, named = server.requests
    assert json.loads(unquote(form_of(counted)["options"])) == {"userProject": "42"}
    assert "options" not in form_of(named)
    basic = base64.b64encode(b"id:canary-pool-secret").decode()
    assert named.headers["authorization"] == f"Basic {basic}"


async def test_an_external_account_can_speak_for_a_service_account(tmp_path: Path) -> None:
    async with google(gives("first"), lends()) as server:
        document = pool(
            server.url,
            {"file": proof(tmp_path)},
            service_account_impersonation_url=f"{server.url}{ACCOUNT}",
            service_account_impersonation={"token_lifetime_seconds": 2800},
        )
        assert await token_of(credentials(tmp_path, document)) == BORROWED
    lent = server.requests[1]
    assert (lent.method, lent.path) == ("POST", ACCOUNT)
    assert lent.headers["authorization"] == "Bearer first"
    assert lent.json() == {"delegates": [], "scope": [SCOPE], "lifetime": "2800s"}


async def test_a_person_can_speak_for_a_service_account_for_as_long_as_its_token_lasts(
    tmp_path: Path,
) -> None:
    now = NOW
    async with google(gives("a"), lends("one"), gives("b"), lends("two")) as server:
        document = {
            "type": "impersonated_service_account",
            "service_account_impersonation_url": f"{server.url}{ACCOUNT}",
            "delegates": ["between@mine.iam.gserviceaccount.com"],
            "source_credentials": {**PERSON, "token_uri": f"{server.url}/token"},
        }
        file = tmp_path / "adc.json"
        await anyio.Path(file).write_text(json.dumps(document), encoding="utf-8")
        found = GoogleCredentials(file, clock=lambda: now)
        got: list[str] = []

        async def get() -> None:
            got.append(await token_of(found))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(get)
        assert got == ["one"] * 5
        now = NOW + 3600 - 299
        assert await token_of(found) == "two"
    bearers = [sent.headers.get("authorization", "") for sent in server.requests]
    assert bearers == ["", "Bearer a", "", "Bearer b"]
    assert server.requests[1].json()["delegates"] == ["between@mine.iam.gserviceaccount.com"]


DENIED = {"error": {"code": 403, "status": "PERMISSION_DENIED", "message": SUBJECT}}
FILE: dict[str, Any] = {"file": "PROOF"}
IMPERSONATED = {"service_account_impersonation_url": f"SERVER{ACCOUNT}"}
REFUSALS: list[tuple[dict[str, Any], tuple[Answer, ...], str]] = [
    ({"environment_id": "aws1"}, (), "takes its subject token from AWS, .* google-auth"),
    (
        {"executable": {"command": "x"}},
        (),
        "takes its subject token from a program, .* google-auth",
    ),
    ({"certificate": {}}, (), "takes its subject token from a certificate"),
    ({}, (), "credential_source is neither file nor url"),
    ({"url": "ftp://x"}, (), "credential_source is neither file nor url"),
    ({"file": "PROOF", "format": {"type": "xml"}}, (), "unknown format"),
    ({"file": "/nowhere/proof"}, (), "the file of its subject token is not there"),
    (
        {"file": "PROOF", "format": {"type": "json", "subject_token_field_name": "t"}},
        (),
        "no subject token is where its file says",
    ),
    ({"url": "SERVER/"}, (says(SUBJECT, 403),), "the server of its subject token: status 403"),
    ({"url": "SERVER/"}, (Answer(b" \n"),), "no subject token is where its file says"),
    ({"url": "SERVER/", "headers": {"a": "canary-header\n"}}, (), "header field .* cannot be sent"),
    (FILE, (says({"error": "invalid_grant"}, 400),), r"token server: invalid_grant \(status 400\)"),
    ({**FILE, **IMPERSONATED}, (gives(), says(DENIED, 403)), r"PERMISSION_DENIED \(status 403\)"),
    ({**FILE, **IMPERSONATED}, (gives(), says({})), "the server that impersonates holds no token"),
    ({**FILE, **IMPERSONATED}, (gives(), lends(expires="soon")), "when its token expires"),
    ({**FILE, **IMPERSONATED}, (gives("ya29.canary-6f1d\u00e9"),), "cannot be sent"),
    (
        {**FILE, "token_url": "http://example.test/"},
        (),
        "token_url, which does not begin with https",
    ),
    (
        {**FILE, "service_account_impersonation_url": "http://example.test/"},
        (),
        "service_account_impersonation_url, which does not begin with https",
    ),
]
BESIDE = ("token_url", "service_account_impersonation_url")


@pytest.mark.parametrize(("source", "answers", "problem"), REFUSALS)
async def test_what_does_not_work_is_said_without_a_secret(
    source: dict[str, Any], answers: tuple[Answer, ...], problem: str, tmp_path: Path
) -> None:
    async with google(*answers) as server:
        text = json.dumps(source).replace("SERVER", server.url).replace("PROOF", proof(tmp_path))
        where = json.loads(text)
        beside = {name: where.pop(name) for name in BESIDE if name in where}
        with pytest.raises(CredentialUnavailable, match=problem) as caught:
            await token_of(credentials(tmp_path, pool(server.url, where, **beside)))
    assert not [hidden for hidden in (*HIDDEN, str(tmp_path)) if hidden in str(caught.value)]
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "source",
    [{"type": "impersonated_service_account"}, {"type": "gdch_service_account"}, None],
    ids=["itself", "unknown", "missing"],
)
async def test_only_who_holds_credentials_can_speak_for_another(
    source: Any, tmp_path: Path
) -> None:
    document = {
        "type": "impersonated_service_account",
        "service_account_impersonation_url": f"https://iamcredentials.googleapis.com{ACCOUNT}",
        "source_credentials": source,
    }
    with pytest.raises(CredentialUnavailable, match=r"not supported|holds no Google credentials"):
        await token_of(credentials(tmp_path, document))


async def test_a_federated_agent_runs_and_nothing_secret_is_written_or_shown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    answers = says({"t": SUBJECT}), gives(), lends(expires="2999-01-01T00:00:00.123456789Z")
    async with google(*answers) as tokens:
        source = {
            "url": f"{tokens.url}/identity",
            "headers": {"x-identity": "canary-header"},
            "format": {"type": "json", "subject_token_field_name": "t"},
        }
        document = pool(
            tokens.url,
            source,
            client_id="id",
            client_secret="canary-pool-secret",
            service_account_impersonation_url=f"{tokens.url}{ACCOUNT}",
        )
        found = credentials(tmp_path, document)
        keys, everything = await run_in_the_cloud(found, tmp_path, caplog)
    assert keys == [f"Bearer {BORROWED}"] * 2
    assert len(tokens.requests) == 3
    assert "gemini-3.8-flash" in everything
    assert not [hidden for hidden in HIDDEN if hidden in everything]
