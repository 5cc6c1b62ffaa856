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
        once_after: with a number, only the bytes behind so many others of that direction are lost,
            and then no more.
    """

    def __init__(self, socket_path: str, dsn: str) -> None:
        self.dsn = dsn
        self.loses: str | None = None
        self.once_after: int | None = None
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

    def _is_due(self) -> bool:
        """Whether these bytes are to be lost."""
        if self.once_after is None:
            return True
        self.once_after -= 1
        if self.once_after >= 0:
            return False
        self.loses = self.once_after = None
        return True
