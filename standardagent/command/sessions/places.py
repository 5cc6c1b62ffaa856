"""Where Sessions are kept: folders of files, single files, databases, stores of somebody else."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Protocol, cast

from agentslot.session import (
    Beginning,
    ClassifiedError,
    FileStore,
    Message,
    PostgresStore,
    SessionId,
    SessionOverview,
    SessionState,
    SessionStore,
    SessionSummary,
    SqliteStore,
    check_file,
)
from agentslot.session.requests import session_not_found
from agentslot.standardagent.command.asynchronous import run_async
from agentslot.standardagent.command.failure import CommandError, UsageError
from agentslot.standardagent.command.places import sessions_folder
from agentslot.standardagent.command.target import call_target, load_object

_SQLITE_MAGIC = b"SQLite format 3\0"
_POSTGRES = ("postgresql:", "postgres:")
_STORE_VARIABLE = "AGENTSLOT_STORE"


class _Surveyable(Protocol):
    """A store that can name all its Sessions, whatever their scope."""

    async def overview(self) -> Sequence[SessionOverview]: ...


class _Examinable(Protocol):
    """A store that can tell what is intact of a Session that is damaged."""

    async def examine(self, session_id: SessionId) -> Beginning: ...


class Place:
    """A store of Sessions, and how it is looked at.

    Attributes:
        name: what a person calls it.
        store: the store itself.
        session_files: the files of all Sessions, damaged ones included, if each has its own.
    """

    def __init__(self, name: str, store: SessionStore, session_files: Sequence[Path] = ()) -> None:
        self.name = name
        self.store = store
        self.session_files = session_files

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[None]:
        """Reading is possible inside; our own stores are not taken from whoever owns them."""
        if isinstance(self.store, FileStore | SqliteStore):
            yield
        else:
            async with self.writing():
                yield

    @asynccontextmanager
    async def writing(self) -> AsyncGenerator[None]:
        """Creating Sessions is possible inside.

        Raises:
            ClassifiedError: `unavailable/sessions_in_use`: another process has the store.
        """
        if isinstance(self.store, AbstractAsyncContextManager):
            async with self.store:
                yield
        else:
            yield

    async def overview(self) -> Sequence[SessionOverview]:
        """What lies there, newest change first."""
        if not hasattr(self.store, "overview"):
            raise UsageError(
                f"{self.name} cannot name all its sessions: give it a method `overview()`, as"
                " SqliteStore has one, or name one session with --session"
            )
        return await cast("_Surveyable", self.store).overview()

    async def load(self, session_id: SessionId) -> SessionState:
        """One Session.

        Raises:
            ClassifiedError: `not_found/session_not_found`.
            SessionDamagedError: it cannot be trusted.
        """
        return (await self.store.load(session_id)).state

    async def examine(self, session_id: SessionId) -> Beginning | None:
        """What is intact of one Session; None if the store cannot tell.

        Raises:
            SessionDamagedError: not even whose Session it is can be read.
        """
        if not hasattr(self.store, "examine"):
            return None
        return await cast("_Examinable", self.store).examine(session_id)


class FilePlace(Place):
    """One file, whatever its name; a damaged one is shown as far as it is intact."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path), FileStore(path.parent), [path])
        self._intact = check_file(path).intact

    async def overview(self) -> Sequence[SessionOverview]:
        """The one Session."""
        return [] if self._intact is None else [_overview_of(self._intact)]

    async def load(self, session_id: SessionId) -> SessionState:
        """The one Session, if it has that id."""
        if self._intact is None or self._intact.id != session_id:
            raise session_not_found(session_id)
        return self._intact


def _folder(path: Path) -> Place:
    return Place(str(path), FileStore(path), sorted(path.glob("*.jsonl")))


def _overview_of(state: SessionState) -> SessionOverview:
    messages = (f.payload for f in state.history if f.origin_id is None)
    first = next((each for each in messages if isinstance(each, Message)), None)
    parent = state.lineage.parent if state.lineage else None
    summary = SessionSummary(
        state.id, state.agent, state.workspace, state.revision, state.updated_at, parent
    )
    return SessionOverview(summary, first)


def add_places(parser: ArgumentParser) -> None:
    """Declare how a person says where Sessions are."""
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        type=Path,
        help="folders with sessions, session files, databases of SqliteStore"
        " (default: all sessions of `agentslot chat`)",
    )
    parser.add_argument(
        "--store",
        metavar="STORE",
        help="postgresql://user@host/database, with the password in PGPASSWORD or ~/.pgpass; or"
        " MODULE:FACTORY, a function without parameters that returns a store of your own"
        f" (default without PATH: what {_STORE_VARIABLE} holds)",
    )


def places(options: Namespace) -> list[Place]:
    """Where the options say that Sessions are.

    Raises:
        UsageError: there is no such folder, file or store.
    """
    if options.store is not None and options.paths:
        raise UsageError("--store and PATH exclude each other: give only one")
    if (store := _store(options)) is not None:
        return [_shared(store)]
    if not options.paths:
        return [_folder(path) for path in sorted(sessions_folder().glob("*/"))]
    hint = "; name a session with --session" if "session" in options else ""
    return [_place(path, hint) for path in options.paths]


def tell_that_none_is_there(options: Namespace) -> None:
    """Say where was looked for Sessions in vain."""
    where = [place.name for place in places(options)] if _store(options) else options.paths
    print(f"no sessions in {', '.join(map(str, where)) or sessions_folder()}", file=sys.stderr)


def _store(options: Namespace) -> str | None:
    """What the options, or else the environment, name in the place of paths."""
    store: str | None = options.store
    if store is None and not options.paths:
        store = os.environ.get(_STORE_VARIABLE, "").strip() or None
    return store


def _shared(store: str) -> Place:
    """A store that no path names. The address of a database is shown nowhere: it may be secret."""
    if store.startswith(_POSTGRES):
        return Place("PostgreSQL", PostgresStore(store, create_tables=False, max_connections=1))
    return Place(store, cast("SessionStore", call_target(store, load_object(store))))


def _place(path: Path, hint: str) -> Place:
    if path.is_dir():
        return _folder(path)
    if str(path).startswith(_POSTGRES):
        raise UsageError(f"give the address of a database with --store, or in {_STORE_VARIABLE}")
    if not path.is_file():
        raise UsageError(f"there is no folder or file {str(path)!r}{hint}")
    try:
        with path.open("rb") as file:
            is_database = file.read(len(_SQLITE_MAGIC)) == _SQLITE_MAGIC
    except OSError as error:
        raise CommandError(
            f"{path} cannot be read: {error.strerror}; check who may read it, and the disk"
        ) from error
    return Place(str(path), SqliteStore(path)) if is_database else FilePlace(path)


def find(options: Namespace) -> tuple[Place, SessionState]:
    """The Session that `--session` names, or else the one that changed last.

    Raises:
        CommandError: there is none.
        SessionDamagedError: it cannot be trusted.
    """
    wanted: str | None = options.session
    there = places(options)
    if wanted is None:
        return run_async(partial(_newest, there))
    return run_async(partial(_named, there, SessionId(wanted)))


async def _newest(there: list[Place]) -> tuple[Place, SessionState]:
    newest: tuple[datetime, Place, SessionId] | None = None
    for place in there:
        async with place.reading():
            for row in await place.overview():
                if newest is None or row.summary.updated_at > newest[0]:
                    newest = row.summary.updated_at, place, row.summary.id
    if newest is None:
        raise CommandError("there is no session that can be read; check says why")
    _, place, session_id = newest
    async with place.reading():
        return place, await place.load(session_id)


async def _named(there: list[Place], session_id: SessionId) -> tuple[Place, SessionState]:
    for place in there:
        async with place.reading():
            try:
                return place, await place.load(session_id)
            except ClassifiedError as error:
                if error.code != "session_not_found":
                    raise
    raise CommandError(f"there is no session {session_id!r}; list shows what there is")
