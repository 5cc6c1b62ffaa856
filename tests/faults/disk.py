"""A disk that fails one write of a Session file, each time in another way."""

import errno
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path

from agentslot.session import FileOperations

ALWAYS = 1000


class Leaves(Enum):
    """What a fault makes of the commit that it hits."""

    IT_DONE = auto()
    """It is acknowledged; nobody notices."""
    NOTHING = auto()
    """It is refused, and the file is as it was."""
    DOUBT = auto()
    """It is refused, and only the file tells whether it is there."""


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one write.

    Attributes:
        failing: how often each operation fails.
        leaves: what becomes of a commit that is appended.
        chunk: most bytes that one write takes.
        bytes_first: bytes that are written before a write fails.
        takes_nothing: a write does not fail, it takes no bytes.
    """

    name: str
    failing: Mapping[str, int]
    leaves: Leaves = Leaves.NOTHING
    code: int = errno.EIO
    chunk: int = 1 << 30
    bytes_first: int = 0
    takes_nothing: bool = False


APPENDING = (
    Fault("short writes", {}, Leaves.IT_DONE, chunk=7),
    Fault("open", {"open": 1}, code=errno.EMFILE),
    Fault("write", {"write": 1}),
    Fault("write cut short", {"write": 1}, bytes_first=20),
    Fault("write that takes nothing", {"write": 1}, takes_nothing=True),
    Fault("disk full", {"write": ALWAYS}, code=errno.ENOSPC, bytes_first=20),
    Fault("file too large", {"write": ALWAYS}, code=errno.EFBIG),
    Fault("flush", {"flush": 1}),
    Fault("close", {"close": 1}, Leaves.IT_DONE),
    Fault("flush and its taking back", {"flush": 2}, Leaves.DOUBT),
    Fault("flush and truncate", {"flush": 1, "truncate": 1}, Leaves.DOUBT),
    Fault("write and truncate", {"write": 1, "truncate": 1}, Leaves.DOUBT, bytes_first=20),
)

CREATING = (
    Fault("short writes", {}, Leaves.IT_DONE, chunk=7),
    Fault("create", {"create": 1}, code=errno.EACCES),
    Fault("write", {"write": 1}),
    Fault("disk full", {"write": ALWAYS}, code=errno.ENOSPC, bytes_first=20),
    Fault("flush", {"flush": 1}),
    Fault("close", {"close": 1}),
    Fault("rename", {"rename": 1}),
    Fault("directory", {"flush_directory": 1}, Leaves.DOUBT),
)


@dataclass
class FailingOperations(FileOperations):
    """Fails write number `at` (counted from 0 over creations and appends) as the fault says.

    Attributes:
        writes: how many were begun.
    """

    fault: Fault
    at: int
    writes: int = 0
    _failed: Counter[str] = field(default_factory=Counter[str])
    _left: int = 0

    @property
    def hit(self) -> bool:
        """Whether the write that fails has begun."""
        return self.writes > self.at

    def spare_what_follows(self) -> None:
        """Fail nothing any more that has not begun."""
        if not self.hit:
            self.at = 1 << 30

    @property
    def _now(self) -> bool:
        return self.writes == self.at + 1

    def _begin(self) -> None:
        self.writes += 1
        self._left = self.fault.bytes_first

    def _may_fail(self, name: str) -> None:
        if self._now and self._failed[name] < self.fault.failing.get(name, 0):
            self._failed[name] += 1
            raise OSError(self.fault.code, os.strerror(self.fault.code))

    def open(self, path: Path) -> int:
        self._begin()
        self._may_fail("open")
        return super().open(path)

    def create(self, path: Path) -> int:
        self._begin()
        self._may_fail("create")
        return super().create(path)

    def write(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        if not self._now:
            return super().write(descriptor, data, offset)
        if self._left and "write" in self.fault.failing:
            data, self._left = data[: self._left], 0
        elif self.fault.takes_nothing:
            return 0
        else:
            self._may_fail("write")
        return super().write(descriptor, data[: self.fault.chunk], offset)

    def flush(self, descriptor: int) -> None:
        self._may_fail("flush")  # otherwise it is left to the system

    def truncate(self, descriptor: int, size: int) -> None:
        self._may_fail("truncate")
        super().truncate(descriptor, size)

    def close(self, descriptor: int) -> None:
        super().close(descriptor)
        self._may_fail("close")

    def rename(self, source: Path, target: Path) -> None:
        self._may_fail("rename")
        super().rename(source, target)

    def flush_directory(self, directory: Path) -> None:
        self._may_fail("flush_directory")
