"""`agentslot sessions check`: explaining damage, and saving what is intact."""

import json
import sqlite3
from pathlib import Path

import pytest

from agentslot.session import SqliteStore
from agentslot.standardagent.command import main
from tests.command.stored import files, ticking, write_session


@pytest.fixture
def store(folder: Path) -> Path:
    write_session(files(folder / "sessions"), "Fix it.", "Done.")
    return folder / "sessions"


@pytest.fixture
def damaged(store: Path) -> Path:
    """A file whose fourth line, the answer with the call, was altered."""
    [path] = store.glob("*.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"working"', b'"walking"'))
    return path


def checked(capsys: pytest.CaptureFixture[str], code: int, *arguments: str) -> str:
    assert main(["sessions", "check", *arguments]) == code
    return capsys.readouterr().out


def test_whole_sessions_pass_the_check(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(capsys, 0, str(store)).splitlines()[0].endswith(".jsonl: no problems")
    record = json.loads(checked(capsys, 0, str(store), "--json"))
    assert (record["ok"], record["session_id"], record["salvaged"]) == (True, "s1", None)


def test_damage_is_explained_by_file_and_line(
    damaged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = damaged.read_bytes()
    said = checked(capsys, 1, str(damaged.parent))
    assert f"{damaged}: 1 problems" in said
    assert "line 4, byte " in said
    assert "the checksum does not match the bytes" in said
    assert "intact up to revision 3, 3 facts" in said
    assert f"to keep that: agentslot sessions check --salvage {damaged}" in said
    record = json.loads(checked(capsys, 1, str(damaged), "--json"))
    assert (record["ok"], record["problems"][0]["line"]) == (False, 4)
    assert damaged.read_bytes() == before


def test_what_cannot_be_read_is_a_problem_and_the_others_are_checked(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (store / "folder.jsonl").mkdir()
    (store / "empty.jsonl").touch()
    said = checked(capsys, 1, str(store))
    assert f"{store / 'folder.jsonl'}: 1 problems" in said
    assert "it could not be read: Is a directory" in said
    assert f"{store / 'empty.jsonl'}: 1 problems" in said
    assert said.count(": no problems") == 1
    assert main(["sessions", "list", str(store)]) == 0
    assert "2 damaged" in capsys.readouterr().err


def test_what_is_intact_becomes_a_new_session_and_the_file_stays(
    damaged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = damaged.read_bytes()
    record = json.loads(checked(capsys, 0, str(damaged), "--salvage", "--json"))
    assert damaged.read_bytes() == before
    saved = record["salvaged"]
    assert main(["sessions", "show", str(damaged.parent), "--session", saved]) == 0
    assert "user #2: Fix it." in capsys.readouterr().out
    assert "saved as session session-" in checked(capsys, 0, str(damaged), "--salvage")


def test_a_damaged_file_is_shown_as_far_as_it_is_intact(
    damaged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sessions", "show", str(damaged)]) == 0
    assert "user #2: Fix it." in capsys.readouterr().out
    assert main(["sessions", "show", str(damaged), "--session", "other"]) == 1


def test_a_file_of_which_nothing_can_be_read_stays_damaged(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [path] = store.glob("*.jsonl")
    path.write_bytes(b"\0" * 300)
    assert "nothing can be read" in checked(capsys, 1, str(store), "--salvage")
    assert main(["sessions", "list", str(store)]) == 0
    assert "1 damaged; `agentslot sessions check` explains it" in capsys.readouterr().err
    assert main(["sessions", "list", str(path)]) == 0
    assert "1 damaged" in capsys.readouterr().err


def test_the_sessions_of_a_database_are_read_too(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "sessions.db"
    write_session(lambda: SqliteStore(path, clock=ticking()), "Fix it.", "Done.")
    assert checked(capsys, 0, str(path)) == f"{path}: session s1: no problems\n"
    with sqlite3.connect(path) as database:
        database.execute("UPDATE facts SET kind = 'nonsense' WHERE sequence = 3")
    database.close()
    assert "fact 3, a 'nonsense', has no place there" in checked(capsys, 1, str(path))
    assert json.loads(checked(capsys, 1, str(path), "--json"))["ok"] is False
