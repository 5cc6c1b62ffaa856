"""Which source of tokens a file with Google credentials describes."""

import re
from collections.abc import Mapping
from pathlib import Path

from agentslot._json import JsonValue
from agentslot.session.credential.googleexchange import TokenProblem, TokenSource, address_in
from agentslot.session.credential.googlefederation import (
    ExternalAccount,
    Impersonation,
    Subject,
    SubjectFile,
    SubjectUrl,
)
from agentslot.session.credential.googlesources import AuthorizedUser, ServiceAccount

_TOKEN_SERVER = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address
_EXCHANGE_SERVER = "https://sts.googleapis.com/v1/token"
_WORD = re.compile(r"[a-z_]{1,40}")
_KNOWN = ("service_account", "authorized_user", "external_account")
_OTHER_SUBJECTS = {
    "environment_id": "AWS",
    "executable": "a program",
    "certificate": "a certificate",
}
_INSTEAD = (
    ", which is not supported: use a service account, log in with gcloud, or write a"
    " CredentialResolver that asks the library google-auth"
)
_Members = Mapping[str, JsonValue]


def read_source(document: JsonValue) -> TokenSource:
    """The source that the file describes.

    Raises:
        TokenProblem: it describes none that we know.
    """
    members = document if isinstance(document, dict) else {}
    if members.get("type") != "impersonated_service_account":
        return _plain_source(members)
    source = members.get("source_credentials")
    return _impersonation(members, _plain_source(source if isinstance(source, dict) else {}))


def _plain_source(members: _Members) -> TokenSource:
    match members:
        case {
            "type": "service_account",
            "client_email": str(email),
            "private_key": str(private_key),
        }:
            key_id = str(members.get("private_key_id", ""))
            server = address_in(members, "token_uri", _TOKEN_SERVER)
            return ServiceAccount(email, key_id, private_key, server)
        case {
            "type": "authorized_user",
            "client_id": str(client_id),
            "client_secret": str(client_secret),
            "refresh_token": str(refresh_token),
        }:
            form = {
                "client_id": client_id,
                "client_secret": client_secret,
                "refresh_token": refresh_token,
            }
            return AuthorizedUser(form, address_in(members, "token_uri", _TOKEN_SERVER))
        case {
            "type": "external_account",
            "audience": str(audience),
            "subject_token_type": str(kind),
            "credential_source": dict(where),
        }:
            account = _external_account(members, audience, _subject(where, kind))
            if members.get("service_account_impersonation_url") is None:
                return account
            return _impersonation(members, account)
        case {"type": str(other)} if other not in _KNOWN:
            shown = other if _WORD.fullmatch(other) else "unknown"
            raise TokenProblem(f"is of the type {shown}{_INSTEAD}")
        case _:
            raise TokenProblem("cannot be read: its file holds no Google credentials")


def _external_account(members: _Members, audience: str, subject: Subject) -> ExternalAccount:
    server = address_in(members, "token_url", _EXCHANGE_SERVER)
    client_id, project = members.get("client_id"), members.get("workforce_pool_user_project")
    if isinstance(client_id, str):
        client = client_id, str(members.get("client_secret") or "")
        return ExternalAccount(subject, audience, server, client=client)
    options = {"userProject": project} if isinstance(project, str) else {}
    return ExternalAccount(subject, audience, server, options)


def _subject(where: _Members, kind: str) -> Subject:
    for sign, name in _OTHER_SUBJECTS.items():
        if sign in where:
            raise TokenProblem(f"takes its subject token from {name}{_INSTEAD}")
    member = _member(where.get("format"))
    match where:
        case {"file": str(path)}:
            return Subject(SubjectFile(Path(path)), kind, member)
        case {"url": str(url)} if url.startswith(("http://", "https://")):
            return Subject(SubjectUrl(url, _headers(where.get("headers"))), kind, member)
        case _:
            raise TokenProblem("cannot be read: its credential_source is neither file nor url")


def _member(form: JsonValue) -> str | None:
    match form:
        case None | {"type": "text"}:
            return None
        case {"type": "json", "subject_token_field_name": str(member)}:
            return member
        case _:
            raise TokenProblem("cannot be read: its credential_source has an unknown format")


def _headers(value: JsonValue) -> Mapping[str, str]:
    found = value if isinstance(value, dict) else {}
    return {name: text for name, text in found.items() if isinstance(text, str)}


def _impersonation(members: _Members, source: TokenSource) -> Impersonation:
    url = address_in(members, "service_account_impersonation_url")
    named = members.get("delegates")
    between = named if isinstance(named, list) else []
    delegates = tuple(name for name in between if isinstance(name, str))
    match members.get("service_account_impersonation"):
        case {"token_lifetime_seconds": int(seconds)}:
            return Impersonation(source, url, delegates, seconds)
        case _:
            return Impersonation(source, url, delegates)
