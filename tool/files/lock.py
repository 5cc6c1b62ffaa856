"""One writer at a time for each file."""

import threading
from collections.abc import Generator
from contextlib import contextmanager


class PathLocks:
    """A lock for each path in use; a path that nobody holds or awaits takes no memory.

    The locks are those of threads, since file work runs in worker threads: the same table serves
    every event loop of the process.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held: dict[str, tuple[threading.Lock, int]] = {}

    def __len__(self) -> int:
        """How many paths are held or awaited now."""
        return len(self._held)

    @contextmanager
    def hold(self, path: str) -> Generator[None]:
        """Wait until nobody else holds `path`, and hold it."""
        with self._guard:
            lock, users = self._held.get(path, (threading.Lock(), 0))
            self._held[path] = (lock, users + 1)
        try:
            with lock:
                yield
        finally:
            with self._guard:
                lock, users = self._held.pop(path)
                if users > 1:
                    self._held[path] = (lock, users - 1)
