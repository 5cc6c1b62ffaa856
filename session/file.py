"""Sessions in files: each commit is on the disk before it is acknowledged."""

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

from agentslot.session.aggregate import apply, create, recover
from agentslot.session.clock import Clock, StrictClock, utc_now
from agentslot.session.directory import SessionDirectory
from agentslot.session.errors import (
    ClassifiedError,
    ErrorKind,
    RevisionConflictError,
    SessionDamagedError,
)
from agentslot.session.fileformat import commit_body, creation, fingerprint, seal
from agentslot.session.fileoperations import FileOperations
from agentslot.session.filereader import StoredSession, read_session
from agentslot.session.filewriter import UncertainError, append_line, create_file
from agentslot.session.identity import AgentId, SessionId, WorkspaceId
from agentslot.session.listing import Listing
from agentslot.session.lockfile import DirectoryLock
from agentslot.session.recent import commit_of, outcome_of
from agentslot.session.requests import check_request, session_exists, session_not_found
from agentslot.session.state import SessionState
from agentslot.session.store import Commit, CommitRequest, Loaded, NewSession, SessionPage

P = ParamSpec("P")
T = TypeVar("T")

_SESSIONS_IN_MEMORY = 1024
_THREADS = 16


class _Entry:
    """One Session that this store owns; `stored` is None until its file has been read."""

    __slots__ = ("lock", "stored")

    def __init__(self, stored: StoredSession | None = None) -> None:
        self.lock = anyio.Lock(fast_acquire=True)
        self.stored = stored

    def rests(self) -> bool:
        """Whether nobody uses it or waits for it."""
        return not self.lock.locked() and self.lock.statistics().tasks_waiting == 0


class FileStore:
    """A SessionStore in a directory that one process owns while the store is open.

    One append-only file a Session; a commit appends one line and flushes it to the disk. Reading
    and listing need no ownership: they work while another process has the directory.

    Args:
        directory: where the files lie; made when the store is opened, for its owner alone.
        clock: where commits take their time from; readings are made to grow.
        operations: the system calls of the write path, for tests that make one fail.
    """

    def __init__(
        self,
        directory: str | Path,
        *,
        clock: Clock = utc_now,
        operations: FileOperations | None = None,
    ) -> None:
        self._directory = SessionDirectory(Path(directory))
        self._lock = DirectoryLock(self._directory.path)
        self._clock = StrictClock(clock)
        self._operations = operations or FileOperations()
        self._listing = Listing()
        self._entries: OrderedDict[SessionId, _Entry] = OrderedDict()
        self._threads = anyio.CapacityLimiter(_THREADS)
        self._is_open = False

    async def __aenter__(self) -> Self:
        """Take the directory.

        Raises:
            ClassifiedError: `unavailable/directory_in_use`, naming the process that has it.
        """
        await self._in_thread(self._take_directory)
        self._is_open = True
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Give the directory back. All that was acknowledged is on the disk already."""
        self._is_open = False
        self._entries.clear()
        await self._in_thread(self._lock.release)

    def _take_directory(self) -> None:
        self._directory.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock.acquire()
        self._directory.remove_leftovers()

    async def create(self, new: NewSession) -> SessionState:
        """Create a Session at revision 1."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        entry = self._entry(new.id)
        async with entry.lock:
            now = self._clock()
            create(new, now)  # refuses what no Session can start with
            await self._in_thread(self._create_file, new.id, creation(new, now))
            return (await self._read(new.id, entry)).state

    async def load(self, session_id: SessionId) -> Loaded:
        """The Session as it is. A file that this store does not own yet is read and left alone."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        entry = self._entries.get(session_id)
        if entry is None:
            stored = await self._in_thread(self._read_file, session_id)
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
        """Apply the changes and flush them to the disk, or do nothing."""
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
        """List a scope, newest change first. Damaged files are left out."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        sessions = await self._in_thread(self._directory.list)
        return self._listing.page(
            sessions, agent, workspace, limit=limit, cursor=cursor, now=self._clock()
        )

    async def _append(
        self, entry: _Entry, stored: StoredSession, request: CommitRequest, body: bytes
    ) -> Commit:
        before = stored.state
        now = self._clock(before.updated_at)
        after = apply(before, request.changes, now=now, actor=request.actor)
        path = self._directory.file_of(request.session_id)
        try:
            await self._in_thread(append_line, self._operations, path, stored, seal(body, now))
        except (UncertainError, anyio.get_cancelled_exc_class()):
            entry.stored = None  # only the file knows: whoever comes next reads it
            raise
        outcome = outcome_of(after.revision, before.history, after.history)
        stored.recent.add(request.idempotency_key, fingerprint(body), outcome)
        stored.state = after
        stored.repairs = ()
        return commit_of(after, outcome)

    def _entry(self, session_id: SessionId) -> _Entry:
        """The entry of a Session that is about to be written; the least used one may go for it."""
        if not self._is_open:
            raise ClassifiedError(
                ErrorKind.UNAVAILABLE,
                "store_not_open",
                f"the store of {self._directory.path} is not open: enter `async with store` first",
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
        entry = self._entries[session_id] = _Entry()
        return entry

    async def _read(self, session_id: SessionId, entry: _Entry) -> StoredSession:
        entry.stored = await self._in_thread(self._read_file, session_id)
        return entry.stored

    def _create_file(self, session_id: SessionId, content: bytes) -> None:
        path = self._directory.file_of(session_id)
        if path.exists():
            raise session_exists(session_id)
        create_file(self._operations, path, content)

    def _read_file(self, session_id: SessionId) -> StoredSession:
        path = self._directory.file_of(session_id)
        try:
            stored = read_session(path)
        except FileNotFoundError:
            raise session_not_found(session_id) from None
        except OSError as error:
            raise ClassifiedError(
                ErrorKind.UNAVAILABLE, "unreadable", f"{path} could not be read: {error.strerror}"
            ) from error
        if stored.state.id != session_id:
            raise SessionDamagedError(path, f"it holds session {stored.state.id!r}", line=1)
        return stored

    async def _in_thread(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run blocking work; once it has begun, cancellation waits for its end."""
        return await anyio.to_thread.run_sync(
            lambda: function(*args, **kwargs), limiter=self._threads
        )
