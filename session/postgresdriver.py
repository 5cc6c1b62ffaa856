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

# There is no server, or no longer one. The driver calls it an internal error of its own when the
# server ends a connection in the moment in which it is used.
LOST = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
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


class Transaction(AbstractAsyncContextManager[object], Protocol):
    """All or nothing: as a context manager, or step by step."""

    async def start(self) -> None:
        """Begin."""
        ...

    async def rollback(self) -> None:
        """End it and take everything back."""
        ...


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

    def transaction(self, *, isolation: str | None = None, readonly: bool = False) -> "Transaction":
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
    """Connect to a database; raises what `reading` translates.

    Raises:
        ClassifiedError: `invalid_input/invalid_dsn`.
    """
    pool: Pool
    try:
        pool = await _driver.create_pool(
            dsn, min_size=1, max_size=max_connections, command_timeout=_COMMAND_SECONDS, reset=_keep
        )
    except ValueError as error:
        # The driver's own words may be told. Others quote what could not be read, which may be a
        # part of the password, so there is no cause either.
        is_safe = isinstance(error, asyncpg.InterfaceError)
        raise ClassifiedError(
            ErrorKind.INVALID_INPUT,
            "invalid_dsn",
            f"the database cannot be reached with this DSN{f': {error}' if is_safe else ''}. Write "
            "postgresql://user:password@host:port/database, with %40, %2F and %3A for @, / and : "
            "in a user or a password",
        ) from None
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
    except (*LOST, asyncpg.PostgresError) as error:
        raise ClassifiedError(
            ErrorKind.UNAVAILABLE, "unreadable", f"the database could not be asked: {_said(error)}"
        ) from error


@contextmanager
def writing() -> Generator[None]:
    """Say in the store's words what went wrong, and whether anybody knows what was written."""
    try:
        yield
    except asyncpg.QueryCanceledError as error:  # the server's own time limit, or its operator
        raise _not_saved(error) from error
    except LOST as error:
        raise UncertainError(
            ErrorKind.UNAVAILABLE,
            "not_durable",
            f"the connection to the database broke: {_said(error)}. Send the same commit again to "
            "find out whether it was saved",
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
        raise _not_saved(error) from error


def _not_saved(error: Exception) -> ClassifiedError:
    return ClassifiedError(
        ErrorKind.UNAVAILABLE,
        "not_durable",
        f"the database did not save it: {error}. Nothing was saved; try again when it can",
    )


def _said(error: Exception) -> str:
    if isinstance(error, TimeoutError) and not str(error):
        return f"it did not answer within {_COMMAND_SECONDS} seconds"
    return str(error)
