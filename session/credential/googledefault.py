"""Google's application default credentials: found where every tool of Google looks for them."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import anyio.to_thread

from agentslot._json import JsonError, loads
from agentslot.session.credential.errors import CredentialNotFound, CredentialUnavailable
from agentslot.session.credential.googleexchange import TokenProblem, TokenSource
from agentslot.session.credential.googlefile import read_source
from agentslot.session.credential.googlesources import METADATA_HOST, MetadataServer
from agentslot.session.credential.lookup import LookupCredentials
from agentslot.session.credential.material import BearerToken, CredentialRef
from agentslot.session.credential.oauth import OAuthCredentials, OAuthToken

GOOGLE_DEFAULT = CredentialRef("google:default")
"""Refers to the application default credentials."""

_VARIABLE = "GOOGLE_APPLICATION_CREDENTIALS"
_FILE = "application_default_credentials.json"
_MAX_FILE_BYTES = 1024 * 1024
_NOWHERE = (
    f"set {_VARIABLE} to the file of a service account, or run"
    " `gcloud auth application-default login`"
)


class GoogleCredentials(LookupCredentials):
    """Access tokens for Google Cloud, fetched again five minutes before they expire.

    ```python
    CredentialsModule(GoogleCredentials())
    GoogleModule(models, vertex=VertexProject("my-project"), credential=GOOGLE_DEFAULT)
    ```

    They come from the file that `GOOGLE_APPLICATION_CREDENTIALS` names, else from the one that
    gcloud has written, else from the metadata server of the machine. A file may hold a service
    account, which needs the extra `credentials`; the login of a person; an external account, whose
    subject token lies in a file or is given by a server; or one of them that impersonates a service
    account. It is read anew for each token, so a file that was replaced is used at once.
    """

    def __init__(
        self, file: str | Path | None = None, *, clock: Callable[[], float] = time.time
    ) -> None:
        """Look in `file` alone; without one, in the usual places."""
        self._file = None if file is None else Path(file)
        self._clock = clock
        self._tokens = OAuthCredentials(_Kept(), self._fetch, clock=clock)

    async def lookup(self, ref: CredentialRef) -> BearerToken:
        """Find a token; see LookupCredentials."""
        if ref != GOOGLE_DEFAULT:
            raise CredentialNotFound(ref.id, f"GoogleCredentials knows {GOOGLE_DEFAULT.id!r} only")
        return await self._tokens.lookup(ref)

    async def _fetch(self, vendor: str, _: OAuthToken) -> OAuthToken:
        try:
            source = await anyio.to_thread.run_sync(self._source)
            return await source.fetch(self._clock())
        except TokenProblem as problem:
            raise CredentialUnavailable(vendor, str(problem)) from None

    def _source(self) -> TokenSource:
        named = os.environ.get(_VARIABLE, "").strip()
        if self._file is not None:
            return _read(self._file, "the file that was given")
        if named:
            return _read(Path(named), f"the file that {_VARIABLE} names")
        written = _gcloud_folder() / _FILE
        if written.is_file():
            return _read(written, "the file that gcloud has written")
        return _Here(MetadataServer(os.environ.get("GCE_METADATA_HOST", "") or METADATA_HOST))


class _Here:
    """The last place to look: whoever finds nothing there has no credentials at all."""

    def __init__(self, server: MetadataServer) -> None:
        self._server = server

    async def fetch(self, now: float) -> OAuthToken:
        try:
            return await self._server.fetch(now)
        except TokenProblem as problem:
            raise TokenProblem(f"{problem}; {_NOWHERE}") from None


class _Kept:
    """A TokenStore that begins with a token which has expired, so that one is fetched."""

    def __init__(self) -> None:
        self._token = OAuthToken("", refresh="the source", expires_at=1)

    async def load(self, vendor: str) -> OAuthToken:
        return self._token

    async def save(self, vendor: str, token: OAuthToken) -> None:
        self._token = OAuthToken(token.access, "the source", token.expires_at)


def _gcloud_folder() -> Path:
    configured = os.environ.get("CLOUDSDK_CONFIG", "").strip()
    if configured:
        return Path(configured)
    if os.name == "nt":
        return Path(os.environ.get("APPDATA", "")) / "gcloud"
    return Path(os.path.expanduser("~/.config/gcloud"))


def _read(path: Path, what: str) -> TokenSource:
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_FILE_BYTES + 1)
    except OSError:
        raise TokenProblem(f"cannot be read: {what} is not there, or not yours to read") from None
    try:
        return read_source(loads(content) if len(content) <= _MAX_FILE_BYTES else None)
    except JsonError:
        raise TokenProblem(f"cannot be read: {what} is no JSON") from None
