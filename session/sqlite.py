"""Sessions in one SQLite database: durable at each commit, and open to questions in SQL."""

import os
import sqlite3
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from anyio import to_thread

from agentslot.session.beginning import Beginning
from agentslot.session.clock import Clock, utc_now
from agentslot.session.codec import UnreadableError
from agentslot.session.durable import DurableStore
from agentslot.session.errors import ClassifiedError, ErrorKind, SessionDamagedError
from agentslot.session.fileformat import fingerprint
from agentslot.session.identity import SessionId
from agentslot.session.listing import Listed
from agentslot.session.lockfile import LockFile, opening
from agentslot.session.medium import Stored, UncertainError
from agentslot.session.message import Message
from agentslot.session.recent import outcome_of
from agentslot.session.requests import session_exists, session_not_found
from agentslot.session.sqlitereader import (
    select_all,
    select_beginning,
    select_contexts,
    select_facts,
    select_first_message,
    select_session,
)
from agentslot.session.sqliteschema import APPLICATION_ID, SCHEMA, VERSION
from agentslot.session.sqlitewriter import insert_commit, insert_session, update_session
from agentslot.session.state import SessionState
from agentslot.session.store import NewSession
from agentslot.session.text import is_unicode
from agentslot.session.threads import Append, InThreads

T = TypeVar("T")
_SelectRange = Callable[[sqlite3.Connection, SessionId, int, int], list[T]]

# The last one is about tables that are not as ours: whatever else it could be is our own mistake.
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)


class SqliteStore(DurableStore[Stored]):
    """A SessionStore in a database file that one process owns while the store is open.

    ```python
    async with SqliteStore("sessions.db") as store:
        state = await store.create(new)
    ```

    A commit is one transaction, on the disk before it is acknowledged (write-ahead log,
    `synchronous=FULL`); it writes what it adds. `agentslot.session.sqliteschema` describes the
    tables for those who ask them in SQL, which is safe at any time.

    Args:
        path: the database file; made when the store is opened, for its owner alone.
        clock: where commits take their time from; readings are made to grow.
    """

    def __init__(self, path: str | Path, *, clock: Clock = utc_now) -> None:
        self._database = _Database(Path(path))
        super().__init__(InThreads(self._database), clock=clock)

    async def examine(self, session_id: SessionId) -> Beginning:
        """Look at every fact of a Session, to find out what is intact of one that is damaged.

        Raises:
            ClassifiedError: `not_found/session_not_found`, `unavailable/unreadable`.
            SessionDamagedError: not even the row of the Session can be read.
        """
        return await to_thread.run_sync(self._database.examine, session_id)


class _Database:
    """A database file as a medium for Sessions; one thread at a time uses the connection."""

    threads = 1

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = LockFile(path.with_name(path.name + ".lock"))
        self._database: sqlite3.Connection | None = None

    def open(self) -> None:
        with opening(self._path):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock.acquire(self._path)
        try:
            with opening(self._path):
                os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            with self._asking():
                self._database = _connect(self._path)
                self._prepare(self._database)
        except BaseException:
            self.close()
            raise

    def _prepare(self, database: sqlite3.Connection) -> None:
        ((application,),) = database.execute("PRAGMA application_id")
        ((version,),) = database.execute("PRAGMA user_version")
        ((tables,),) = database.execute("SELECT count(*) FROM sqlite_schema")
        if not tables:
            database.executescript(
                f"PRAGMA journal_mode = WAL; BEGIN; {SCHEMA} "
                f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION}; "
                "COMMIT;"
            )
        elif (application, version) != (APPLICATION_ID, VERSION):
            raise SessionDamagedError(
                self._path, f"it is no database of Sessions of version {VERSION}"
            )
        database.execute("PRAGMA synchronous = FULL")

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None
        self._lock.release()

    def create(self, new: NewSession, state: SessionState) -> None:
        with self._transaction() as database:
            try:
                insert_session(database, state)
            except sqlite3.IntegrityError as error:
                raise session_exists(new.id) from error

    def append(self, appends: Sequence[Append[Stored]]) -> list[Exception | None]:
        error = self._append_together(appends)
        if error is None or isinstance(error, UncertainError) or len(appends) == 1:
            return [error] * len(appends)
        return [self._append_together([append]) for append in appends]

    def _append_together(self, appends: Sequence[Append[Stored]]) -> ClassifiedError | None:
        """Make all of them durable with one flush, or none; why not."""
        try:
            with self._transaction() as database:
                for append in appends:
                    _write(database, append)
        except ClassifiedError as error:
            return error
        return None

    def read(self, session_id: SessionId) -> Stored:
        if not is_unicode(session_id):  # SQLite would say that it cannot be asked for
            raise session_not_found(session_id)
        with self._reading(f"session {session_id!r}: ") as database:
            facts = partial(self._read_back, select_facts, session_id)
            contexts = partial(self._read_back, select_contexts, session_id)
            return select_session(database, session_id, facts, contexts)

    def _read_back(
        self, select: _SelectRange[T], session_id: SessionId, first: int, last: int
    ) -> list[T]:
        """Facts or contexts, read when they are asked for, whoever has the database."""
        with (
            self._asking(f"session {session_id!r}: "),
            closing(_connect(self._path, mode="ro")) as database,
        ):
            return select(database, session_id, first, last)

    def examine(self, session_id: SessionId) -> Beginning:
        with (
            self._asking(f"session {session_id!r}: "),
            closing(_connect(self._path, mode="ro")) as database,
        ):
            return select_beginning(database, session_id)

    def reopen(self, session_id: SessionId) -> Stored:
        return self.read(session_id)  # what SQLite shows has been flushed

    def list(self) -> list[Listed]:
        with self._reading() as database:
            return select_all(database)

    def first_message(self, session_id: SessionId) -> Message | None:
        with self._reading() as database:
            return select_first_message(database, session_id)

    @contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection]:
        database = self._database
        if database is None:
            raise AssertionError("the store lets nobody write before it is open")
        try:
            _leave_transaction(database)
            database.execute("BEGIN IMMEDIATE")
            yield database
            database.execute("COMMIT")
        except BaseException as error:
            failed_rollback = _roll_back(database)
            if not isinstance(error, sqlite3.Error):
                raise
            if _is_damage(error) and not failed_rollback:
                raise SessionDamagedError(self._path, str(error)) from error
            kind = UncertainError if failed_rollback else ClassifiedError
            raise kind(
                ErrorKind.UNAVAILABLE,
                "not_durable",
                f"{self._path} could not be written: {error}. Nothing was saved; make room or "
                "repair access, then try again",
            ) from error

    @contextmanager
    def _reading(self, what: str = "") -> Generator[sqlite3.Connection]:
        """A connection to read with; what goes wrong is about `what`."""
        with self._asking(what):
            if self._database is not None:
                _leave_transaction(self._database)
                yield self._database
                return
            if not self._path.exists():
                raise ClassifiedError(
                    ErrorKind.NOT_FOUND, "session_not_found", f"there is no database {self._path}"
                )
            with closing(_connect(self._path, mode="ro")) as database:
                yield database

    @contextmanager
    def _asking(self, what: str = "") -> Generator[None]:
        """Say in the store's words what went wrong while nothing was written."""
        try:
            yield
        except (UnreadableError, ValueError) as error:
            raise SessionDamagedError(self._path, f"{what}{error}") from error
        except sqlite3.Error as error:
            if _is_damage(error):
                raise SessionDamagedError(self._path, f"{what}{error}") from error
            raise ClassifiedError(
                ErrorKind.UNAVAILABLE, "unreadable", f"{self._path} could not be read: {error}"
            ) from error


def _is_damage(error: sqlite3.Error) -> bool:
    """Whether it is what the file holds that is wrong, rather than the way to it."""
    code: int = getattr(error, "sqlite_errorcode", -1)  # what Python itself says has none
    return code & 0xFF in _DAMAGE


def _connect(path: Path, *, mode: str = "rw") -> sqlite3.Connection:
    # The store's limiter lets one thread in at a time, not always the same one.
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
    )


def _write(database: sqlite3.Connection, append: Append[Stored]) -> None:
    before, after = append.stored.state, append.after
    outcome = outcome_of(after.revision, before.history, after.history)
    key, evidence = append.request.idempotency_key, fingerprint(append.body)
    update_session(database, before, after)
    insert_commit(database, after.id, key, evidence, outcome)


def _leave_transaction(database: sqlite3.Connection) -> None:
    """Take back what could not be taken back when it failed: it must not look like stored."""
    if database.in_transaction:
        database.execute("ROLLBACK")


def _roll_back(database: sqlite3.Connection) -> bool:
    """End a transaction that failed; whether not even that is certain."""
    with suppress(sqlite3.Error):
        _leave_transaction(database)
        return False
    return True
