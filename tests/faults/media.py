"""Where Sessions lie: in files, in a database, on a server."""

import json
import shutil
import sqlite3
from contextlib import AbstractAsyncContextManager, closing, nullcontext
from pathlib import Path
from typing import Any, Protocol

from agentslot.session import FileStore, PostgresStore, SessionId, SessionStore, SqliteStore
from tests.faults.parts import StoppableStore, TearingOperations
from tests.faults.world import World


class Medium(Protocol):
    """A kind of store, seen from outside."""

    name: str

    def store(self, folder: Path) -> FileStore | SqliteStore | PostgresStore:
        """The store as users open it."""
        ...

    def reader(self, folder: Path) -> AbstractAsyncContextManager[SessionStore]:
        """A store that owns nothing."""
        ...

    def copy(self, folder: Path, image: Path) -> None:
        """Make another folder of the same content."""
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

    def reader(self, folder: Path) -> AbstractAsyncContextManager[SessionStore]:
        return nullcontext(FileStore(folder))

    def copy(self, folder: Path, image: Path) -> None:
        shutil.copytree(folder, image)

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

    def reader(self, folder: Path) -> AbstractAsyncContextManager[SessionStore]:
        return nullcontext(SqliteStore(folder / "sessions.db"))

    def copy(self, folder: Path, image: Path) -> None:
        shutil.copytree(folder, image)

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


class Server:
    """A PostgreSQL server, on which a folder and its image stand for a database each.

    A folder that is new begins with an empty one.
    """

    name = "postgres"

    def __init__(self, server: Any) -> None:
        self._server = server
        self._ask("postgres", "DROP DATABASE IF EXISTS faults; CREATE DATABASE faults;")

    def dsn(self, folder: Path) -> str:
        """Where the database of a folder is."""
        dsn: str = self._server.get_uri(database=self._database(folder))
        return dsn

    def store(self, folder: Path) -> PostgresStore:
        return PostgresStore(self.dsn(folder))

    def reader(self, folder: Path) -> AbstractAsyncContextManager[SessionStore]:
        return self.store(folder)

    def copy(self, folder: Path, image: Path) -> None:
        source = self._database(folder)
        self._ask(
            "postgres",
            f"DROP DATABASE IF EXISTS {source}_image;"
            f"CREATE DATABASE {source}_image TEMPLATE {source};",
        )
        image.mkdir()
        (image / "database").write_text(f"{source}_image", encoding="ascii")

    def stoppable(self, folder: Path, world: World) -> StoppableStore:
        return StoppableStore(self.store(folder), world)

    def sessions(self, folder: Path) -> list[SessionId]:
        question = "SELECT id FROM agentslot.sessions ORDER BY id;"
        return [SessionId(row) for row in self._ask(self._database(folder), question)]

    def contents(self, folder: Path) -> object:
        tables = "sessions", "facts", "queue", "journal", "extensions", "contexts", "texts"
        return {
            table: self._ask(
                self._database(folder),
                f"SELECT each::text FROM agentslot.{table} AS each ORDER BY 1;",
            )
            for table in (*tables, "commits")
        }

    def commits(self, folder: Path, session_id: SessionId) -> list[tuple[int, str]]:
        question = (
            "SELECT revision, idempotency_key FROM agentslot.commits "
            f"WHERE session = '{session_id}' ORDER BY revision;"
        )
        rows = (row.split("|") for row in self._ask(self._database(folder), question))
        return [(int(revision), key) for revision, key in rows]

    def _database(self, folder: Path) -> str:
        label = folder / "database"
        if not label.exists():
            self._ask("faults", "DROP SCHEMA IF EXISTS agentslot CASCADE;")
            folder.mkdir(parents=True, exist_ok=True)
            label.write_text("faults", encoding="ascii")
        return label.read_text(encoding="ascii")

    def _ask(self, database: str, sql: str) -> list[str]:
        plain = "\\set QUIET 1\n\\pset format unaligned\n\\pset tuples_only\n"
        answer: str = self._server.psql(
            f"{plain}SET client_min_messages = warning;\n\\connect {database}\n{sql}\n"
        )
        return answer.splitlines()


FILES, DATABASE = Files(), Database()
MEDIA: dict[str, Medium] = {medium.name: medium for medium in (FILES, DATABASE)}
