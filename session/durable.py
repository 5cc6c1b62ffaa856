"""What all durable stores share: state in memory, one writer a Session, cancellation."""

from collections import OrderedDict
from types import TracebackType
from typing import Generic, Self

import anyio
import anyio.lowlevel

from agentslot.session.aggregate import apply, create, recover
from agentslot.session.clock import Clock, StrictClock, utc_now
from agentslot.session.errors import ClassifiedError, ErrorKind, RevisionConflictError
from agentslot.session.fileformat import commit_body, fingerprint
from agentslot.session.identity import AgentId, SessionId, WorkspaceId
from agentslot.session.listing import Listing, rank
from agentslot.session.medium import Medium, S, UncertainError, UnflushedError
from agentslot.session.reading import read_history
from agentslot.session.recent import answer_again, commit_of, outcome_of
from agentslot.session.requests import check_request, session_exists
from agentslot.session.state import SessionState
from agentslot.session.store import (
    Commit,
    CommitRequest,
    Loaded,
    NewSession,
    SessionOverview,
    SessionPage,
)

_SESSIONS_IN_MEMORY = 1024


class _Entry(Generic[S]):
    """One Session that the store writes to.

    Attributes:
        stored: None until it has been read.
        in_doubt: what it shows may not be durable; nobody is told of it until it is recovered.
    """

    __slots__ = ("in_doubt", "lock", "stored")

    def __init__(self) -> None:
        self.lock = anyio.Lock(fast_acquire=True)
        self.stored: S | None = None
        self.in_doubt = False

    def rests(self) -> bool:
        """Whether nobody uses it or waits for it."""
        busy = self.lock.locked() or self.lock.statistics().tasks_waiting > 0
        return not busy and not self.in_doubt

    def require_certainty(self, session_id: SessionId) -> None:
        """Refuse a Session that is in doubt."""
        if self.in_doubt:
            raise ClassifiedError(
                ErrorKind.UNAVAILABLE,
                "not_durable",
                f"nobody knows what of the newest commit of session {session_id!r} is durable: "
                "resume the Session, or recover it, to find out",
            )


class DurableStore(Generic[S]):
    """A SessionStore on a medium."""

    def __init__(self, medium: Medium[S], *, clock: Clock = utc_now) -> None:
        self._medium = medium
        self._clock = StrictClock(clock)
        self._listing = Listing()
        self._entries: OrderedDict[SessionId, _Entry[S]] = OrderedDict()
        self._is_open = False

    async def __aenter__(self) -> Self:
        """Get ready to write.

        Raises:
            ClassifiedError: `unavailable/…`: another process has the medium, or it cannot be
                reached.
        """
        await self._medium.open()
        self._is_open = True
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Give the medium back. All that was acknowledged is durable already."""
        self._is_open = False
        self._entries.clear()
        with anyio.CancelScope(shield=True):
            await self._medium.close()

    async def create(self, new: NewSession) -> SessionState:
        """Create a Session at revision 1."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        entry = self._entry(new.id)
        async with entry.lock:
            if entry.stored is not None:
                raise session_exists(new.id)
            state = create(new, self._clock())
            try:
                with anyio.CancelScope(shield=True):
                    await self._medium.create(new, state)
            except UnflushedError:
                entry.in_doubt = True
                raise
            entry.stored = await self._medium.read(new.id)
            return entry.stored.state

    async def load(self, session_id: SessionId) -> Loaded:
        """The Session as it is. One that this store does not write to is read and left alone."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        entry = self._entries.get(session_id)
        if entry is None:
            stored = await self._medium.read(session_id)
            return Loaded(stored.state, stored.repairs)
        async with entry.lock:
            entry.require_certainty(session_id)
            stored = await self._current(session_id, entry)
            return Loaded(stored.state, stored.repairs)

    async def recover(self, session_id: SessionId) -> Loaded:
        """Settle what an owner that is gone left open."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        entry = self._entry(session_id)
        async with entry.lock:
            stored = await self._current(session_id, entry)
            repairs = stored.repairs
            changes = await read_history(stored.state.history, recover, stored.state)
            if changes:
                revision = stored.state.revision
                request = CommitRequest(session_id, revision, f"recover-{revision}", changes)
                await self._append(entry, stored, request, commit_body(request))
            return Loaded(stored.state, repairs)

    async def commit(self, request: CommitRequest) -> Commit:
        """Apply the changes and make them durable, or do nothing."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        check_request(request)
        entry = self._entry(request.session_id)
        async with entry.lock:
            entry.require_certainty(request.session_id)
            stored = entry.stored or await self._read(request.session_id, entry)
            body = commit_body(request)
            try:
                return await self._decide(entry, stored, request, body)
            except RevisionConflictError:
                if await self._medium.is_current(stored):
                    raise
                stored = await self._read(request.session_id, entry)
                return await self._decide(entry, stored, request, body)

    async def list_sessions(
        self, agent: AgentId, workspace: WorkspaceId, *, limit: int = 50, cursor: str = ""
    ) -> SessionPage:
        """List a scope, newest change first. What cannot be read is left out."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        sessions = await self._medium.list(agent, workspace)
        return self._listing.page(
            sessions, agent, workspace, limit=limit, cursor=cursor, now=self._clock()
        )

    async def overview(self) -> list[SessionOverview]:
        """All Sessions of all scopes, newest change first, for people who look after the store.

        No Session is read whole, and what cannot be read is left out.
        """
        await anyio.lowlevel.checkpoint_if_cancelled()
        sessions = await self._medium.overview()
        return sorted(sessions, key=lambda each: rank(each.summary))

    async def _decide(
        self, entry: _Entry[S], stored: S, request: CommitRequest, body: bytes
    ) -> Commit:
        if request.idempotency_key in stored.recent:
            evidence, outcome = stored.recent.find(request.idempotency_key)
            same = evidence == fingerprint(body)
            return answer_again(request.idempotency_key, outcome, stored.state, same=same)
        if request.expected_revision != stored.state.revision:
            raise RevisionConflictError(request.expected_revision, stored.state.revision)
        return await self._append(entry, stored, request, body)

    async def _append(
        self, entry: _Entry[S], stored: S, request: CommitRequest, body: bytes
    ) -> Commit:
        before = stored.state
        now = self._clock(before.updated_at)
        after = apply(before, request.changes, now=now, actor=request.actor)
        try:
            with anyio.CancelScope(shield=True):
                await self._medium.append(stored, request, body, after)
        except (UncertainError, RevisionConflictError, anyio.get_cancelled_exc_class()) as error:
            entry.stored = None  # only the medium knows: whoever comes next reads it
            entry.in_doubt = isinstance(error, UnflushedError)
            raise
        outcome = outcome_of(after.revision, before.history, after.history)
        stored.recent.add(request.idempotency_key, fingerprint(body), outcome)
        stored.state = after
        stored.repairs = ()
        return commit_of(after, outcome)

    def _entry(self, session_id: SessionId) -> _Entry[S]:
        """The entry of a Session that is about to be written; the least used one may go for it."""
        if not self._is_open:
            raise ClassifiedError(
                ErrorKind.UNAVAILABLE,
                "store_not_open",
                "the store is not open: enter it with `async with store` before writing",
            )
        entry = self._entries.get(session_id)
        if entry is not None:
            self._entries.move_to_end(session_id)
            return entry
        if len(self._entries) >= _SESSIONS_IN_MEMORY:
            resting = (known for known, other in self._entries.items() if other.rests())
            oldest = next(resting, None)
            if oldest is not None:
                del self._entries[oldest]
        entry = self._entries[session_id] = _Entry[S]()
        return entry

    async def _current(self, session_id: SessionId, entry: _Entry[S]) -> S:
        """The Session as it is, also if somebody else has written to it."""
        stored = entry.stored
        if stored is None or not await self._medium.is_current(stored):
            stored = await self._read(session_id, entry)
        return stored

    async def _read(self, session_id: SessionId, entry: _Entry[S]) -> S:
        entry.stored = await self._medium.reopen(session_id)
        entry.in_doubt = False
        return entry.stored
