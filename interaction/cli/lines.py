"""Lines that a person types, or that a pipe or a file holds."""

import os
import sys

import anyio

from agentslot.interaction.errors import LineTooLong

_READ_BYTES = 65536


class DescriptorLines:
    """The lines of a file descriptor, as an asynchronous iterator.

    Where the system can say that there is something to read, as it can for terminals and pipes, a
    wait is cancelled cleanly. Files are always ready. Elsewhere (consoles of Windows) the wait
    takes place in a worker thread; one that is cancelled is abandoned and eats what is typed next.

    Args:
        descriptor: open for reading; it stays open.
        max_line_bytes: a longer line is dropped whole, and LineTooLong raised in its place; the
            next one can be read.
    """

    def __init__(self, descriptor: int = 0, *, max_line_bytes: int = 1 << 20) -> None:
        self._descriptor = descriptor
        self._max_line_bytes = max_line_bytes
        self._pending = bytearray()
        self._at_end = False
        self._can_wait = sys.platform != "win32"

    @property
    def interactive(self) -> bool:
        """Whether a person sits at a terminal there."""
        return os.isatty(self._descriptor)

    def discard_typed_ahead(self) -> None:
        """Forget what was typed before now, so that it does not answer a question asked now."""
        self._pending.clear()
        if self.interactive and sys.platform != "win32":
            import termios  # not on every system

            termios.tcflush(self._descriptor, termios.TCIFLUSH)

    def __aiter__(self) -> "DescriptorLines":
        return self

    async def __anext__(self) -> str:
        too_long = False
        searched = 0
        while (end := self._pending.find(b"\n", searched)) < 0:
            if len(self._pending) > self._max_line_bytes:
                too_long = True
                self._pending.clear()
            searched = len(self._pending)
            if self._at_end:
                end = searched
                break
            self._take(await self._read())
        if self._at_end and not self._pending and not too_long:
            raise StopAsyncIteration
        line = bytes(self._pending[:end])
        del self._pending[: end + 1]
        if too_long or len(line) > self._max_line_bytes:
            raise LineTooLong(self._max_line_bytes)
        return line.removesuffix(b"\r").decode(errors="replace")

    def _take(self, data: bytes) -> None:
        self._pending += data
        self._at_end = not data

    async def _read(self) -> bytes:
        if self._can_wait:
            try:
                await anyio.wait_readable(self._descriptor)
            except OSError:
                self._can_wait = False
        return await anyio.to_thread.run_sync(
            os.read, self._descriptor, _READ_BYTES, abandon_on_cancel=not self._can_wait
        )
