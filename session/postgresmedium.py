"""A PostgreSQL database as a medium for Sessions."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import TypeVar

import anyio
from anyio.from_thread import start_blocking_portal

from agentslot.session.beginning import Beginning
from agentslot.session.codec import UnreadableError
from agentslot.session.errors import (
    ClassifiedError,
    ErrorKind,
    RevisionConflictError,
    SessionDamagedError,
)
from agentslot.session.fileformat import fingerprint
from agentslot.session.identity import AgentId, SessionId, WorkspaceId
from agentslot.session.listing import Listed
from agentslot.session.medium import Stored
from agentslot.session.postgresdriver import Connections, Database, connect
from agentslot.session.postgreserrors import LOST, PLACE, DuplicateKeyError, reading, writing
from agentslot.session.postgresreader import (
    select_beginning,
    select_contexts,
    select_facts,
    select_overview,
    select_revision,
    select_scope,
    select_session,
)
from agentslot.session.postgresschema import TABLES, VERSION
from agentslot.session.postgreswriter import creation, next_revision, other_changes
from agentslot.session.recent import outcome_of
from agentslot.session.requests import session_exists, session_not_found
from agentslot.session.state import SessionState
from agentslot.session.store import CommitRequest, NewSession, SessionOverview
from agentslot.session.text import is_unicode

T = TypeVar("T")
_SelectRange = Callable[[Database, SessionId, int, int], Awaitable[list[T]]]

_OPENING_LOCK = 0x41474C53  # "AGLS": one process at a time looks for the tables and makes them


class PostgresMedium:
    """A database in which a Session moves on only from the revision that it has."""

    def __init__(self, dsn: str, max_connections: int, *, create_tables: bool) -> None:
        self._dsn = dsn
        self._max_connections = max_connections
        self._create_tables = create_tables
        self._connections: Connections | None = None

    async def open(self) -> None:
        """Connect, and make the tables if they are not there.

        Raises:
            ClassifiedError: `unavailable/asyncio_needed`, `unavailable/unreadable`,
                `invalid_input/invalid_dsn`,
                `unavailable/other_version`: the tables are of another version,
                `not_found/tables_not_found`: there are none, and none should be made.
        """
        _require_asyncio()
        self._connections = await connect(self._dsn, self._max_connections)
        try:
            with reading():
                async with self._transaction() as database:
                    await _prepare(database, create_tables=self._create_tables)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Close all connections."""
        connections, self._connections = self._connections, None
        if connections is not None:
            await connections.close()

    async def create(self, new: NewSession, state: SessionState) -> None:
        """As `Medium.create`."""
        sql, parameters = creation(state)
        with writing():
            try:
                async with self._connection() as database:
                    await database.execute(sql, *parameters)
            except DuplicateKeyError as error:
                raise session_exists(new.id) from error

    async def read(self, session_id: SessionId) -> Stored:
        """As `Medium.read`."""
        if not _is_storable(session_id):
            raise session_not_found(session_id)
        with reading():
            async with self._connection() as database:
                facts = partial(self._read_back, select_facts, session_id)
                contexts = partial(self._read_back, select_contexts, session_id)
                with _understanding(f"session {session_id!r}: "):
                    async with _one_moment(database):
                        return await select_session(database, session_id, facts, contexts)

    def _read_back(
        self, select: _SelectRange[T], session_id: SessionId, first: int, last: int
    ) -> list[T]:
        """Facts or contexts, for whoever walks through the past of a Session and does not wait.

        So they are read on a loop of their own, in a thread of their own.
        """
        with start_blocking_portal("asyncio") as portal:
            return portal.call(self._select, select, session_id, first, last)

    async def _select(
        self, select: _SelectRange[T], session_id: SessionId, first: int, last: int
    ) -> list[T]:
        with reading():
            connections = await connect(self._dsn, 1)
            try:
                async with connections.lend() as database:
                    with _understanding(f"session {session_id!r}: "):
                        return await select(database, session_id, first, last)
            finally:
                await connections.close()

    async def examine(self, session_id: SessionId) -> Beginning:
        """As `PostgresStore.examine`."""
        with reading():
            async with self._connection() as database:
                with _understanding(f"session {session_id!r}: "):
                    async with _one_moment(database):
                        return await select_beginning(database, session_id)

    async def reopen(self, session_id: SessionId) -> Stored:
        """As `Medium.reopen`; what the server shows has been flushed."""
        return await self.read(session_id)

    async def is_current(self, stored: Stored) -> bool:
        """As `Medium.is_current`."""
        with reading():
            async with self._connection() as database:
                revision = await select_revision(database, stored.state.id)
        return revision == stored.state.revision

    async def append(
        self, stored: Stored, request: CommitRequest, body: bytes, after: SessionState
    ) -> None:
        """As `Medium.append`."""
        before = stored.state
        outcome = outcome_of(after.revision, before.history, after.history)
        key, evidence = request.idempotency_key, fingerprint(body)
        sql, parameters = next_revision(before, after, key, evidence, outcome)
        others = list(other_changes(before, after))
        with writing():
            async with self._transaction() if others else self._connection() as database:
                if not await database.fetchval(sql, *parameters):
                    raise await _conflict(database, request)
                for sql, parameters in others:
                    await database.execute(sql, *parameters)

    async def overview(self) -> list[SessionOverview]:
        """As `Medium.overview`."""
        with reading():
            async with self._connection() as database:
                with _understanding():
                    return await select_overview(database)

    async def list(self, agent: AgentId, workspace: WorkspaceId) -> list[Listed]:
        """As `Medium.list`."""
        if not (_is_storable(agent) and _is_storable(workspace)):
            return []
        with reading():
            async with self._connection() as database:
                with _understanding():
                    return await select_scope(database, agent, workspace)

    def _connection(self) -> AbstractAsyncContextManager[Database]:
        if self._connections is None:
            raise ClassifiedError(
                ErrorKind.UNAVAILABLE,
                "store_not_open",
                "the store is not open: enter it with `async with store` before using it",
            )
        return self._connections.lend()

    @asynccontextmanager
    async def _transaction(self) -> AsyncGenerator[Database]:
        async with self._connection() as database, database.transaction():
            yield database


@contextmanager
def _understanding(what: str = "") -> Generator[None]:
    """Say that the rows which the database has given are damaged, and what they are about."""
    try:
        yield
    except (UnreadableError, ValueError) as error:
        raise SessionDamagedError(PLACE, f"{what}{error}") from error


@asynccontextmanager
async def _one_moment(database: Database) -> AsyncGenerator[None]:
    """See the database as it is now; left properly also by whoever is cancelled meanwhile."""
    transaction = database.transaction(isolation="repeatable_read", readonly=True)
    await transaction.start()
    try:
        yield
    finally:
        # Over a connection that has broken there is nothing to end, and whoever reads knows of it.
        with anyio.CancelScope(shield=True), suppress(*LOST):
            await transaction.rollback()


def _is_storable(name: str) -> bool:
    """Whether there can be a row of that name: the server's texts are Unicode without NUL."""
    return "\0" not in name and is_unicode(name)


def _require_asyncio() -> None:
    import asyncio  # noqa: TID251  # asyncpg runs on it alone, and this asks whether it does

    try:
        asyncio.get_running_loop()
    except RuntimeError as error:
        raise ClassifiedError(
            ErrorKind.UNAVAILABLE,
            "asyncio_needed",
            "PostgresStore runs on asyncio alone: start the application with "
            "`anyio.run(main, backend='asyncio')`, or use another store",
        ) from error


async def _prepare(database: Database, *, create_tables: bool) -> None:
    await database.execute("SELECT pg_advisory_xact_lock($1)", _OPENING_LOCK)
    if await database.fetchval("SELECT to_regclass('agentslot.format') IS NULL"):
        if not create_tables:
            raise ClassifiedError(
                ErrorKind.NOT_FOUND,
                "tables_not_found",
                "there are no tables of sessions in this database: either it is the wrong one, or "
                "no application has opened its store there yet",
            )
        # Somebody may have made the schema for a user who may make tables in it and no schemas.
        if await database.fetchval("SELECT to_regnamespace('agentslot') IS NULL"):
            await database.execute("CREATE SCHEMA agentslot")
        await database.execute(TABLES)
    version = await database.fetchval("SELECT version FROM agentslot.format")
    if version != VERSION:
        raise ClassifiedError(
            ErrorKind.UNAVAILABLE,
            "other_version",
            f"the tables of sessions in this database are of version {version}, and this release "
            f"reads version {VERSION}: use the release that made them, or another database",
        )


async def _conflict(database: Database, request: CommitRequest) -> ClassifiedError:
    revision = await select_revision(database, request.session_id)
    if revision is None:
        return session_not_found(request.session_id)
    return RevisionConflictError(request.expected_revision, revision)
