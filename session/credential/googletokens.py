"""How Google gives out access tokens: to service accounts, to people, and to its own machines."""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol
from urllib.parse import urlencode, urlsplit

import anyio.to_thread

from agentslot._extras import MissingExtra, require_extra
from agentslot._http import HttpError, new_client, open_body
from agentslot._json import JsonError, JsonValue, dumps, loads
from agentslot.session.credential.oauth import OAuthToken

TOKEN_SERVER = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address
SCOPE = "https://www.googleapis.com/auth/cloud-platform"
METADATA_HOST = "metadata.google.internal"

_METADATA_PATH = "/computeMetadata/v1/instance/service-accounts/default/token"
_JWT_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_FORM = {"content-type": "application/x-www-form-urlencoded"}
_MAX_ANSWER_BYTES = 64 * 1024
_IDLE_SECONDS = 10.0
_METADATA_SECONDS = 3.0
_LIFETIME_SECONDS = 3600
_CODE = re.compile(r"[a-z_]{1,40}")


class TokenProblem(Exception):  # noqa: N818 - what is the matter, in words that follow a reference
    """Why there is no token; never with anything secret in it."""


class TokenSource(Protocol):
    """One way to an access token."""

    async def fetch(self, now: float) -> OAuthToken:
        """Get a new token.

        Args:
            now: Unix time in seconds.

        Raises:
            TokenProblem: there is none.
        """
        ...


@dataclass(frozen=True, slots=True)
class AuthorizedUser:
    """A person who has logged in with `gcloud auth application-default login`."""

    form: Mapping[str, str] = field(repr=False)
    token_server: str

    async def fetch(self, now: float) -> OAuthToken:
        """Trade the refresh token, which may be used again and again."""
        content = urlencode({"grant_type": "refresh_token", **self.form}).encode()
        return _token(await _exchange("POST", self.token_server, _FORM, content), now)


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """A key of a service account, which signs a statement of who wants the token."""

    email: str
    key_id: str
    private_key: str = field(repr=False)
    token_server: str

    async def fetch(self, now: float) -> OAuthToken:
        """Sign the statement and trade it."""
        assertion = await anyio.to_thread.run_sync(self._signed, int(now))
        content = urlencode({"grant_type": _JWT_GRANT, "assertion": assertion}).encode()
        return _token(await _exchange("POST", self.token_server, _FORM, content), now)

    def _signed(self, now: int) -> str:
        header = {"alg": "RS256", "typ": "JWT", "kid": self.key_id}
        claims = {
            "iss": self.email,
            "scope": SCOPE,
            "aud": self.token_server,
            "iat": now,
            "exp": now + _LIFETIME_SECONDS,
        }
        signed = ".".join(_base64url(dumps(part).encode()) for part in (header, claims))
        return f"{signed}.{_base64url(_sign(self.private_key, signed.encode()))}"


@dataclass(frozen=True, slots=True)
class MetadataServer:
    """The server that every machine of Google Cloud can ask for its own service account."""

    host: str = METADATA_HOST

    async def fetch(self, now: float) -> OAuthToken:
        """Ask it; elsewhere it does not exist."""
        url = f"http://{self.host}{_METADATA_PATH}"
        with anyio.move_on_after(_METADATA_SECONDS):
            return _token(await _exchange("GET", url, {"metadata-flavor": "Google"}, b""), now)
        raise TokenProblem("cannot be had: no metadata server answers")


def read_source(document: JsonValue) -> TokenSource:
    """The source that a file with credentials describes.

    Raises:
        TokenProblem: it describes none that we know.
    """
    described = document if isinstance(document, dict) else {}
    match described:
        case {
            "type": "service_account",
            "client_email": str(email),
            "private_key": str(private_key),
        }:
            key_id = str(described.get("private_key_id", ""))
            return ServiceAccount(email, key_id, private_key, _token_server(described))
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
            return AuthorizedUser(form, _token_server(described))
        case {"type": str(kind)} if kind not in ("service_account", "authorized_user"):
            named = kind if _CODE.fullmatch(kind) else "unknown"
            raise TokenProblem(
                f"is of the type {named}, which is not supported: use a service account, log in"
                " with gcloud, or write a CredentialResolver that asks the library google-auth"
            )
        case _:
            raise TokenProblem("cannot be read: its file holds no Google credentials")


def _token_server(document: Mapping[str, JsonValue]) -> str:
    """Where the token is asked for. What is sent there is worth stealing."""
    server = document.get("token_uri", TOKEN_SERVER)
    parts = urlsplit(server) if isinstance(server, str) else None
    if parts is None or not parts.hostname:
        raise TokenProblem("cannot be used: its token_uri is no address")
    if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
        raise TokenProblem("is not sent to its token_uri, which does not begin with https")
    return parts.geturl()


async def _exchange(method: str, url: str, headers: Mapping[str, str], content: bytes) -> JsonValue:
    # Loading the certificates takes tens of milliseconds, and reads files.
    client = await anyio.to_thread.run_sync(partial(new_client, idle_seconds=_IDLE_SECONDS))
    try:
        body = await open_body(client, url, headers, content, method=method)
        answer = b""
        while len(answer) <= _MAX_ANSWER_BYTES and (piece := await body.read()):
            answer += piece
        await body.aclose()
    except HttpError as error:
        raise TokenProblem(f"cannot be had: for the token, {error}") from None
    finally:
        with anyio.CancelScope(shield=True):
            await client.aclose()
    try:
        document = loads(answer)
    except JsonError:
        document = None
    if body.status != 200:
        raise TokenProblem(f"was refused by the token server: {_code(document, body.status)}")
    return document


def _code(document: JsonValue, status: int) -> str:
    """The server's own word for the refusal, if it is one; its text may repeat what was sent."""
    match document:
        case {"error": str(code)} if _CODE.fullmatch(code):
            return f"{code} (status {status})"
        case _:
            return f"status {status}"


def _token(document: JsonValue, now: float) -> OAuthToken:
    match document:
        case {"access_token": str(token), "expires_in": int(seconds)} if token and seconds > 0:
            return OAuthToken(token, expires_at=now + seconds)
        case _:
            raise TokenProblem("cannot be had: the token server's answer holds no token")


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _sign(private_key: str, data: bytes) -> bytes:
    try:
        require_extra("a service account of Google", "credentials", "cryptography")
    except MissingExtra as error:
        raise TokenProblem(f"cannot be used: {error}") from None
    # An extra: whoever has another kind of credentials needs none.
    from cryptography.hazmat.primitives.asymmetric import padding
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key: Any = load_pem_private_key(private_key.encode(), password=None)
        signature: bytes = key.sign(data, padding.PKCS1v15(), SHA256())
    except Exception:  # noqa: BLE001 - whatever the library says may quote the key
        raise TokenProblem("cannot be used: its private key is no RSA key in PEM") from None
    return signature
