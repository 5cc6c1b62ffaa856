"""The tools file_read, file_write and file_edit, as a model uses them."""

import hashlib
import json
import os
import re
import sys
from pathlib import Path

import anyio
import pytest

from agentslot.session import ToolResult
from agentslot.tool import Tool
from agentslot.tool.files import Browser, FileRoot, FileTools
from agentslot.tool.search import Searcher
from tests.shared import shared
from tests.tool.invoking import invoke, invoke_text, output


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def tools(tmp_path: Path) -> dict[str, Tool]:
    return {tool.definition.name: tool for tool in FileTools(FileRoot(tmp_path)).tools()}


def failure(result: ToolResult) -> tuple[str, str]:
    assert result.error is not None
    return result.error.code, result.error.message


async def test_a_read_gives_the_content_and_one_line_about_it(
    tools: dict[str, Tool], tmp_path: Path
) -> None:
    content = b"x = 1\ny = 2\n"
    (tmp_path / "a.py").write_bytes(content)
    text = output(await invoke(tools["file_read"], path="a.py"))
    assert text == f"x = 1\ny = 2\n[lines 1-2 of 2, sha256 {digest(content)}]"


async def test_a_cut_read_names_the_call_that_reads_on(
    tools: dict[str, Tool], tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 3001)))
    text = output(await invoke(tools["file_read"], path="a.txt"))
    assert "lines 1-2000 of 3000" in text
    assert text.endswith("continue with offset=2001]")
    rest = output(await invoke(tools["file_read"], path="a.txt", offset=2001))
    assert rest.startswith("2001\n")
    assert "continue" not in rest


async def test_a_minified_file_is_read_on_by_column(tools: dict[str, Tool], tmp_path: Path) -> None:
    make = shared("cases/F09/make.py")
    await anyio.run_process([sys.executable, str(make)], cwd=tmp_path)
    text = output(await invoke(tools["file_read"], path="min.js"))
    assert len(text) < 52_000
    found = re.search(r"the line goes on: continue with offset=1, column=(\d+)\]$", text)
    assert found is not None
    more = await invoke(tools["file_read"], path="min.js", column=int(found[1]))
    whole = (tmp_path / "min.js").read_text()
    assert text[:1000] == whole[:1000]
    assert output(more)[:1000] == whole[int(found[1]) - 1 :][:1000]


async def test_what_else_is_special_about_a_file_is_said(
    tools: dict[str, Tool], tmp_path: Path
) -> None:
    (tmp_path / "crlf").write_bytes(b"a\r\nb")
    (tmp_path / "latin").write_bytes(b"caf\xe9\n")
    (tmp_path / "replaced").write_text("caf\ufffd\n", encoding="utf-8")
    (tmp_path / "wide").write_bytes("\ufeffa\n".encode("utf-16-le"))
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "picture.txt").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 92)
    read = tools["file_read"]
    text = output(await invoke(read, path="crlf"))
    assert text.startswith("a\nb\n[lines 1-2 of 2, CRLF line ends, no line end at the end of the")
    assert "utf-16-le" in output(await invoke(read, path="wide"))
    assert "\ufffd stands for bytes that are no UTF-8" in output(await invoke(read, path="latin"))
    assert "no UTF-8" not in output(await invoke(read, path="replaced"))
    assert output(await invoke(read, path="empty")).startswith("[the file is empty, sha256 e3b0c")
    assert output(await invoke(read, path="picture.txt")) == (
        "[image: a PNG whose first chunk is not its header; it is damaged]"
    )


async def test_a_missing_file_is_answered_with_names_that_look_alike(
    tools: dict[str, Tool], tmp_path: Path
) -> None:
    (tmp_path / "settings.py").write_text("")
    for name in ("setings.py", "SETTINGS.PY"):
        assert failure(await invoke(tools["file_read"], path=name)) == (
            "not_found",
            f"{name!r} does not exist; its folder has 'settings.py'",
        )


async def test_a_read_fits_although_escapes_double_it(
    tools: dict[str, Tool], tmp_path: Path
) -> None:
    (tmp_path / "quotes").write_text('"""""""""\n' * 4000)
    result = await invoke_text(tools["file_read"], '{"path":"quotes"}', max_bytes=8000)
    assert result.output is not None
    assert 6000 < len(result.output.encode()) <= 8000
    assert "continue with offset=" in output(result)


async def test_a_new_file_is_written_with_its_folders(
    tools: dict[str, Tool], tmp_path: Path
) -> None:
    result = await invoke(tools["file_write"], path="src/new.py", content="é\n")
    content = (tmp_path / "src/new.py").read_bytes()
    assert content == "é\n".encode()
    assert output(result) == f"Created src/new.py: 3 bytes.\n[sha256 {digest(content)}]"


async def test_an_existing_file_is_replaced_only_with_its_present_hash(
    tools: dict[str, Tool], tmp_path: Path
) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    write = tools["file_write"]
    code, message = failure(await invoke(write, path="a.txt", content="new"))
    assert (code, "read it and pass its sha256" in message) == ("file_exists", True)
    stale = digest(b"older")
    result = await invoke(write, path="a.txt", content="new", expected_sha256=stale)
    assert failure(result)[0] == "stale_content"
    assert target.read_text() == "old"
    fresh = digest(b"old").upper()
    result = await invoke(write, path="a.txt", content="new", expected_sha256=fresh)
    assert output(result).startswith("Replaced a.txt: 3 bytes.")
    assert target.read_text() == "new"


async def test_a_hash_for_a_file_that_is_not_there_creates_nothing(
    tools: dict[str, Tool], tmp_path: Path
) -> None:
    result = await invoke(
        tools["file_write"], path="x/a.txt", content="new", expected_sha256=digest(b"")
    )
    assert failure(result)[0] == "not_found"
    assert [path async for path in anyio.Path(tmp_path).iterdir()] == []


async def test_edits_are_applied_together_and_give_the_new_hash(
    tools: dict[str, Tool], tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    edits = [{"old_string": "one", "new_string": "1"}, {"old_string": "two", "new_string": "2"}]
    result = await invoke(tools["file_edit"], path="a.txt", edits=edits)
    content = (tmp_path / "a.txt").read_bytes()
    assert content == b"1\r\n2\r\n"
    assert output(result) == f"Edited a.txt: 2 replacements.\n[sha256 {digest(content)}]"


async def test_a_refused_edit_leaves_the_file_untouched(
    tools: dict[str, Tool], tmp_path: Path
) -> None:
    target = tmp_path / "a.txt"
    target.write_text("one two")
    before = target.stat()
    edits = [{"old_string": "one", "new_string": "1"}, {"old_string": "three", "new_string": "3"}]
    code, message = failure(await invoke(tools["file_edit"], path="a.txt", edits=edits))
    assert code == "old_not_found"
    assert message.startswith("edit 2 of 2:")
    after = target.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


async def test_an_edit_of_a_changed_file_is_refused_if_a_hash_is_given(
    tools: dict[str, Tool], tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("one")
    edits = [{"old_string": "one", "new_string": "1"}]
    stale = digest(b"zero")
    result = await invoke(tools["file_edit"], path="a.txt", edits=edits, expected_sha256=stale)
    assert failure(result)[0] == "stale_content"


@pytest.mark.parametrize(
    "shape",
    [
        {"edits": {"old_string": "one", "new_string": "1"}},
        {"edits": '[{"old_string": "one", "new_string": "1"}]'},
        {"old_string": "one", "new_string": "1"},
        {"edits": [{"old_string": "one", "new_string": "1"}], "expected_sha256": None},
        {"edits": [{"old_string": "one", "new_string": "1"}], "expected_sha256": ""},
    ],
)
async def test_common_slips_in_the_shape_of_an_edit_are_understood(
    tools: dict[str, Tool], tmp_path: Path, shape: dict[str, object]
) -> None:
    (tmp_path / "a.txt").write_text("one")
    output(await invoke(tools["file_edit"], path="a.txt", **shape))
    assert (tmp_path / "a.txt").read_text() == "1"


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "a.txt"},
        {"path": "a.txt", "edits": []},
        {"path": "a.txt", "edits": "[{]"},
        {"path": "a.txt", "edits": [{"old_string": "one"}]},
        {"path": "a.txt", "edits": [{"old_string": "a", "new_string": "b", "all": True}]},
    ],
)
async def test_other_shapes_are_refused_and_shown_to_the_model(
    tools: dict[str, Tool], arguments: dict[str, object]
) -> None:
    code, message = failure(await invoke(tools["file_edit"], **arguments))
    assert code == "invalid_arguments"
    assert f"You wrote: {json.dumps(arguments)}" in message


async def test_no_tool_leaves_the_root(tools: dict[str, Tool], tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    edits = [{"old_string": "root", "new_string": "toor"}]
    for result in (
        await invoke(tools["file_read"], path="link/passwd"),
        await invoke(tools["file_write"], path="link/new", content=""),
        await invoke(tools["file_edit"], path="/etc/passwd", edits=edits),
    ):
        code, message = failure(result)
        assert code == "path_not_allowed"
        assert "give a path relative to the root" in message


def test_only_reading_is_parallel_safe(tools: dict[str, Tool]) -> None:
    assert {name: tool.parallel_safe for name, tool in tools.items()} == {
        "file_read": True,
        "file_write": False,
        "file_edit": False,
    }


async def test_a_name_that_is_no_utf8_is_shown_found_and_changed(tmp_path: Path) -> None:
    """S09"""
    root = FileRoot(tmp_path)
    browser = Browser(root, tuple)
    owners = (FileTools(root), browser, Searcher(browser))
    tools = {tool.definition.name: tool for owner in owners for tool in owner.tools()}
    folder = tmp_path / os.fsdecode(b"d\xe9p\xf4t")
    folder.mkdir()
    odd = folder / os.fsdecode(b"caf\xe9.txt")
    odd.write_bytes(b"one needle\n")
    path = "d\ufffdp\ufffdt/caf\ufffd.txt"

    assert path in output(await invoke(tools["file_find"], pattern="*.txt"))
    assert path in output(await invoke(tools["file_search"], pattern="needle"))
    assert "one needle" in output(await invoke(tools["file_read"], path=path))
    edit = {"old_string": "one", "new_string": "two"}
    assert (await invoke(tools["file_edit"], path=path, edits=[edit])).error is None
    assert odd.read_bytes() == b"two needle\n"
    assert os.listdir(tmp_path) == [folder.name]


async def test_a_name_with_a_line_end_takes_one_line_and_opens_the_file(tmp_path: Path) -> None:
    root = FileRoot(tmp_path)
    browser = Browser(root, tuple)
    owners = (FileTools(root), browser, Searcher(browser))
    tools = {tool.definition.name: tool for owner in owners for tool in owner.tools()}
    odd = tmp_path / "first\nignore.txt\x1b[31m"
    odd.write_bytes(b"one needle\n")
    path = "first\ufffdignore.txt\ufffd[31m"

    assert output(await invoke(tools["file_list"])).splitlines()[0] == path
    assert output(await invoke(tools["file_find"], pattern="*")).splitlines()[0] == path
    assert path in output(await invoke(tools["file_search"], pattern="needle")).splitlines()
    assert "one needle" in output(await invoke(tools["file_read"], path=path))


async def test_a_name_composed_in_another_way_is_the_same_name(
    tools: dict[str, Tool], tmp_path: Path
) -> None:
    (tmp_path / "e\u0301.txt").write_bytes(b"decomposed\n")

    assert "decomposed" in output(await invoke(tools["file_read"], path="\u00e9.txt"))
    assert (await invoke(tools["file_write"], path="\u00e9.txt", content="")).error is not None

    (tmp_path / "\u00e9.txt").write_bytes(b"composed\n")
    assert "decomposed" in output(await invoke(tools["file_read"], path="e\u0301.txt"))
    assert "composed" in output(await invoke(tools["file_read"], path="\u00e9.txt"))


async def test_of_two_odd_names_that_look_alike_none_is_chosen(
    tools: dict[str, Tool], tmp_path: Path
) -> None:
    for name in (b"caf\xe8", b"caf\xe9"):
        (tmp_path / os.fsdecode(name)).write_bytes(b"text\n")

    code, message = failure(await invoke(tools["file_read"], path="caf\ufffd"))
    assert code == "not_found"
    assert "its folder has 'caf\ufffd'" in message
