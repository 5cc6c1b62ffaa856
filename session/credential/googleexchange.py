"""How a token is asked for, and where: what is sent there is worth stealing."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Protocol
from urllib.parse import urlsplit

import anyio.to_thread

from agentslot._http import HttpError, new_client, open_body
from agentslot._json import JsonError, JsonValue, loads
from agentslot.session.credential.oauth import OAuthToken

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
FORM = {"content-type": "application/x-www-form-urlencoded"}

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_MAX_ANSWER_BYTES = 64 * 1024
_IDLE_SECONDS = 10.0
_CODE = re.compile(r"[a-z_]{1,40}|[A-Z_]{1,40}")


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


def address_in(document: Mapping[str, JsonValue], member: str, usual: str | None = None) -> str:
    """Where a file of credentials wants something secret to be sent.

    Raises:
        TokenProblem: it is no address, or others could listen there.
    """
    server = document.get(member, usual)
    try:
        parts = urlsplit(server if isinstance(server, str) else "")
    except ValueError:  # half an IPv6 address
        parts = urlsplit("")
    if not parts.hostname:
        raise TokenProblem(f"cannot be used: its {member} is no address")
    if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
        raise TokenProblem(f"is not sent to its {member}, which does not begin with https")
    return parts.geturl()


async def ask(
    method: str, url: str, headers: Mapping[str, str], content: bytes, server: str
) -> bytes:
    """The answer of a server, which is called `server` where it goes wrong.

    Raises:
        TokenProblem: it gave none, or a refusal.
    """
    if not all(value.isascii() and value.isprintable() for value in headers.values()):
        raise TokenProblem(f"cannot be had from {server}: a header field for it cannot be sent")
    # Loading the certificates takes tens of milliseconds, and reads files.
    client = await anyio.to_thread.run_sync(partial(new_client, idle_seconds=_IDLE_SECONDS))
    try:
        body = await open_body(client, url, headers, content, method=method)
        answer = b""
        while len(answer) <= _MAX_ANSWER_BYTES and (piece := await body.read()):
            answer += piece
        await body.aclose()
    except HttpError as error:
        raise TokenProblem(f"cannot be had from {server}: {error}") from None
    finally:
        with anyio.CancelScope(shield=True):
            await client.aclose()
    if body.status != 200:
        raise TokenProblem(f"was refused by {server}: {_code(read_json(answer), body.status)}")
    return answer


def read_json(content: bytes) -> JsonValue:
    """The document; None if it is none."""
    try:
        return loads(content)
    except JsonError:
        return None


async def trade(url: str, headers: Mapping[str, str], form: bytes, now: float) -> OAuthToken:
    """The token that a token server gives for a form.

    Raises:
        TokenProblem: it gave none.
    """
    answer = await ask("POST", url, {**FORM, **headers}, form, "the token server")
    return read_token(answer, now)


def read_token(answer: bytes, now: float) -> OAuthToken:
    """The token in an answer; some servers write the seconds as a text.

    Raises:
        TokenProblem: there is none.
    """
    match read_json(answer):
        case {"access_token": str(token), "expires_in": int(seconds) | str(seconds)} if token:
            lasts = int(seconds) if isinstance(seconds, int) or seconds.isdecimal() else 0
            if lasts > 0:
                return OAuthToken(token, expires_at=now + lasts)
        case _:
            pass
    raise TokenProblem("cannot be had: the token server's answer holds no token")


def _code(document: JsonValue, status: int) -> str:
    """The server's own word for the refusal, if it is one; its text may repeat what was sent."""
    match document:
        case {"error": str(code) | {"status": str(code)}} if _CODE.fullmatch(code):
            return f"{code} (status {status})"
        case _:
            return f"status {status}"
