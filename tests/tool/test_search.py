"""Searching, with the built-in engine alone and with ripgrep before it."""

import os
import sys
from pathlib import Path

import anyio
import pytest

from agentslot.session import ToolResult
from agentslot.tool import Tool
from agentslot.tool.files import Browser, FileRoot
from agentslot.tool.search import Searcher, engine, find_ripgrep
from agentslot.tool.search import tool as search_tool
from tests.shared import shared
from tests.tool.invoking import invoke, output


@pytest.fixture(params=["built-in", "ripgrep"])
def ripgrep(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str | None:
    monkeypatch.setattr(search_tool, "RIPGREP_FILES", 0)
    if request.param == "built-in":
        return None
    return find_ripgrep() or pytest.skip("ripgrep is not installed")


@pytest.fixture
def search(ripgrep: str | None, tmp_path: Path) -> Tool:
    (tool,) = Searcher(Browser(FileRoot(tmp_path), tuple), ripgrep=ripgrep).tools()
    return tool


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def code(result: ToolResult) -> str:
    assert result.error is not None
    return result.error.code


async def test_matches_are_grouped_by_file_in_the_order_of_paths(
    search: Tool, tmp_path: Path
) -> None:
    write(tmp_path, src__b_py="x\nneedle 1\nneedle 2\n", src__a_py="needle\n", c_txt="nothing\n")
    assert output(await invoke(search, pattern="needle")) == (
        "src/a.py\n1:needle\n\nsrc/b.py\n2:needle 1\n3:needle 2\n\n"
        "[3 matching lines in 2 of 3 files]"
    )
    assert output(await invoke(search, pattern="needle", path="src", file_glob="a*")) == (
        "src/a.py\n1:needle\n\n[1 matching line in 1 of 1 files]"
    )
    assert output(await invoke(search, pattern="absent")) == "[0 matching lines in 0 of 3 files]"


async def test_one_file_can_be_searched_although_it_is_hidden(search: Tool, tmp_path: Path) -> None:
    write(tmp_path, src__a_py="needle\n", _hidden="needle\n")
    assert "src/a.py" in output(await invoke(search, pattern="needle", path="src/a.py"))
    assert ".hidden" not in output(await invoke(search, pattern="needle"))
    assert ".hidden" in output(await invoke(search, pattern="needle", path=".hidden"))


async def test_lines_around_a_match_are_shown_once(search: Tool, tmp_path: Path) -> None:
    write(tmp_path, a_txt="1\n2\nX3\n4\nX5\n6\n7\n8\nX9\n")
    text = output(await invoke(search, pattern="X", context_lines=1))
    assert text.startswith("a.txt\n2-2\n3:X3\n4-4\n5:X5\n6-6\n--\n8-8\n9:X9\n")


@pytest.mark.parametrize(
    ("pattern", "case_sensitive", "lines"),
    [
        ("needle", None, [1, 2]),
        ("Needle", None, [2]),
        (r"\bneedle\B|\SEEDLE", None, [2]),
        ("needle", True, [1]),
        ("NEEDLE", False, [1, 2]),
    ],
)
async def test_case_matters_only_if_the_pattern_says_so(
    search: Tool, tmp_path: Path, pattern: str, case_sensitive: bool | None, lines: list[int]
) -> None:
    write(tmp_path, a_txt="needle\nNeedle NEEDLE\n")
    text = output(await invoke(search, pattern=pattern, case_sensitive=case_sensitive))
    assert [int(line.split(":")[0]) for line in text.split("\n") if ":" in line] == lines


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [("^b", [2]), ("a$", [1]), ("^$", [3]), (r"c\s*$", [4]), (r"\Ab", [2]), ("é.", [4])],
)
async def test_anchors_hold_at_lines_whatever_their_ends(
    search: Tool, tmp_path: Path, pattern: str, lines: list[int]
) -> None:
    write(tmp_path, a_txt="a\r\nb\n\r\néc \n")
    text = output(await invoke(search, pattern=pattern))
    assert [int(line.split(":")[0]) for line in text.split("\n") if ":" in line] == lines


async def test_a_minified_file_is_cut_around_the_match_and_others_are_as_they_are(
    search: Tool, tmp_path: Path
) -> None:
    make = shared("cases/F09/make.py")
    await anyio.run_process([sys.executable, str(make)], cwd=tmp_path)
    text = output(await invoke(search, pattern="needle"))
    assert "bin.dat: binary file matches" in text
    assert "u2028.txt\n1:split\u2028here needle\n2:needle two\n" in text
    text = output(await invoke(search, pattern="stats"))
    assert text.startswith("min.js\n1:var a=1;stats+=1;")
    assert "…\n\n[1 matching line in 1 of 3 files]" in text
    assert len(text) < 700


async def test_many_matches_are_capped_and_the_next_call_is_named(
    search: Tool, tmp_path: Path
) -> None:
    write(tmp_path, a_txt="needle\n" * 300)
    text = output(await invoke(search, pattern="needle", max_matches=5))
    assert text.count(":needle") == 5
    assert "[5 matching lines in 1 of 1 files, and there are more: continue with max_m" in text
    text = output(await invoke(search, pattern="needle", max_matches=0))
    assert text.count(":needle") == 100
    assert "and there are more: narrow the pattern" in text


async def test_links_and_ignored_files_are_not_searched(search: Tool, tmp_path: Path) -> None:
    write(tmp_path, a_txt="needle", b_log="needle", _gitignore="*.log\n")
    (tmp_path / "link").symlink_to("/etc")
    assert output(await invoke(search, pattern="needle")).endswith("in 1 of 1 files]")
    assert code(await invoke(search, pattern="root", path="link")) == "path_not_allowed"


async def test_nothing_outside_is_found_through_links(search: Tool, tmp_path: Path) -> None:
    await anyio.run_process(["sh", str(shared("cases/F07/make_tree.sh"))], cwd=tmp_path)
    (tool,) = Searcher(Browser(FileRoot(tmp_path / "jail"), tuple)).tools()
    assert output(await invoke(tool, pattern="secret")) == "[0 matching lines in 0 of 1 files]"


@pytest.mark.parametrize(
    "pattern", ["(", "[a", "a\nb", r"a\nb", "(?=a)", "(?<!a)b", r"(a)\1", "(?P=x)", "(?>a)"]
)
async def test_a_pattern_that_not_every_engine_knows_is_refused(
    search: Tool, tmp_path: Path, pattern: str
) -> None:
    write(tmp_path, a_txt="a")
    assert code(await invoke(search, pattern=pattern)) == "invalid_arguments"


async def test_a_pattern_without_end_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "TIME_LIMIT_SECONDS", 0.5)
    write(tmp_path, a_txt="a" * 60)
    (tool,) = Searcher(Browser(FileRoot(tmp_path), tuple)).tools()
    assert code(await invoke(tool, pattern="(a+)+b")) == "search_failed"


async def test_no_descriptor_is_left_open(search: Tool, tmp_path: Path) -> None:
    write(tmp_path, a__b__c_txt="needle", d_txt="needle")
    before = len(os.listdir("/proc/self/fd"))
    for pattern in ("needle", "("):
        await invoke(search, pattern=pattern)
    assert len(os.listdir("/proc/self/fd")) == before


async def test_a_broken_ripgrep_is_done_without(tmp_path: Path, ripgrep: str | None) -> None:
    write(tmp_path, a_txt="needle")
    (tool,) = Searcher(Browser(FileRoot(tmp_path), tuple), ripgrep="/bin/false-not-there").tools()
    assert "1:needle" in output(await invoke(tool, pattern="needle"))
