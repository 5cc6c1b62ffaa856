"""What we use of asyncpg, with its types."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    nullcontext,
)
from typing import Any, Protocol
from urllib.parse import urlsplit

import anyio
import asyncpg  # type: ignore[import-untyped]  # it has none

from agentslot.session.postgreserrors import COMMAND_SECONDS, reaching

_driver: Any = asyncpg  # the one place where its types are missed

# A commit is on the disk when it is acknowledged, and of two at once the later sees the earlier.
_SETTINGS = """
SELECT set_config('default_transaction_isolation', 'read committed', false),
    set_config('synchronous_commit', CASE now WHEN 'off' THEN 'local' ELSE now END, false)
FROM current_setting('synchronous_commit') AS now
"""


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

    def get_idle_size(self) -> int:
        """How many connections wait to be lent."""
        ...

    async def close(self) -> None:
        """Close all connections when they have been given back."""
        ...


class Connections:
    """Connections to one database, made when they are needed, also again."""

    def __init__(self, pool: Pool, most: int) -> None:
        self._pool = pool
        self._most = most

    @asynccontextmanager
    async def lend(self) -> AsyncGenerator[Database]:
        """Lend a connection to a block; raises what `reading` and `writing` translate."""
        lent = self._pool.acquire()
        with reaching(self._most), self._patience():
            database = await lent.__aenter__()
        try:
            yield database
        finally:
            await lent.__aexit__(None, None, None)

    def _patience(self) -> AbstractContextManager[object]:
        """How long is waited for a connection; where none is waited for, a timer would cost."""
        idle = self._pool.get_idle_size()
        return nullcontext() if idle else anyio.fail_after(COMMAND_SECONDS)

    async def close(self) -> None:
        """Close all connections when they have been given back."""
        await self._pool.close()


async def connect(dsn: str, max_connections: int) -> Connections:
    """Get ready to connect to a database.

    Raises:
        ClassifiedError: `invalid_input/invalid_dsn`, perhaps only when a connection is lent.
    """
    with reaching(max_connections):
        _refuse_unescaped(dsn)
        pool: Pool = await _driver.create_pool(
            dsn,
            min_size=0,  # or it goes on connecting by itself, and complaining on the terminal
            max_size=max_connections,
            command_timeout=COMMAND_SECONDS,
            init=_set_up,
            reset=_keep,
        )
    return Connections(pool, max_connections)


def _refuse_unescaped(dsn: str) -> None:
    """Refuse what would take a part of a password for the name of a database, and tell it."""
    if "@" in urlsplit(dsn).path:
        raise ValueError


async def _set_up(database: Database) -> None:
    """Set what a commit means, whatever database or user have been given for others."""
    await database.execute(_SETTINGS)


async def _keep(_: object) -> None:
    """Take a connection back as it is, since nobody changes its settings: saves a round trip."""
