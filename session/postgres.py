"""Sessions in a PostgreSQL database that several processes may share; by extra `postgres`."""

from agentslot._extras import MissingExtra
from agentslot.session.beginning import Beginning
from agentslot.session.clock import Clock, utc_now
from agentslot.session.durable import DurableStore
from agentslot.session.errors import ClassifiedError, ErrorKind
from agentslot.session.identity import SessionId
from agentslot.session.medium import Stored
from agentslot.session.storemodule import DurableStoreModule


class PostgresStore(DurableStore[Stored]):
    """A SessionStore in a PostgreSQL database, for asyncio.

    ```python
    async with PostgresStore("postgresql://user@host/database") as store:
        state = await store.create(new)
    ```

    Several processes may have it open. Who commits on a revision that is not the newest one, also
    by a moment, gets a `RevisionConflictError`; a commit whose connection broke is `unavailable`,
    and sending it again, from any process, finds out what became of it.
    `agentslot.session.postgresschema` describes the tables, which are made when the store is opened
    for the first time, in a schema of their own.

    Args:
        dsn: where the database is and who asks, as libpq takes it. It is not written anywhere.
        clock: where commits take their time from; readings are made to grow.
        max_connections: how many Sessions may be written or read at once.
        create_tables: make the tables if there are none; otherwise opening the store is then
            `not_found/tables_not_found`.

    Raises:
        MissingExtra: `asyncpg` is not installed.
        ClassifiedError: `invalid_input/invalid_dsn`: the DSN is no text;
            `invalid_input/invalid_max_connections`: there would be none.
    """

    def __init__(
        self,
        dsn: str,
        *,
        clock: Clock = utc_now,
        max_connections: int = 8,
        create_tables: bool = True,
    ) -> None:
        try:
            # Only here, so that importing agentslot needs no more than its own dependencies.
            from agentslot.session.postgresmedium import PostgresMedium
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] != "asyncpg":
                raise
            raise MissingExtra("PostgresStore", "postgres") from error
        if not isinstance(dsn, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # code without types
            raise ClassifiedError(
                ErrorKind.INVALID_INPUT,
                "invalid_dsn",
                "PostgresStore takes a DSN such as postgresql://user@host/database, not a"
                f" {type(dsn).__name__}. To judge it with `agentslot conformance`, name a function"
                " that makes a new database for the folder it is given, and returns the store",
            )
        if max_connections < 1:
            raise ClassifiedError(
                ErrorKind.INVALID_INPUT,
                "invalid_max_connections",
                f"PostgresStore needs at least 1 connection, not {max_connections}",
            )
        medium = PostgresMedium(dsn, max_connections, create_tables=create_tables)
        self._examine = medium.examine
        super().__init__(medium, clock=clock)

    async def examine(self, session_id: SessionId) -> Beginning:
        """Look at every fact of a Session, to find out what is intact of one that is damaged.

        Raises:
            ClassifiedError: `not_found/session_not_found`, `unavailable/…`.
            SessionDamagedError: not even the row of the Session can be read.
        """
        return await self._examine(session_id)


class PostgresStoreModule(DurableStoreModule[PostgresStore]):
    """Keeps Sessions in a PostgreSQL database, which several applications may share.

    Args:
        dsn: where the database is and who asks, such as `postgresql://user@host/database`.
        max_connections: how many Sessions may be written or read at once.

    Raises:
        MissingExtra: `asyncpg` is not installed.
    """

    id = "session.postgres"

    def __init__(self, dsn: str, *, max_connections: int = 8) -> None:
        super().__init__(PostgresStore(dsn, max_connections=max_connections))
