"""Pages of Sessions, newest change first, with cursors that only their own store can make."""

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from heapq import nsmallest

from agentslot.session.codec import Decoder, UnreadableError, encode
from agentslot.session.errors import ClassifiedError, ErrorKind
from agentslot.session.identity import AgentId, SessionId, WorkspaceId
from agentslot.session.state import SessionState
from agentslot.session.store import SessionPage, SessionSummary

DEFAULT_PAGE = 50
MAX_PAGE = 200
MAX_CURSOR_BYTES = 4096

_BASE64URL = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class _Position:
    """Where a page ended.

    Attributes:
        epoch: the life of the store that the cursor belongs to.
        cutoff: when the first page was made; Sessions created later are left out.
        updated_at: with `session`, the last row that was given out.
    """

    epoch: str
    agent: AgentId
    workspace: WorkspaceId
    cutoff: datetime
    updated_at: datetime
    session: SessionId
    version: int = 1


@dataclass(frozen=True, slots=True)
class Listed:
    """A Session that a listing may show; `created_at` says whether it came too late for it."""

    summary: SessionSummary
    created_at: datetime


def listed(state: SessionState) -> Listed:
    """The row of a Session in a listing."""
    summary = SessionSummary(
        state.id,
        state.agent,
        state.workspace,
        state.revision,
        state.updated_at,
        state.lineage.parent if state.lineage else None,
    )
    return Listed(summary, state.created_at)


class Listing:
    """Makes pages of the Sessions that a store names, for one life of that store.

    A Session that changes between two pages may move ahead of the cursor and be missed; none is
    given out twice. Whoever needs the newest state starts again without a cursor.
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._epoch = secrets.token_hex(8)

    def page(
        self,
        sessions: Iterable[Listed],
        agent: AgentId,
        workspace: WorkspaceId,
        *,
        limit: int,
        cursor: str,
        now: datetime,
    ) -> SessionPage:
        """The page behind `cursor`, or the first one.

        Raises:
            ClassifiedError: `invalid_input/invalid_limit`, `invalid_input/invalid_cursor`.
        """
        limit = limit or DEFAULT_PAGE
        if not 1 <= limit <= MAX_PAGE:
            raise ClassifiedError(
                ErrorKind.INVALID_INPUT, "invalid_limit", f"limit must be 1 to 200, not {limit}"
            )
        start = self._read(cursor, agent, workspace) if cursor else None
        cutoff = start.cutoff if start else now
        candidates = (
            each.summary
            for each in sessions
            if (each.summary.agent, each.summary.workspace) == (agent, workspace)
            and each.created_at <= cutoff
            and (start is None or rank(each.summary) > (_age(start.updated_at), start.session))
        )
        rows = nsmallest(limit + 1, candidates, key=rank)
        if len(rows) <= limit:
            return SessionPage(rows, "")
        last = rows[limit - 1]
        end = _Position(self._epoch, agent, workspace, cutoff, last.updated_at, last.id)
        return SessionPage(rows[:limit], self._write(end))

    def _write(self, position: _Position) -> str:
        payload = encode(position)
        return base64.urlsafe_b64encode(self._sign(payload) + payload).decode().rstrip("=")

    def _read(self, cursor: str, agent: AgentId, workspace: WorkspaceId) -> _Position:
        signed = _decode_base64url(cursor)
        signature, payload = signed[:32], signed[32:]
        if not hmac.compare_digest(signature, self._sign(payload)):
            raise _invalid_cursor("was not made by this store, or was altered")
        try:
            position = _position_decoder()(payload)
        except UnreadableError as error:
            raise _invalid_cursor(str(error)) from error
        if (position.epoch, position.agent, position.workspace) != (self._epoch, agent, workspace):
            raise _invalid_cursor("belongs to another listing")
        return position

    def _sign(self, payload: bytes) -> bytes:
        return hmac.digest(self._key, payload, hashlib.sha256)


@cache
def _position_decoder() -> Decoder[_Position]:  # made at first use, since it takes milliseconds
    return Decoder(_Position)


def rank(session: SessionSummary) -> tuple[timedelta, SessionId]:
    """Where a Session stands in a listing: the newest change first."""
    return _age(session.updated_at), session.id


def _age(updated_at: datetime) -> timedelta:
    return _FUTURE - updated_at


_FUTURE = datetime.max.replace(tzinfo=UTC)


def _decode_base64url(cursor: str) -> bytes:
    if len(cursor) > MAX_CURSOR_BYTES or not _BASE64URL.fullmatch(cursor):
        raise _invalid_cursor("is no cursor")
    try:
        signed = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except ValueError as error:  # no text of bytes has that length
        raise _invalid_cursor("is no cursor") from error
    if base64.urlsafe_b64encode(signed).decode().rstrip("=") != cursor:
        raise _invalid_cursor("is no cursor")
    return signed


def _invalid_cursor(problem: str) -> ClassifiedError:
    return ClassifiedError(
        ErrorKind.INVALID_INPUT, "invalid_cursor", f"the cursor {problem}: list again without one"
    )
