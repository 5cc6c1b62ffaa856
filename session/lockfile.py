"""One process at a time owns a place where Sessions lie."""

import json
import os
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from agentslot.session.clock import utc_now
from agentslot.session.errors import ClassifiedError, ErrorKind


@contextmanager
def opening(place: Path) -> Generator[None]:
    """Say in the store's words why the system does not let a place be opened for writing."""
    try:
        yield
    except OSError as error:
        reason = "it is no folder" if isinstance(error, FileExistsError) else error.strerror
        culprit = "" if error.filename in (None, str(place)) else f", {error.filename}"
        raise ClassifiedError(
            ErrorKind.UNAVAILABLE,
            "not_writable",
            f"{place} cannot be opened for writing{culprit}: {reason}. Repair "
            "that, or use another place",
        ) from error


class LockFile:
    """A lock that the system gives back when its holder dies, however it dies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self, place: Path) -> None:
        """Take the lock of `place` and say in its file who has it.

        Raises:
            ClassifiedError: `unavailable/sessions_in_use`, with the holder's name.
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
                "sessions_in_use",
                f"{str(place)!r} is in use by {name}: stop it, or use another place",
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
