"""A log of everything observed: one JSON object a line, appended to a file."""

import logging
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Literal

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from pydantic import TypeAdapter

from agentslot import Module
from agentslot.session import ClassifiedError, ErrorKind
from agentslot.standardagent.observe.contract import (
    AUDIT_SINKS,
    METRIC_SINKS,
    TRACE_SINKS,
    USAGE_RECORDERS,
)
from agentslot.standardagent.observe.records import (
    AuditRecord,
    MetricRecord,
    Record,
    TraceRecord,
    UsageRecord,
)

log = logging.getLogger(__name__)

_WAITING_LINES = 1024


@dataclass(frozen=True, slots=True)
class JsonLine:
    """One line of the file."""

    type: Literal["trace", "metric", "audit", "usage"]
    record: Record


class JsonLinesSink:
    """Takes all four kinds of records and writes them in a thread, as many at once as wait."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._encode = TypeAdapter(JsonLine).dump_json
        self._waiting: MemoryObjectSendStream[bytes] | None = None
        self._failed = False

    async def record_trace(self, record: TraceRecord) -> None:
        """Write a trace record."""
        await self._put(JsonLine("trace", record))

    async def record_metric(self, record: MetricRecord) -> None:
        """Write a measurement."""
        await self._put(JsonLine("metric", record))

    async def record_audit(self, record: AuditRecord) -> None:
        """Write a decision."""
        await self._put(JsonLine("audit", record))

    async def record_usage(self, record: UsageRecord) -> None:
        """Write the tokens of an attempt."""
        await self._put(JsonLine("usage", record))

    async def _put(self, line: JsonLine) -> None:
        if self._waiting is not None:
            await self._waiting.send(self._encode(line, exclude_none=True) + b"\n")

    @asynccontextmanager
    async def writing(self) -> AsyncGenerator[None]:
        """Keep the file open while the body runs; at the end everything taken in is written.

        Raises:
            ClassifiedError: `unavailable/file_not_writable`.
        """
        try:
            file = await anyio.to_thread.run_sync(_LineFile, self._path)
        except (OSError, ValueError) as error:  # ValueError: no file can have that name
            raise ClassifiedError(
                ErrorKind.UNAVAILABLE,
                "file_not_writable",
                f"observations cannot be written to {str(self._path)!r}: {error}. Give the sink"
                " another file, or repair access to this one",
            ) from error
        try:
            async with anyio.create_task_group() as tasks:
                self._waiting, lines = anyio.create_memory_object_stream[bytes](_WAITING_LINES)
                tasks.start_soon(self._write, file, lines, name="json lines")
                try:
                    yield
                finally:
                    self._waiting.close()
                    self._waiting = None
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(file.close)

    async def _write(self, file: "_LineFile", lines: MemoryObjectReceiveStream[bytes]) -> None:
        with anyio.CancelScope(shield=True), lines:
            async for line in lines:
                waiting = lines.statistics().current_buffer_used
                ready = [line, *(lines.receive_nowait() for _ in range(waiting))]
                try:
                    await anyio.to_thread.run_sync(file.append, b"".join(ready))
                except OSError:
                    if not self._failed:
                        self._failed = True
                        log.exception("observations cannot be written to %s", self._path)


class _LineFile:
    """A file to append lines to; one that was cut short spoils no other."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Without a buffer, nothing is left over that closing could fail to write.
        self._file = FileIO(path, "ab")
        self._is_torn = _ends_in_the_middle(path)

    def append(self, data: bytes) -> None:
        """Append whole lines."""
        rest = memoryview(b"\n" + data if self._is_torn else data)
        while rest:
            written = self._file.write(rest)
            self._is_torn = rest[written - 1] != ord("\n")
            rest = rest[written:]

    def close(self) -> None:
        """Give the file back."""
        self._file.close()


def _ends_in_the_middle(path: Path) -> bool:
    """Whether a process that died, or a full disk, has left a line without its end."""
    if not path.is_file() or not path.stat().st_size:
        return False
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() != b"\n"


class JsonLinesSinkModule(Module):
    """Append traces, metrics, decisions and usage to a file, one JSON object a line.

    A line is `{"type": "trace" | "metric" | "audit" | "usage", "record": {…}}`. Attributes that are
    None are left out.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, module_id: str = "observe.json-lines"
    ) -> None:
        """Declare the sink; the file and its folder are made when the application starts."""
        self._sink = JsonLinesSink(Path(path).absolute())
        super().__init__(
            module_id,
            TRACE_SINKS.append(self._sink),
            METRIC_SINKS.append(self._sink),
            AUDIT_SINKS.append(self._sink),
            USAGE_RECORDERS.append(self._sink),
        )

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Keep the file open."""
        async with self._sink.writing():
            yield
