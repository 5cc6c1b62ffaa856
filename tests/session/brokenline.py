"""A way to a PostgreSQL server that can lose what goes over it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

import anyio
from anyio.abc import ByteStream, SocketAttribute, TaskGroup


@asynccontextmanager
async def broken_line(dsn: str) -> AsyncGenerator["BrokenLine"]:
    """A line to the server behind `dsn`, whose socket lies in the file system."""
    address = urlsplit(dsn)
    folder = parse_qs(address.query)["host"][0]
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(SocketAttribute.local_port)
    line = BrokenLine(
        f"{folder}/.s.PGSQL.5432", f"postgresql://postgres@127.0.0.1:{port}{address.path}"
    )
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, line.carry)
        yield line
        tasks.cancel_scope.cancel()


class BrokenLine:
    """Carries bytes both ways until it is told to lose some.

    Attributes:
        dsn: how to reach the server over this line.
        loses: `question` breaks the line before the next bytes reach the server, `answer` before
            the next bytes come back from it.
    """

    def __init__(self, socket_path: str, dsn: str) -> None:
        self.dsn = dsn
        self.loses: str | None = None
        self._once_after: int | None = None
        self._socket_path = socket_path

    async def carry(self, client: ByteStream) -> None:
        async with (
            client,
            await anyio.connect_unix(self._socket_path) as server,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(self._pump, client, server, "question", tasks)
            tasks.start_soon(self._pump, server, client, "answer", tasks)

    async def _pump(
        self, source: ByteStream, target: ByteStream, what: str, tasks: TaskGroup
    ) -> None:
        try:
            async for data in source:
                if self.loses == what and self._is_due():
                    break
                await target.send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass
        tasks.cancel_scope.cancel()

    def lose_once(self, what: str, after: int) -> None:
        """Lose what comes behind so much else that way, and then no more."""
        self.loses, self._once_after = what, after

    def heal(self) -> bool:
        """Lose nothing any more; whether what was to be lost once has been."""
        healed, self.loses, self._once_after = self.loses is None, None, None
        return healed

    def _is_due(self) -> bool:
        """Whether these bytes are to be lost."""
        if self._once_after is None:
            return True
        self._once_after -= 1
        if self._once_after >= 0:
            return False
        self.heal()
        return True
