"""One process at a time owns a directory of Sessions."""

import json
import os
import socket
from pathlib import Path

from agentslot.session.clock import utc_now
from agentslot.session.errors import ClassifiedError, ErrorKind


class DirectoryLock:
    """A lock that the system gives back when its holder dies, however it dies."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / ".lock"
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock and say in its file who has it.

        Raises:
            ClassifiedError: `unavailable/directory_in_use`, with the holder's name.
        """
        import fcntl  # not there on Windows, where only this function would need it

        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            name = _describe(os.read(descriptor, 4096))
            os.close(descriptor)
            raise ClassifiedError(
                ErrorKind.UNAVAILABLE,
                "directory_in_use",
                f"{self._path.parent} is in use by {name}: stop it, or use another directory",
            ) from error
        holder = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": utc_now().isoformat(timespec="seconds"),
        }
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(holder).encode(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        """Give the lock back; the file stays, since removing it would race with the next holder."""
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None


def _describe(content: bytes) -> str:
    try:
        holder = json.loads(content)
        return f"process {holder['pid']} on {holder['host']} since {holder['since']}"
    except (ValueError, KeyError, TypeError):  # it has the lock and has not written its name yet
        return "another process"
