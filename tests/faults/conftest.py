"""Where the tests of this folder keep Sessions."""

import os
from collections.abc import Generator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.session.conftest import postgres_server

__all__ = ["folder", "postgres_server"]

MEMORY = Path("/dev/shm")  # a folder of its own is made there


@pytest.fixture
def folder(tmp_path: Path) -> Generator[Path]:
    """A folder where flushing is cheap, if there is one: nothing here loses its power."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    with TemporaryDirectory(dir=MEMORY) as path:
        yield Path(path)
