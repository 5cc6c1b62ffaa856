"""A disk behind a cache, as systems have it: what is not flushed is gone when the power is.

A flush that fails forgets what it should have written: the cache goes on showing it, takes it for
written, and the next flush does nothing about it.
"""

import errno
import os
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from agentslot.session import FileOperations

Write = Callable[[bytearray], None]


class ForgetfulDisk(FileOperations):
    """Remembers what would be left of each file; `failing` names the operations that fail."""

    def __init__(self) -> None:
        self.failing: set[str] = set()
        self._paths: dict[int, Path] = {}
        self._durable = defaultdict[Path, bytearray](bytearray)
        self._cached = defaultdict[Path, list[Write]](list)

    def cut_the_power(self) -> None:
        """Leave of each file what has reached the disk."""
        for path, content in self._durable.items():
            path.write_bytes(content)

    def _may_fail(self, name: str) -> None:
        if name in self.failing:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    def open(self, path: Path) -> int:
        descriptor = super().open(path)
        self._paths[descriptor] = path
        return descriptor

    def create(self, path: Path) -> int:
        descriptor = super().create(path)
        self._paths[descriptor] = path
        return descriptor

    def write(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        written = super().write(descriptor, data, offset)
        taken = bytes(data[:written])

        def apply(content: bytearray) -> None:
            content.extend(bytes(max(offset + written - len(content), 0)))
            content[offset : offset + written] = taken

        self._cached[self._paths[descriptor]].append(apply)
        return written

    def truncate(self, descriptor: int, size: int) -> None:
        self._may_fail("truncate")
        super().truncate(descriptor, size)

        def apply(content: bytearray) -> None:
            del content[size:]

        self._cached[self._paths[descriptor]].append(apply)

    def flush(self, descriptor: int) -> None:
        path = self._paths[descriptor]
        writes = self._cached.pop(path, [])
        self._may_fail("flush")
        for write in writes:
            write(self._durable[path])

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        self._durable[target] = self._durable.pop(source)
