"""Each test has its own current directory, from which it imports afresh."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command.applications import write_greeter


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.chdir(tmp_path)
    write_greeter(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in {"greeter", "parts"}:
            del sys.modules[name]
