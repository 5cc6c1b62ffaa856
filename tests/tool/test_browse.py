"""Listing and finding files."""

import os
import subprocess
from pathlib import Path

import pytest

from agentslot.tool import Tool, ToolFailedError
from agentslot.tool.files import Browser, FileRoot
from agentslot.tool.files.glob import Glob
from agentslot.tool.files.ignore import IgnoreLayer
from tests.shared import shared
from tests.tool.invoking import invoke, invoke_text, output


def browser(root: Path, rules: bytes = b"") -> dict[str, Tool]:
    tools = Browser(FileRoot(root), lambda: (IgnoreLayer("", rules),)).tools()
    return {tool.definition.name: tool for tool in tools}


def make(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()


async def listed(root: Path, rules: bytes = b"", **arguments: object) -> list[str]:
    text = output(await invoke(browser(root, rules)["file_list"], **arguments))
    *lines, note = text.split("\n")
    assert note.startswith("[")
    return lines


async def found(root: Path, pattern: str, **arguments: object) -> list[str]:
    text = output(await invoke(browser(root)["file_find"], pattern=pattern, **arguments))
    return text.split("\n")[:-1]


async def test_a_folder_is_listed_in_the_order_of_names(tmp_path: Path) -> None:
    make(tmp_path, "b.txt", "a/x.txt", "a/deep/y.txt", ".hidden", "a.txt")
    assert await listed(tmp_path) == [".hidden", "a/", "a.txt", "b.txt"]
    assert await listed(tmp_path, depth=2) == [
        ".hidden",
        "a/",
        "a/deep/",
        "a/x.txt",
        "a.txt",
        "b.txt",
    ]
    assert await listed(tmp_path, path="a/deep") == ["a/deep/y.txt"]


async def test_a_cut_list_names_the_call_that_shows_more(tmp_path: Path) -> None:
    make(tmp_path, *(f"{n:03}" for n in range(300)))
    tool = browser(tmp_path)["file_list"]
    text = output(await invoke(tool))
    assert "[200 of 300 shown; continue with limit=300, or look into" in text
    assert output(await invoke(tool, limit=300)).endswith("299\n[300 in all]")


async def test_a_list_fits_into_the_bytes_of_a_result(tmp_path: Path) -> None:
    make(tmp_path, *(f"{'x' * 100}{n}" for n in range(100)))
    result = await invoke_text(browser(tmp_path)["file_list"], "{}", max_bytes=2000)
    assert result.output is not None
    assert len(result.output.encode()) <= 2000
    assert "of 100 shown; look into" in output(result)


async def test_links_and_other_things_are_not_listed(tmp_path: Path) -> None:
    make(tmp_path, "a.txt")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc")
    assert await listed(tmp_path, depth=3) == ["a.txt"]


async def test_listing_and_finding_do_not_leave_the_root(tmp_path: Path) -> None:
    make(tmp_path, "jail/a.txt")
    (tmp_path / "jail/link").symlink_to(tmp_path)
    tools = browser(tmp_path / "jail")
    for arguments in ({"path": "link"}, {"path": ".."}, {"path": "/etc"}):
        result = await invoke(tools["file_list"], **arguments)
        assert result.error is not None
        assert result.error.code == "path_not_allowed"
    assert await found(tmp_path / "jail", "**") == ["a.txt"]


async def test_a_file_is_not_a_folder_to_list(tmp_path: Path) -> None:
    make(tmp_path, "a.txt")
    result = await invoke(browser(tmp_path)["file_list"], path="a.txt")
    assert result.error is not None
    assert result.error.code == "not_a_folder"
    assert "is no folder" in result.error.message


def git_lists(root: Path) -> list[str]:
    listing = subprocess.run(
        ["git", "-c", "core.excludesFile=", "ls-files", "-co", "--exclude-standard"],
        cwd=root,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
        capture_output=True,
        check=True,
    )
    return sorted(listing.stdout.decode().split())


def make_cases(root: Path) -> None:
    subprocess.run(["sh", shared("cases/F10/cases.sh")], cwd=root, check=True)


@pytest.mark.parametrize("tree", ["g1", "g2", "g3", "g4"])
async def test_negated_rules_hold_as_they_do_for_git(tmp_path: Path, tree: str) -> None:
    make_cases(tmp_path)
    ours = [entry for entry in await listed(tmp_path / tree, depth=9) if not entry.endswith("/")]
    assert ours == git_lists(tmp_path / tree)


async def test_rules_above_the_root_and_above_the_folder_hold(tmp_path: Path) -> None:
    make(tmp_path, ".git/info/exclude", "root/src/a.pyc", "root/src/a.py", "root/src/gen/x")
    make(tmp_path, "root/src/local", "root/src/excluded")
    (tmp_path / ".gitignore").write_text("*.pyc\n/root/src/gen\n")
    (tmp_path / ".git/info/exclude").write_text("excluded\n")
    (tmp_path / "root/.gitignore").write_text("local\n!excluded\n")
    assert await listed(tmp_path / "root", path="src") == ["src/a.py", "src/excluded"]


async def test_without_a_repository_rules_hold_below_the_root(tmp_path: Path) -> None:
    make(tmp_path, "root/a.log", "root/a.txt", "root/b/c.log")
    (tmp_path / ".gitignore").write_text("*.txt\n")
    (tmp_path / "root/.gitignore").write_text("*.log\n")
    assert await listed(tmp_path / "root", depth=2) == [".gitignore", "a.txt", "b/"]


async def test_the_rules_of_a_folder_hold_below_it_and_outweigh_those_above(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "keep.log", "made.txt")
    make(tmp_path, "sub/a.log", "sub/keep.log", "sub/made.txt")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "sub/.gitignore").write_text("!keep.log\nmade.txt\n")
    assert await found(tmp_path, "*") == ["made.txt", "sub/keep.log"]


async def test_the_rules_of_a_repository_stop_at_a_nested_one(tmp_path: Path) -> None:
    make(tmp_path, ".git/x", "lib/.git/x", "lib/a.log", "lib/b.tmp", "c.log", "d.tmp", "lib/e.own")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "lib/.gitignore").write_text("*.tmp\n")
    assert await listed(tmp_path, rules=b"*.own\n", depth=2) == [
        ".gitignore",
        "d.tmp",
        "lib/",
        "lib/.gitignore",
        "lib/a.log",
    ]


async def test_the_link_to_a_repository_elsewhere_is_a_repository_and_is_not_listed(
    tmp_path: Path,
) -> None:
    make(tmp_path, ".git/x", "sub/.git", "sub/a.log")
    (tmp_path / ".gitignore").write_text("*.log\n")
    assert await listed(tmp_path, depth=2) == [".gitignore", "sub/", "sub/a.log"]


async def test_files_are_found_by_name_and_by_path(tmp_path: Path) -> None:
    make(
        tmp_path, "a.py", "src/b.py", "src/deep/c.PY", "src/d.txt", ".github/ci.yml", "src/tests/e"
    )
    assert await found(tmp_path, "*.py") == ["a.py", "src/b.py", "src/deep/c.PY"]
    assert await found(tmp_path, "src/*.py") == ["src/b.py"]
    assert await found(tmp_path, "src/**/*.PY") == ["src/deep/c.PY"]
    assert await found(tmp_path, "*.{py,txt}", path="src") == [
        "src/b.py",
        "src/d.txt",
        "src/deep/c.PY",
    ]
    assert await found(tmp_path, "*.yml") == []
    assert await found(tmp_path, ".github/**") == [".github/ci.yml"]
    assert await found(tmp_path, "t*", kind="folder") == ["src/tests"]


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "a/b.py", True),
        ("a/*.py", "a/b/c.py", False),
        ("a/**/c.py", "a/c.py", True),
        ("**", "a/b", True),
        ("{a,b{1,2}}.txt", "b2.txt", True),
        ("{a,b{1,2}}.txt", "b.txt", False),
        ("{a}.txt", "{a}.txt", True),
        ("a{b", "a{b", True),
        ("[!a]x", "bx", True),
        ("[!a]x", "ax", False),
        ("readme*", "README.md", True),
        ("Readme*", "README.md", False),
        ("*.py", "A/B.PY", True),
        ("a/*.py", "A/B.PY", True),
        ("[[:upper:]]x", "ax", False),
        ("[[:upper:]]x", "Ax", True),
        ("a/**", "a/b/c", True),
        ("a/**", "a", False),
        ("**/**/a", "a", True),
        ("*", "a", True),
        ("src/{a,b/*}/c", "src/b/x/c", True),
        ("./src/*", "src/a", True),
        ("\\*", "*", True),
    ],
)
def test_a_pattern_matches_as_its_description_says(pattern: str, path: str, matches: bool) -> None:
    assert Glob(pattern)(path) is matches


@pytest.mark.parametrize("pattern", ["[a", "a\\", "{a,b}" * 20])
def test_a_malformed_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(ToolFailedError, match="malformed"):
        Glob(pattern)
