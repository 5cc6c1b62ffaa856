"""All output of a command, beyond what is kept in memory: in a file, up to a cap."""

import logging
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.lowlevel
import anyio.to_thread

from agentslot.tool.process.output import DEFAULT_CAPACITY

_logger = logging.getLogger("agentslot.tool")

MAX_SPILL_BYTES = 64 * 1024 * 1024
"""Bytes of one command's output that are kept on the disk; what follows is only counted."""


class Spill:
    """Output that can be read from any byte on, while it is written and afterwards.

    The first bytes stay in memory; a file is made only for more than that. A file that cannot be
    written keeps no command from running: what it misses is counted alone.

    Attributes:
        total: bytes written so far.
        path: the file; None while everything fits into memory.
        grew: set when more has come; then replaced by a new event.
    """

    def __init__(self, folder: Callable[[], Path], *, max_bytes: int = MAX_SPILL_BYTES) -> None:
        """Set up; `folder` is asked in a worker thread when a file is needed."""
        self.total = 0
        self.path: Path | None = None
        self.grew = anyio.Event()
        self._folder = folder
        self._max_bytes = max_bytes
        self._memory = bytearray()
        self._descriptor: int | None = None

    async def write(self, chunk: bytes) -> None:
        """Take the next bytes."""
        room = self._max_bytes - self.total
        self.total += len(chunk)
        if self.path is None and self.total <= DEFAULT_CAPACITY:
            self._memory += chunk
        elif room > 0:
            # Not cut short by a cancellation: the count and the file must agree.
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._keep, chunk[:room])
        self.grew.set()
        self.grew = anyio.Event()

    async def read(self, start: int, most: int) -> bytes:
        """At most so many bytes from `start` on; empty beyond what is kept."""
        await anyio.lowlevel.checkpoint()  # a loop of reads must let the command go on
        if self.path is None:
            return bytes(self._memory[start : start + most])
        return await anyio.to_thread.run_sync(_read, self.path, start, most)

    def close(self) -> None:
        """Say that no more comes; what there is can still be read."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def remove(self) -> None:
        """Delete the file."""
        self.close()
        if self.path is not None:
            with suppress(FileNotFoundError):
                self.path.unlink()

    def _keep(self, chunk: bytes) -> None:
        """Write to the file; from the first failure on, such as a full disk, no more is kept."""
        try:
            self._append(chunk)
        except OSError as error:
            self._max_bytes = 0
            _logger.warning("the output of a command is kept no further: %s", error)

    def _append(self, chunk: bytes) -> None:
        if self.path is None:
            self._descriptor, name = tempfile.mkstemp(".log", "output-", self._folder())
            self.path = Path(name)
            chunk = bytes(self._memory) + chunk
            self._memory.clear()
        while chunk and self._descriptor is not None:
            chunk = chunk[os.write(self._descriptor, chunk) :]


def _read(path: Path, start: int, most: int) -> bytes:
    with path.open("rb") as file:
        file.seek(start)
        return file.read(most)
