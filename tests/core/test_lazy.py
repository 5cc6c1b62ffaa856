"""Packages whose names are imported when they are first used."""

import importlib
import pkgutil
import py_compile
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import agentslot

PARTS = {
    "__init__": (
        "from typing import TYPE_CHECKING\n"
        "from agentslot._lazy import imports_when_used\n"
        "if TYPE_CHECKING or not imports_when_used(__name__):\n"
        "    from parts.first import First\n"
        "    from parts.second import Second\n"
    ),
    "first": "class First: pass\n",
    "second": "class Second: pass\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to import from, forgotten afterwards."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "parts").mkdir()
    yield tmp_path / "parts"
    for name in [name for name in sys.modules if name.partition(".")[0] == "parts"]:
        del sys.modules[name]


def write(folder: Path) -> None:
    for name, source in PARTS.items():
        (folder / f"{name}.py").write_text(source, encoding="utf-8")


def test_a_name_is_imported_when_it_is_used(folder: Path) -> None:
    write(folder)
    package = importlib.import_module("parts")
    assert dir(package) == ["First", "Second"]
    assert "parts.first" not in sys.modules

    first = package.First

    assert first is sys.modules["parts.first"].First
    assert vars(package)["First"] is first
    assert "parts.second" not in sys.modules


def test_a_name_that_is_not_there_is_named(folder: Path) -> None:
    write(folder)
    package = importlib.import_module("parts")

    with pytest.raises(AttributeError, match="module 'parts' has no attribute 'Third'"):
        _ = package.Third


def test_without_its_source_a_package_imports_all_names_at_once(folder: Path) -> None:
    write(folder)
    for path in list(folder.glob("*.py")):
        py_compile.compile(str(path), str(path.with_suffix(".pyc")), doraise=True)
        path.unlink()

    package = importlib.import_module("parts")

    assert {"First", "Second"} <= vars(package).keys()
    assert {"First", "Second"} <= set(dir(package))


def test_no_public_name_is_that_of_a_module_beside_it() -> None:
    hidden = [
        f"{package.name}.{module.name}"
        for package in pkgutil.walk_packages(agentslot.__path__, "agentslot.")
        if package.ispkg
        for found in [importlib.import_module(package.name)]
        if hasattr(found, "imports_when_used")
        for module in pkgutil.iter_modules(found.__path__)
        if module.name in found.__all__
    ]

    assert hidden == []
