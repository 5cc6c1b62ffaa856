"""What all stores share that one process owns: state in memory, one writer a Session, threads.

The medium, a directory of files or a database, is a `Backend`: blocking functions, each called in a
worker thread, never two at once for the same Session.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Generic, ParamSpec, Protocol, Self, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

from agentslot.session.aggregate import apply, create, recover
from agentslot.session.clock import Clock, StrictClock, utc_now
from agentslot.session.errors import ClassifiedError, ErrorKind, RevisionConflictError
from agentslot.session.fileformat import commit_body, fingerprint
from agentslot.session.identity import AgentId, SessionId, WorkspaceId
from agentslot.session.listing import Listed, Listing, rank
from agentslot.session.message import Message
from agentslot.session.recent import RecentCommits, commit_of, outcome_of
from agentslot.session.requests import check_request, session_exists
from agentslot.session.state import SessionState
from agentslot.session.store import (
    Commit,
    CommitRequest,
    Loaded,
    NewSession,
    Repair,
    SessionOverview,
    SessionPage,
)

P = ParamSpec("P")
T = TypeVar("T")

_SESSIONS_IN_MEMORY = 1024


class UncertainError(ClassifiedError):
    """The write failed, and so did taking it back: only reading the Session again tells."""


@dataclass(slots=True)
class Stored:
    """A Session as the medium has it; backends add what they need to write on."""

    state: SessionState
    recent: RecentCommits[bytes]
    repairs: tuple[Repair, ...]


S = TypeVar("S", bound=Stored)


class Backend(Protocol[S]):
    """A medium for Sessions. All methods block."""

    threads: int
    """How many of its operations may run at once."""

    def open(self) -> None:
        """Take the medium for this process.

        Raises:
            ClassifiedError: `unavailable/sessions_in_use`, naming the process that has it.
        """
        ...

    def close(self) -> None:
        """Give the medium back."""
        ...

    def create(self, new: NewSession, state: SessionState) -> None:
        """Put a new Session there, durably.

        Raises:
            ClassifiedError: `conflict/session_already_exists`, `unavailable/not_durable`.
        """
        ...

    def read(self, session_id: SessionId) -> S:
        """Read a Session; nothing is written. Works without `open`, too.

        Raises:
            ClassifiedError: `not_found/session_not_found`, `unavailable/…`.
            SessionDamagedError: it cannot be trusted.
        """
        ...

    def append(self, stored: S, request: CommitRequest, body: bytes, after: SessionState) -> None:
        """Make one commit durable: `request`, encoded as `body`, makes `after` of `stored.state`.

        Raises:
            UncertainError: nobody knows whether it is durable.
            ClassifiedError: `unavailable/not_durable`: it is not, and nothing is left of it.
        """
        ...

    def list(self) -> list[Listed]:
        """All Sessions, in no order. Works without `open`, too."""
        ...

    def first_message(self, session_id: SessionId) -> Message | None:
        """The first message that is no copy, found without reading on. Works without `open`."""
        ...


class _Entry(Generic[S]):
    """One Session that the store owns; `stored` is None until it has been read."""

    __slots__ = ("lock", "stored")

    def __init__(self) -> None:
        self.lock = anyio.Lock(fast_acquire=True)
        self.stored: S | None = None

    def rests(self) -> bool:
        """Whether nobody uses it or waits for it."""
        return not self.lock.locked() and self.lock.statistics().tasks_waiting == 0


class DurableStore(Generic[S]):
    """A SessionStore on a medium that one process owns while the store is open.

    Reading and listing need no ownership: they work while another process has it.
    """

    def __init__(self, backend: Backend[S], *, clock: Clock = utc_now) -> None:
        self._backend = backend
        self._clock = StrictClock(clock)
        self._listing = Listing()
        self._entries: OrderedDict[SessionId, _Entry[S]] = OrderedDict()
        self._threads = anyio.CapacityLimiter(backend.threads)
        self._is_open = False

    async def __aenter__(self) -> Self:
        """Take the medium.

        Raises:
            ClassifiedError: `unavailable/sessions_in_use`, naming the process that has it.
        """
        await self._in_thread(self._backend.open)
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
            await self._in_thread(self._backend.close)

    async def create(self, new: NewSession) -> SessionState:
        """Create a Session at revision 1."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        entry = self._entry(new.id)
        async with entry.lock:
            if entry.stored is not None:
                raise session_exists(new.id)
            await self._in_thread(self._backend.create, new, create(new, self._clock()))
            return (await self._read(new.id, entry)).state

    async def load(self, session_id: SessionId) -> Loaded:
        """The Session as it is. One that this store does not own yet is read and left alone."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        entry = self._entries.get(session_id)
        if entry is None:
            stored = await self._in_thread(self._backend.read, session_id)
            return Loaded(stored.state, stored.repairs)
        async with entry.lock:
            stored = entry.stored or await self._read(session_id, entry)
            return Loaded(stored.state, stored.repairs)

    async def recover(self, session_id: SessionId) -> Loaded:
        """Settle what an owner that is gone left open."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        entry = self._entry(session_id)
        async with entry.lock:
            stored = entry.stored or await self._read(session_id, entry)
            repairs = stored.repairs
            changes = recover(stored.state)
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
            stored = entry.stored or await self._read(request.session_id, entry)
            body = commit_body(request)
            if request.idempotency_key in stored.recent:
                evidence = fingerprint(body)
                return stored.recent.again(request.idempotency_key, evidence, stored.state)
            if request.expected_revision != stored.state.revision:
                raise RevisionConflictError(request.expected_revision, stored.state.revision)
            return await self._append(entry, stored, request, body)

    async def list_sessions(
        self, agent: AgentId, workspace: WorkspaceId, *, limit: int = 50, cursor: str = ""
    ) -> SessionPage:
        """List a scope, newest change first. What cannot be read is left out."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        sessions = await self._in_thread(self._backend.list)
        return self._listing.page(
            sessions, agent, workspace, limit=limit, cursor=cursor, now=self._clock()
        )

    async def overview(self) -> list[SessionOverview]:
        """All Sessions of all scopes, newest change first, for people who look after the store.

        No Session is read whole, and what cannot be read is left out.
        """
        await anyio.lowlevel.checkpoint_if_cancelled()
        return await self._in_thread(self._overview)

    def _overview(self) -> list[SessionOverview]:
        rows = sorted((each.summary for each in self._backend.list()), key=rank)
        return [SessionOverview(row, self._backend.first_message(row.id)) for row in rows]

    async def _append(
        self, entry: _Entry[S], stored: S, request: CommitRequest, body: bytes
    ) -> Commit:
        before = stored.state
        now = self._clock(before.updated_at)
        after = apply(before, request.changes, now=now, actor=request.actor)
        try:
            await self._in_thread(self._backend.append, stored, request, body, after)
        except (UncertainError, anyio.get_cancelled_exc_class()):
            entry.stored = None  # only the medium knows: whoever comes next reads it
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

    async def _read(self, session_id: SessionId, entry: _Entry[S]) -> S:
        entry.stored = await self._in_thread(self._backend.read, session_id)
        return entry.stored

    async def _in_thread(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run blocking work; once it has begun, cancellation waits for its end."""
        return await anyio.to_thread.run_sync(
            lambda: function(*args, **kwargs), limiter=self._threads
        )
