"""Sessions in files: one append-only file each, one flushed line a commit."""

from collections.abc import Sequence
from pathlib import Path

from agentslot.session.clock import Clock, utc_now
from agentslot.session.directory import SessionDirectory
from agentslot.session.durable import DurableStore
from agentslot.session.errors import ClassifiedError, ErrorKind, SessionDamagedError
from agentslot.session.fileformat import (
    FORMAT,
    FORMAT_WITH_EXTENSIONS,
    creation,
    seal,
    upgrade,
)
from agentslot.session.fileoperations import FileOperations
from agentslot.session.filereader import StoredSession, read_first_message, read_session
from agentslot.session.filewriter import append_lines, create_file, flush_again
from agentslot.session.identity import SessionId
from agentslot.session.listing import Listed
from agentslot.session.lockfile import LockFile, opening
from agentslot.session.message import Message
from agentslot.session.requests import session_exists, session_not_found
from agentslot.session.state import SessionState
from agentslot.session.store import NewSession
from agentslot.session.threads import Append, InThreads


class FileStore(DurableStore[StoredSession]):
    """A SessionStore in a directory that one process owns while the store is open.

    ```python
    async with FileStore("sessions") as store:
        state = await store.create(new)
    ```

    A commit appends one line to the Session's file and flushes it to the disk; what it costs does
    not depend on what the file holds already. Reading and listing need no ownership: they work
    while another process has the directory.

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
        backend = _Files(Path(directory), operations or FileOperations())
        super().__init__(InThreads(backend), clock=clock)


class _Files:
    """A directory as a medium for Sessions."""

    threads = 8  # flushes that are under way at once; what waits goes along with the next

    def __init__(self, path: Path, operations: FileOperations) -> None:
        self._directory = SessionDirectory(path)
        self._lock = LockFile(path / ".lock")
        self._operations = operations

    def open(self) -> None:
        path = self._directory.path
        with opening(path):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock.acquire(path)
            self._directory.remove_leftovers()

    def close(self) -> None:
        self._lock.release()

    def create(self, new: NewSession, state: SessionState) -> None:
        path = self._directory.file_of(new.id)
        if path.exists():
            raise session_exists(new.id)
        create_file(self._operations, path, creation(new, state.created_at))

    def read(self, session_id: SessionId) -> StoredSession:
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

    def reopen(self, session_id: SessionId) -> StoredSession:
        stored = self.read(session_id)
        flush_again(self._operations, stored)
        return stored

    def append(self, appends: Sequence[Append[StoredSession]]) -> list[Exception | None]:
        return append_lines(self._operations, [_lines(append) for append in appends])

    def list(self) -> list[Listed]:
        return self._directory.list()

    def first_message(self, session_id: SessionId) -> Message | None:
        return read_first_message(self._directory.file_of(session_id))


def _lines(append: Append[StoredSession]) -> tuple[StoredSession, bytes, str]:
    """What to write for a commit, and the format that the file then has."""
    stored, after = append.stored, append.after
    line = seal(append.body, after.updated_at)
    if stored.format == FORMAT and len(after.extensions) > 0:
        line = upgrade(stored.state.revision, after.updated_at) + line
        return stored, line, FORMAT_WITH_EXTENSIONS
    return stored, line, stored.format
