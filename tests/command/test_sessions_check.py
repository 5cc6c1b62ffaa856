"""`agentslot sessions check`: explaining damage, and saving what is intact."""

import json
import sqlite3
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from agentslot.session import SqliteStore
from agentslot.standardagent.command import main
from tests.command.stored import commit, files, first_run, ticking, write_session
from tests.session.scenario import new_session


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
    assert "session s1, intact up to revision 3, 3 facts" in said
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


def altered(path: Path, sql: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(sql)
    connection.close()


@pytest.fixture
def database(folder: Path) -> Path:
    """Where two Sessions with the same life are: s1 and s2."""
    path = folder / "sessions.db"

    async def write() -> None:
        async with SqliteStore(path, clock=ticking()) as store:
            for name in ("s1", "s2"):
                state = await store.create(new_session(name))
                await commit(store, state, first_run("Fix it.", "Done."))

    anyio.run(write)
    return path


DAMAGE = [
    ("UPDATE facts SET kind = 'nonsense' WHERE sequence = 3", "fact 3, a 'nonsense', has no", 2, 2),
    ("UPDATE facts SET payload = '{' WHERE sequence = 8", "fact 8: Invalid JSON: EOF while", 7, 7),
    ("UPDATE facts SET payload = x'00' WHERE sequence = 8", "fact 8 has a value of another", 7, 7),
    ("UPDATE facts SET at = 'noon' WHERE sequence = 9", "fact 9: Invalid isoformat string", 8, 8),
    ("DELETE FROM facts WHERE sequence IN (5, 6)", "facts 5 to 6 are missing", 4, 4),
    ("DELETE FROM facts WHERE sequence > 8", "fact 9 is missing", 8, 8),
    (
        "UPDATE facts SET payload = json_set(payload, '$.call_id', 'x') WHERE kind = 'tool_result'",
        "fact 7 does not fit those before it: tool call 'x' is not recorded",
        6,
        5,
    ),
    ("UPDATE sessions SET model_config = '{'", "its model cannot be read", 9, 9),
    ("UPDATE sessions SET active_run = '{'", "Invalid JSON: EOF while parsing an object", 9, 9),
]


@pytest.mark.parametrize(("sql", "problem", "intact", "kept"), DAMAGE)
def test_what_is_intact_in_a_database_becomes_a_new_session_and_the_old_one_stays(
    sql: str,
    problem: str,
    intact: int,
    kept: int,
    database: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    only_one = sql if "WHERE" in sql else f"{sql} WHERE true"
    column = "id" if "sessions" in sql else "session"
    altered(database, f"{only_one} AND {column} = 's1'")
    before = dumped(database, "s1")
    some = "all of them" if kept == intact else f"the first {kept}"
    said = checked(capsys, 1, str(database))
    assert f"{database}: session s1: {problem}" in said
    assert f"\n  {intact} facts are intact; to keep {some}, run the same check with --s" in said
    assert f"{database}: session s2: no problems\n" in said
    assert dumped(database, "s1") == before
    records = checked(capsys, 0, str(database), "--salvage", "--json").splitlines()
    [record] = [each for each in map(json.loads, records) if not each["ok"]]
    assert (record["intact_facts"], record["salvageable_facts"]) == (intact, kept)
    assert dumped(database, "s1") == before
    saved = record["salvaged"]
    assert main(["sessions", "show", str(database), "--session", saved]) == 0
    assert "user #2: Fix it." in capsys.readouterr().out
    assert f"{database}: session {saved}: no problems" in checked(capsys, 1, str(database))
    assert main(["sessions", "tree", str(database)]) == 0
    assert f"└─ {saved}  at fact {kept}  " in capsys.readouterr().out.replace(" of 8", "").replace(
        " of 9", ""
    )


def dumped(path: Path, session: str) -> list[object]:
    """All rows of a Session."""
    with sqlite3.connect(path) as connection:
        rows: list[object] = [
            connection.execute(f"SELECT * FROM {table} WHERE {column} = ?", (session,)).fetchall()
            for table, column in (
                ("sessions", "id"),
                *((table, "session") for table in ("facts", "commits", "queue", "texts")),
            )
        ]
    connection.close()
    return rows


def test_a_session_of_a_database_whose_first_fact_is_gone_cannot_be_saved(
    database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    altered(database, "DELETE FROM facts WHERE session = 's1' AND sequence = 1")
    said = checked(capsys, 1, str(database), "--salvage")
    assert "session s1: fact 1 is missing\n  0 facts are intact, and a new session cannot" in said


def test_nothing_is_saved_in_a_database_that_somebody_has(
    database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    altered(database, "DELETE FROM facts WHERE session = 's1' AND sequence = 9")

    async def try_it() -> None:
        async with SqliteStore(database):
            code = await anyio.to_thread.run_sync(
                main, ["sessions", "check", "--salvage", str(database)]
            )
            assert code == 1

    anyio.run(try_it)
    assert "sessions_in_use" in capsys.readouterr().err
    assert "session s1: fact 9 is missing" in checked(capsys, 1, str(database))
