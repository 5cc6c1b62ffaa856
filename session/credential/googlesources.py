"""How Google gives out access tokens: to service accounts, to people, and to its own machines."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import anyio.to_thread

from agentslot._extras import MissingExtra, require_extra
from agentslot._json import dumps
from agentslot.session.credential.googleexchange import SCOPE, TokenProblem, ask, read_token, trade
from agentslot.session.credential.oauth import OAuthToken

METADATA_HOST = "metadata.google.internal"

_METADATA_PATH = "/computeMetadata/v1/instance/service-accounts/default/token"
_JWT_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_METADATA_SECONDS = 3.0
_LIFETIME_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class AuthorizedUser:
    """A person who has logged in with `gcloud auth application-default login`."""

    form: Mapping[str, str] = field(repr=False)
    token_server: str

    async def fetch(self, now: float) -> OAuthToken:
        """Trade the refresh token, which may be used again and again."""
        content = urlencode({"grant_type": "refresh_token", **self.form}).encode()
        return await trade(self.token_server, {}, content, now)


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
        return await trade(self.token_server, {}, content, now)

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
            headers = {"metadata-flavor": "Google"}
            return read_token(await ask("GET", url, headers, b"", "the metadata server"), now)
        raise TokenProblem("cannot be had: no metadata server answers")


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
