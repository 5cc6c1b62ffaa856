"""Access tokens of Google for whoever has proved elsewhere who they are, or speaks for another."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, urlencode

import anyio.to_thread

from agentslot._json import dumps
from agentslot.session.credential.googleexchange import (
    SCOPE,
    TokenProblem,
    TokenSource,
    ask,
    read_json,
    trade,
)
from agentslot.session.credential.oauth import OAuthToken

_EXCHANGE_GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"
_ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"  # noqa: S105 - a kind of token
_MAX_SUBJECT_BYTES = 64 * 1024


class SubjectContent(Protocol):
    """Where somebody else's proof of an identity is kept; it is read anew for each exchange."""

    async def read(self) -> bytes:
        """The content.

        Raises:
            TokenProblem: it cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class SubjectFile:
    """A file, as Kubernetes writes it and replaces it before the proof expires."""

    path: Path

    async def read(self) -> bytes:
        """Read it."""
        return await anyio.to_thread.run_sync(self._content)

    def _content(self) -> bytes:
        try:
            with self.path.open("rb") as file:
                return file.read(_MAX_SUBJECT_BYTES + 1)
        except (OSError, ValueError):  # a ValueError of a name that no file can have
            raise TokenProblem(
                "cannot be had: the file of its subject token is not there, or not yours to read"
            ) from None


@dataclass(frozen=True, slots=True)
class SubjectUrl:
    """A server, such as the one that machines of another cloud ask who they are."""

    url: str
    headers: Mapping[str, str] = field(repr=False)

    async def read(self) -> bytes:
        """Ask it."""
        return await ask("GET", self.url, self.headers, b"", "the server of its subject token")


@dataclass(frozen=True, slots=True)
class Subject:
    """A proof of an identity.

    Attributes:
        content: where it is kept.
        kind: what the token exchange calls such a proof.
        member: where it stands in the content, if that is JSON; None if it is the whole of it.
    """

    content: SubjectContent
    kind: str
    member: str | None = None

    async def token(self) -> str:
        """The proof itself.

        Raises:
            TokenProblem: there is none.
        """
        content = await self.content.read()
        found: object = content.decode("utf-8", "replace").strip()
        if self.member is not None:
            document = read_json(content)
            found = document.get(self.member) if isinstance(document, dict) else None
        if len(content) > _MAX_SUBJECT_BYTES or not isinstance(found, str) or not found:
            raise TokenProblem("cannot be had: no subject token is where its file says")
        return found


@dataclass(frozen=True, slots=True)
class ExternalAccount:
    """A workload or a person whom an identity pool knows by somebody else's proof.

    Attributes:
        audience: the provider in the pool.
        token_server: trades the proof.
        options: what the exchange is told besides, such as the project that it counts for.
        client: id and secret of whoever asks, if the pool wants to know.
    """

    subject: Subject
    audience: str
    token_server: str
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    client: tuple[str, str] | None = field(default=None, repr=False)

    async def fetch(self, now: float) -> OAuthToken:
        """Trade the proof."""
        form = {
            "grant_type": _EXCHANGE_GRANT,
            "audience": self.audience,
            "scope": SCOPE,
            "requested_token_type": _ACCESS_TOKEN,
            "subject_token": await self.subject.token(),
            "subject_token_type": self.subject.kind,
        }
        if self.options:
            form["options"] = quote(json.dumps(self.options))
        headers: dict[str, str] = {}
        if self.client is not None:
            basic = base64.b64encode(":".join(self.client).encode()).decode()
            headers["authorization"] = f"Basic {basic}"
        return await trade(self.token_server, headers, urlencode(form).encode(), now)


@dataclass(frozen=True, slots=True)
class Impersonation:
    """A service account for which somebody with other credentials may speak.

    Attributes:
        source: the other credentials.
        url: gives tokens of the service account.
        delegates: accounts between the two, each of which may speak for the next.
        lifetime_seconds: how long a token shall last.
    """

    source: TokenSource
    url: str
    delegates: tuple[str, ...] = ()
    lifetime_seconds: int = 3600

    async def fetch(self, now: float) -> OAuthToken:
        """Get a token of the source, and with it one of the service account."""
        source = await self.source.fetch(now)
        headers = {
            "authorization": f"Bearer {source.access}",
            "content-type": "application/json",
        }
        wanted = {
            "delegates": list(self.delegates),
            "scope": [SCOPE],
            "lifetime": f"{self.lifetime_seconds}s",
        }
        server = "the server that impersonates"
        match read_json(await ask("POST", self.url, headers, dumps(wanted).encode(), server)):
            case {"accessToken": str(token), "expireTime": str(moment)} if token:
                return OAuthToken(token, expires_at=_seconds(moment))
            case _:
                raise TokenProblem(f"cannot be had: the answer of {server} holds no token")


def _seconds(moment: str) -> float:
    try:
        read = datetime.fromisoformat(moment)
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise TokenProblem("cannot be had: nobody says when its token expires") from None
