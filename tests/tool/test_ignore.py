"""Ignore rules, checked against git itself."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentslot.tool.files.ignore import IgnoreLayer, ignored_names

PATHS: tuple[str, ...] = (
    "a", "b.c", "b.o", "A.C", "ab", "a b", "d/a", "d/b.c", "d/e/a", "d/e/f/b.c", "e/a", "e/d/x",
    "f/[a]", "f/a*b", "f/!a", "f/#a", "x-y",
)  # fmt: skip


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", root], check=True)
    for path in PATHS:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    return root


def ignored_by_git(root: Path) -> set[str]:
    """The files that git leaves alone, by its own walk."""
    listed = subprocess.run(
        ["git", "-c", "core.excludesFile=", "ls-files", "-coz", "--exclude-standard"],
        cwd=root,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
        capture_output=True,
        check=True,
    ).stdout.decode()
    return set(PATHS) - set(listed.split("\0"))


def ignored_by_us(layers: list[IgnoreLayer]) -> set[str]:
    ignored: set[str] = set()
    for path in PATHS:
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            folder, name = "".join(f"{part}/" for part in parts[: depth - 1]), parts[depth - 1]
            inside = [layer for layer in layers if folder.startswith(layer.base)]
            if ignored_names(inside, folder, [name], is_folder=depth < len(parts)):
                ignored.add(path)
                break
    return ignored


PIECES = (
    "a", "b", "c", "d", "e", ".", "-", " ", "/", "*", "**", "***", "?", "!", "#", "\\", "\\*",
    "[", "]", "[ab]", "[!a]", "[^b]", "[]a]", "[a-c]", "[z-a]", "[[:alpha:]]", "[[:digit:]-]",
)  # fmt: skip
pieces = st.sampled_from(PIECES)
lines = st.lists(pieces, min_size=1, max_size=6).map("".join)
files = st.lists(lines, min_size=1, max_size=4).map("\n".join)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(top=files, below=st.one_of(st.just(""), files))
def test_generated_rules_agree_with_git(repository: Path, top: str, below: str) -> None:
    (repository / ".gitignore").write_bytes(top.encode())
    (repository / "d/.gitignore").write_bytes(below.encode())
    layers = [IgnoreLayer("", top.encode()), IgnoreLayer("d/", below.encode())]
    assert ignored_by_us(layers) == ignored_by_git(repository)


@pytest.mark.parametrize(
    "rules",
    [
        b"\xef\xbb\xbfa\n",
        b"a\r\nb.c\r\n",
        b"a\\ b\n",
        b"a b  \n",
        b"a\\ \n",
        b"\\#a\n\\!a\n",
        b"#a\n",
        b"/d\n!/d/e\n",
        b"d/*\n!d/e\n",
        b"**/a\n",
        b"d/**\n",
        b"d/**/b.c\n",
        b"**/e/**\n",
        b"/\n//\n!\n",
        b"*\n!*/\n!*.c\n",
        b"d/\n!d/e/*\n",
        b"/*\n!/*/\n",
    ],
)
def test_rules_of_every_kind_agree_with_git(repository: Path, rules: bytes) -> None:
    (repository / ".gitignore").write_bytes(rules)
    (repository / "d/.gitignore").write_bytes(b"")
    assert ignored_by_us([IgnoreLayer("", rules)]) == ignored_by_git(repository)


@pytest.mark.timeout(60)
def test_a_hostile_pattern_does_not_take_long() -> None:
    layer = IgnoreLayer("", b"*a" * 40 + b"b\n" + b"**/a/" * 20 + b"b/x\n" + b"**/" * 40 + b"y\n")
    name = "a" * 250
    assert not ignored_names([layer], "a/" * 100, [name], is_folder=False)
