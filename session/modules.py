"""Stores as modules of an application."""

from pathlib import Path

from agentslot import Module, Registrar
from agentslot.session.file import FileStore
from agentslot.session.memory import MemoryStore
from agentslot.session.sqlite import SqliteStore
from agentslot.session.store import SESSION_STORE
from agentslot.session.storemodule import DurableStoreModule


class MemoryStoreModule(Module):
    """Keeps Sessions in memory: gone when the process ends."""

    id = "session.memory"

    def __init__(self) -> None:
        self.store = MemoryStore()

    def register(self, registrar: Registrar) -> None:
        """Fill `session.store`."""
        registrar.contribute(SESSION_STORE.set(self.store))


class SqliteStoreModule(DurableStoreModule[SqliteStore]):
    """Keeps Sessions in a SQLite database, which one running application owns at a time.

    Args:
        path: the database file; made when the application starts.
    """

    id = "session.sqlite"

    def __init__(self, path: str | Path) -> None:
        super().__init__(SqliteStore(path))


class FileStoreModule(DurableStoreModule[FileStore]):
    """Keeps Sessions as files in a directory, which one running application owns at a time.

    Args:
        directory: where the files lie; made when the application starts.
    """

    id = "session.file"

    def __init__(self, directory: str | Path) -> None:
        super().__init__(FileStore(directory))
