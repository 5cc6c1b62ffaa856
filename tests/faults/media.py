"""Where Sessions lie: in files, or in a database."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

from agentslot.session import FileStore, SessionId, SqliteStore
from tests.faults.parts import StoppableStore, TearingOperations
from tests.faults.world import World


class Medium(Protocol):
    """A kind of store, seen from outside."""

    name: str

    def store(self, folder: Path) -> FileStore | SqliteStore:
        """The store as users open it."""
        ...

    def stoppable(self, folder: Path, world: World) -> StoppableStore:
        """A store whose process can be stopped around its writes."""
        ...

    def sessions(self, folder: Path) -> list[SessionId]:
        """Which Sessions lie there."""
        ...

    def contents(self, folder: Path) -> object:
        """All that lies there, to be compared."""
        ...

    def commits(self, folder: Path, session_id: SessionId) -> list[tuple[int, str]]:
        """Revision and key of each commit, in the order in which they lie there."""
        ...


class Files:
    """One file a Session; its writes can also be torn."""

    name = "files"

    def store(self, folder: Path) -> FileStore:
        return FileStore(folder)

    def stoppable(self, folder: Path, world: World) -> StoppableStore:
        return StoppableStore(FileStore(folder, operations=TearingOperations(world)), world)

    def sessions(self, folder: Path) -> list[SessionId]:
        return list(self._paths(folder))

    def contents(self, folder: Path) -> object:
        return {path.name: path.read_bytes() for path in sorted(folder.glob("*.jsonl"))}

    def commits(self, folder: Path, session_id: SessionId) -> list[tuple[int, str]]:
        lines = self._paths(folder)[session_id].read_bytes().splitlines()
        records = [json.loads(line) for line in lines]
        return [(record["rev"], record["key"]) for record in records if record["type"] == "commit"]

    def _paths(self, folder: Path) -> dict[SessionId, Path]:
        paths: dict[SessionId, Path] = {}
        for path in sorted(folder.glob("*.jsonl")):
            with path.open("rb") as file:
                paths[SessionId(json.loads(file.readline())["id"])] = path
        return paths


class Database:
    """One database for all Sessions."""

    name = "sqlite"

    def store(self, folder: Path) -> SqliteStore:
        return SqliteStore(folder / "sessions.db")

    def stoppable(self, folder: Path, world: World) -> StoppableStore:
        return StoppableStore(self.store(folder), world)

    def sessions(self, folder: Path) -> list[SessionId]:
        return [SessionId(row[0]) for row in self._ask(folder, "SELECT id FROM sessions")]

    def contents(self, folder: Path) -> object:
        with closing(sqlite3.connect(folder / "sessions.db")) as database:
            return list(database.iterdump())

    def commits(self, folder: Path, session_id: SessionId) -> list[tuple[int, str]]:
        question = (
            "SELECT revision, idempotency_key FROM commits WHERE session = ? ORDER BY revision"
        )
        return self._ask(folder, question, session_id)

    def _ask(self, folder: Path, question: str, *values: str) -> list[Any]:
        path = folder / "sessions.db"
        if not path.exists():
            return []
        with closing(sqlite3.connect(path)) as database:
            return database.execute(question, values).fetchall()


FILES, DATABASE = Files(), Database()
MEDIA: dict[str, Medium] = {medium.name: medium for medium in (FILES, DATABASE)}
