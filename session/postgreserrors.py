"""What goes wrong with a PostgreSQL server, in the store's words and with what to do about it."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import asyncpg  # type: ignore[import-untyped]  # it has none

from agentslot.session.errors import ClassifiedError, ErrorKind, SessionDamagedError
from agentslot.session.medium import UncertainError

PLACE = Path("PostgreSQL")
"""What stands for a file in errors."""

COMMAND_SECONDS = 60
"""How long the server may take for one answer."""

DuplicateKeyError: type[Exception] = asyncpg.UniqueViolationError

# There is no server, or no longer one. The driver calls it an internal error of its own when the
# server ends a connection in the moment in which it is used.
LOST = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.OperatorInterventionError,
)

# The server answers, and what it keeps is not what we have written.
_DAMAGED = (
    asyncpg.DataCorruptedError,
    asyncpg.IndexCorruptedError,
    asyncpg.UndefinedTableError,
    asyncpg.UndefinedColumnError,
)

# By SQLSTATE, or by its first two characters, which are its class.
_ADVICE = {
    "25006": "it can only be read, as a standby can: give the address of the primary",
    "28": "give another user or password, in the DSN, in PGUSER and PGPASSWORD, or in ~/.pgpass",
    "3D000": "give the name of another database, or make this one with `createdb`",
    "40": "another transaction came first: try again",
    "42501": "let the owner of the schema `agentslot` grant this user what it needs",
    "53100": "make room on the disk of the server, then try again",
    "53300": "raise `max_connections` of the server, or lower that of its stores",
    "55P03": "somebody else holds the rows: try again, or raise `lock_timeout`",
    "57014": "try again, or raise `statement_timeout`",
    "57P": "try again when it runs",
}


class UnreachedError(Exception):
    """There was no connection to be had, so nothing was asked; the cause says why."""


@contextmanager
def reaching(max_connections: int) -> Generator[None]:
    """Tell that a connection could not be had from what goes wrong with one.

    Raises:
        UnreachedError: it could not be had.
        ClassifiedError: `invalid_input/invalid_dsn`.
    """
    try:
        yield
    except ValueError as error:
        # The driver's own words may be told. Others quote what could not be read, which may be a
        # part of the password, so there is no cause either.
        known = f": {error}" if isinstance(error, asyncpg.InterfaceError) else ""
        raise ClassifiedError(
            ErrorKind.INVALID_INPUT,
            "invalid_dsn",
            f"the database cannot be reached with this DSN{known}. Write "
            "postgresql://user@host:port/database, and a password as user:password, or better "
            "in PGPASSWORD; @, / and : in either are %40, %2F and %3A",
        ) from None
    except TimeoutError as error:
        raise UnreachedError(
            f"no connection within {COMMAND_SECONDS} seconds: the server does not answer, or all"
            f" {max_connections} connections of this store are busy"
        ) from error
    except OSError as error:
        raise UnreachedError(
            f"{error}; see whether the server runs and the DSN names it"
        ) from error
    except (*LOST, asyncpg.PostgresError) as error:
        raise UnreachedError(_said(error)) from error


@contextmanager
def reading() -> Generator[None]:
    """Say in the store's words what went wrong while nothing was written."""
    try:
        yield
    except _DAMAGED as error:
        raise SessionDamagedError(PLACE, str(error)) from error
    except (*LOST, asyncpg.PostgresError, UnreachedError) as error:
        raise ClassifiedError(
            ErrorKind.UNAVAILABLE, "unreadable", f"the database could not be asked: {_said(error)}"
        ) from error


@contextmanager
def writing() -> Generator[None]:
    """Say in the store's words what went wrong, and whether anybody knows what was written."""
    try:
        yield
    except (UnreachedError, asyncpg.QueryCanceledError) as error:
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
        f"the database did not save it: {_said(error)}. Nothing was saved",
    )


def _said(error: Exception) -> str:
    """What the error says, with what to do about it."""
    if isinstance(error, TimeoutError) and not str(error):
        return f"it did not answer within {COMMAND_SECONDS} seconds"
    state = getattr(error, "sqlstate", None) or ""  # errors of the network have none
    advice = next((advice for start, advice in _ADVICE.items() if state.startswith(start)), None)
    return f"{error}; {advice}" if state and advice else str(error)
