"""Changes by the file tools, recorded and taken back."""

from pathlib import Path

import anyio.to_thread
import pytest

from agentslot.session import SessionId
from agentslot.standardagent.command import main
from agentslot.tool import FilesModule, Tool, ToolFailedError
from agentslot.tool.files import Change, ChangeLog, FileRoot, FileTools
from tests.tool.invoking import invoke, output


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def log(tmp_path: Path) -> ChangeLog:
    return ChangeLog(tmp_path / "changes")


@pytest.fixture
def tools(root: Path, log: ChangeLog) -> dict[str, Tool]:
    made = FileTools(FileRoot(root), changes=log).tools()
    return {tool.definition.name: tool for tool in made}


async def recorded(log: ChangeLog, session: str | None = None) -> list[tuple[Path, Change]]:
    session_id = None if session is None else SessionId(session)
    return await anyio.to_thread.run_sync(lambda: list(log.newest_first(session_id)))


async def take_back(log: ChangeLog, path: Path) -> Change:
    return await anyio.to_thread.run_sync(log.take_back, path)


async def command(arguments: list[str]) -> int:
    return await anyio.to_thread.run_sync(main, arguments)


async def edit(tools: dict[str, Tool], old: str, new: str) -> None:
    edits = [{"old_string": old, "new_string": new}]
    assert (await invoke(tools["file_edit"], path="a.txt", edits=edits)).error is None


async def test_changes_are_taken_back_one_after_the_other(
    tools: dict[str, Tool], root: Path, log: ChangeLog
) -> None:
    (root / "a.txt").write_bytes(b"one\r\ntwo")
    await edit(tools, "one", "1")
    await edit(tools, "two", "2")
    await invoke(tools["file_write"], path="sub/new.txt", content="new")
    paths = [path for path, _ in await recorded(log)]
    assert (await take_back(log, paths[0])).path == "sub/new.txt"
    assert not (root / "sub/new.txt").exists()
    await take_back(log, paths[1])
    assert (root / "a.txt").read_bytes() == b"1\r\ntwo"
    await take_back(log, paths[2])
    assert (root / "a.txt").read_bytes() == b"one\r\ntwo"
    assert await recorded(log) == []


async def test_a_replaced_file_comes_back_whole(
    tools: dict[str, Tool], root: Path, log: ChangeLog
) -> None:
    (root / "a.txt").write_text("before")
    sha = output(await invoke(tools["file_read"], path="a.txt")).rpartition("sha256 ")[2][:64]
    await invoke(tools["file_write"], path="a.txt", content="after", expected_sha256=sha)
    [(path, _)] = await recorded(log)
    await take_back(log, path)
    assert (root / "a.txt").read_text() == "before"


async def test_a_file_that_somebody_changed_since_stays_as_it_is(
    tools: dict[str, Tool], root: Path, log: ChangeLog
) -> None:
    (root / "a.txt").write_text("one")
    await edit(tools, "one", "two")
    (root / "a.txt").write_text("mine")
    [(path, _)] = await recorded(log)
    with pytest.raises(ToolFailedError, match="somebody else"):
        await take_back(log, path)
    assert (root / "a.txt").read_text() == "mine"
    assert path.exists()


async def test_a_change_that_was_recorded_and_never_made_is_forgotten(
    tools: dict[str, Tool], root: Path, log: ChangeLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.txt").write_text("one")

    def broken(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agentslot.tool.files.tools.replace", broken)
    edits = [{"old_string": "one", "new_string": "two"}]
    assert (await invoke(tools["file_edit"], path="a.txt", edits=edits)).error is not None
    [(path, _)] = await recorded(log)
    await take_back(log, path)
    assert (root / "a.txt").read_text() == "one"
    assert not path.exists()


async def test_a_change_that_cannot_be_recorded_is_not_made(root: Path, tmp_path: Path) -> None:
    (root / "a.txt").write_text("one")
    (tmp_path / "changes").write_text("no folder")
    tools = FileTools(FileRoot(root), changes=ChangeLog(tmp_path / "changes")).tools()
    edits = [{"old_string": "one", "new_string": "two"}]
    result = await invoke(tools[2], path="a.txt", edits=edits)
    assert result.error is not None
    assert result.error.code == "not_recorded"
    assert (root / "a.txt").read_text() == "one"


async def test_a_refused_edit_is_no_change(
    tools: dict[str, Tool], root: Path, log: ChangeLog
) -> None:
    (root / "a.txt").write_text("one")
    edits = [{"old_string": "absent", "new_string": "two"}]
    await invoke(tools["file_edit"], path="a.txt", edits=edits)
    assert await recorded(log) == []


async def test_a_link_that_came_later_does_not_lead_undo_outside(
    tools: dict[str, Tool], root: Path, log: ChangeLog, tmp_path: Path
) -> None:
    await invoke(tools["file_write"], path="sub/a.txt", content="x")
    (root / "sub/a.txt").unlink()
    (root / "sub").rmdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("x")
    (root / "sub").symlink_to(outside)
    [(path, _)] = await recorded(log)
    with pytest.raises(ToolFailedError, match="outside"):
        await take_back(log, path)
    assert (outside / "a.txt").read_text() == "x"


async def changed_twice(tools: dict[str, Tool], root: Path) -> None:
    (root / "a.txt").write_text("one")
    await edit(tools, "one", "two")
    await edit(tools, "two", "three")


async def test_the_command_lists_and_takes_back_the_last_changes(
    tools: dict[str, Tool], root: Path, log: ChangeLog, capsys: pytest.CaptureFixture[str]
) -> None:
    await changed_twice(tools, root)
    assert await command(["sessions", "undo", str(log.folder), "--list", "--last", "9"]) == 0
    assert capsys.readouterr().out == "a.txt  changed by call call-1 of session-1\n" * 2
    assert await command(["sessions", "undo", str(log.folder), "--last", "2"]) == 0
    assert capsys.readouterr().out == "a.txt  as it was before\n" * 2
    assert (root / "a.txt").read_text() == "one"
    assert await command(["sessions", "undo", str(log.folder)]) == 1
    assert "no change is recorded" in capsys.readouterr().err


async def test_the_command_stops_at_a_file_that_was_changed_since(
    tools: dict[str, Tool], root: Path, log: ChangeLog, capsys: pytest.CaptureFixture[str]
) -> None:
    await changed_twice(tools, root)
    (root / "a.txt").write_text("mine")
    assert await command(["sessions", "undo", str(log.folder), "--last", "2"]) == 1
    assert "it stays as it is" in capsys.readouterr().err
    assert len(await recorded(log, "session-1")) == 2
    assert await recorded(log, "other") == []


def test_the_module_records_only_if_it_is_told_where(root: Path, tmp_path: Path) -> None:
    FilesModule(root)
    FilesModule(root, changes=tmp_path / "changes")
    assert not (tmp_path / "changes").exists()
