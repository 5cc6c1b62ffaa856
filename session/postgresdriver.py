"""What we use of asyncpg, with its types and in the store's words when it fails."""

from collections.abc import Generator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

import asyncpg  # type: ignore[import-untyped]  # it has none

from agentslot.session.errors import ClassifiedError, ErrorKind, SessionDamagedError
from agentslot.session.medium import UncertainError

_driver: Any = asyncpg  # the one place where its types are missed

_COMMAND_SECONDS = 60

DuplicateKeyError: type[Exception] = asyncpg.UniqueViolationError

# There is no server, or no longer one.
_LOST = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.OperatorInterventionError,
    asyncpg.TooManyConnectionsError,
)


# The server answers, and what it keeps is not what we have written.
_DAMAGED = (
    asyncpg.DataCorruptedError,
    asyncpg.IndexCorruptedError,
    asyncpg.UndefinedTableError,
    asyncpg.UndefinedColumnError,
)

PLACE = Path("PostgreSQL")
"""What stands for a file in errors."""


class Database(Protocol):
    """A connection."""

    async def execute(self, sql: str, *parameters: object) -> object:
        """Do something."""
        ...

    async def fetch(self, sql: str, *parameters: object) -> Sequence[tuple[Any, ...]]:
        """All rows of an answer, which unpack like tuples."""
        ...

    async def fetchval(self, sql: str, *parameters: object) -> Any:  # what the column holds
        """The first value of the first row; None if there is none."""
        ...

    def transaction(
        self, *, isolation: str | None = None, readonly: bool = False
    ) -> AbstractAsyncContextManager[object]:
        """All of the block or nothing."""
        ...


class Pool(Protocol):
    """Connections to one database."""

    def acquire(self) -> AbstractAsyncContextManager[Database]:
        """Lend a connection to a block."""
        ...

    async def close(self) -> None:
        """Close all connections when they have been given back."""
        ...


async def connect(dsn: str, max_connections: int) -> Pool:
    """Connect to a database; raises what `reading` translates."""
    pool: Pool = await _driver.create_pool(
        dsn, min_size=1, max_size=max_connections, command_timeout=_COMMAND_SECONDS, reset=_keep
    )
    return pool


async def _keep(_: object) -> None:
    """Take a connection back as it is, since nobody changes its settings: saves a round trip."""


@contextmanager
def reading() -> Generator[None]:
    """Say in the store's words what went wrong while nothing was written."""
    try:
        yield
    except _DAMAGED as error:
        raise SessionDamagedError(PLACE, str(error)) from error
    except (*_LOST, asyncpg.PostgresError) as error:
        raise ClassifiedError(
            ErrorKind.UNAVAILABLE, "unreadable", f"the database could not be asked: {error}"
        ) from error


@contextmanager
def writing() -> Generator[None]:
    """Say in the store's words what went wrong, and whether anybody knows what was written."""
    try:
        yield
    except _LOST as error:
        raise UncertainError(
            ErrorKind.UNAVAILABLE,
            "not_durable",
            f"the connection to the database broke: {error}. Send the same commit again to find "
            "out whether it was saved",
        ) from error
    except _DAMAGED as error:
        raise SessionDamagedError(PLACE, str(error)) from error
    except asyncpg.DataError as error:
        raise ClassifiedError(
            ErrorKind.INVALID_INPUT,
            "text_not_storable",
            f"the database cannot keep it: {error}. Nothing was saved",
        ) from error
    except asyncpg.PostgresError as error:
        raise ClassifiedError(
            ErrorKind.UNAVAILABLE,
            "not_durable",
            f"the database did not save it: {error}. Nothing was saved; try again when it can",
        ) from error
