"""`agentslot sessions` on a PostgreSQL database, as somebody who looks after it uses it."""

import json
import sqlite3
import sys
from pathlib import Path

import anyio
import pytest

from agentslot.session import FileStore, Loaded, PostgresStore, SessionId, SqliteStore, rows
from agentslot.session.postgresdriver import connect
from agentslot.standardagent.command import main
from tests.command.stored import ticking, write_family, write_session
from tests.session.conftest import postgres, postgres_server
from tests.session.longsessions import next_context, write_many_contexts
from tests.session.scenario import request

__all__ = ["postgres", "postgres_server"]


@pytest.fixture
def family(postgres: str) -> str:
    """Where a database with the Sessions of `write_family` is."""
    write_family(lambda: PostgresStore(postgres, clock=ticking()))
    return postgres


def lines(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> list[str]:
    assert main(["sessions", *arguments]) == code
    return capsys.readouterr().out.splitlines()


def problem(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 1) -> str:
    assert main(["sessions", *arguments]) == code
    return capsys.readouterr().err


def do(dsn: str, sql: str) -> None:
    async def execute() -> None:
        connections = await connect(dsn, 1)
        async with connections.lend() as database:
            await database.execute(sql)
        await connections.close()

    anyio.run(execute)


def test_sessions_are_listed_drawn_shown_forked_and_exported(
    family: str, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = lines(capsys, "list", "--store", family)
    assert [line.split()[0] for line in listed] == ["sum", "early", "deep", "late", "s1"]
    assert lines(capsys, "tree", "--store", family)[0] == "s1  12 facts  Fix the build."
    assert "user #11: Now the tests." in lines(capsys, "show", "--store", family, "--session", "s1")
    [child] = lines(capsys, "fork", "--store", family, "--session", "s1", "--before", "11")
    [*_, last] = lines(capsys, "show", "--store", family, "--session", child, "--json")
    assert json.loads(last)["sequence"] == 9
    assert lines(capsys, "export", "--store", family)[0] == "# Fix the build."


def test_the_address_may_stand_in_the_environment_where_no_path_is_given(
    family: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTSLOT_STORE", family)
    assert len(lines(capsys, "list")) == 5
    path = folder / "sessions.db"
    write_session(lambda: SqliteStore(path, clock=ticking()), "Another.", "Done.")
    assert len(lines(capsys, "list", str(path))) == 1


def test_whoever_may_only_read_can_look_at_everything(
    family: str, capsys: pytest.CaptureFixture[str]
) -> None:
    do(
        family,
        "CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA agentslot TO reader;"
        "GRANT SELECT ON ALL TABLES IN SCHEMA agentslot TO reader",
    )
    reader = family.replace("//postgres:", "//reader:")
    assert len(lines(capsys, "tree", "--store", reader)) == 5
    assert len(lines(capsys, "check", "--store", reader)) == 5
    told = problem(capsys, "fork", "--store", reader)
    assert "permission denied" in told
    assert "let the owner of the schema" in told
    do(family, "DROP OWNED BY reader; DROP ROLE reader")


def test_damage_is_explained_also_deep_in_the_past_and_hides_no_other_session(
    family: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "NEWEST_FACTS", 2)
    assert len(lines(capsys, "check", "--store", family)) == 5
    do(
        family,
        """UPDATE agentslot.facts SET payload = '{"kind":"?"}'
           WHERE (session, sequence) = ('s1', 2);
           UPDATE agentslot.sessions SET lineage = '[]' WHERE id = 'late';
           DELETE FROM agentslot.facts WHERE (session, sequence) = ('deep', 3)""",
    )
    told = "\n".join(lines(capsys, "check", "--store", family, code=1))
    assert "PostgreSQL: session s1: fact 2: " in told
    assert "1 facts are intact; to keep all of them, run the same check with --salvage" in told
    assert "PostgreSQL: session late: Input should be an object" in told
    assert "PostgreSQL: session deep: fact 3 is missing" in told
    assert told.count("no problems") == 2
    records = map(json.loads, lines(capsys, "check", "--store", family, "--json", code=1))
    damaged = {record["session_id"] for record in records if not record["ok"]}
    assert damaged == {"s1", "late", "deep"}
    assert len(lines(capsys, "list", "--store", family)) == 5
    assert lines(capsys, "tree", "--store", family)[0].startswith("late  DAMAGED")


def test_what_is_intact_in_a_database_becomes_a_new_session_and_the_old_one_stays(
    family: str, capsys: pytest.CaptureFixture[str]
) -> None:
    do(
        family,
        """UPDATE agentslot.facts SET payload = '{"kind":"?"}'
           WHERE (session, sequence) = ('s1', 11);
           UPDATE agentslot.facts SET kind = 'tool_call'
           WHERE (session, sequence) = ('late', 2)""",
    )
    before = lines(capsys, "check", "--store", family, "--json", code=1)
    saved = {
        record["session_id"]: record
        for record in map(
            json.loads, lines(capsys, "check", "--store", family, "--salvage", "--json")
        )
        if not record["ok"]
    }
    kept = {session: (r["intact_facts"], r["salvageable_facts"]) for session, r in saved.items()}
    assert kept == {"s1": (10, 10), "late": (1, 1)}
    shown = lines(capsys, "show", "--store", family, "--session", saved["s1"]["salvaged"])
    assert "user #2: Fix the build." in shown
    assert "assistant: Done." in shown
    after = lines(capsys, "check", "--store", family, "--json", code=1)
    assert set(before) < set(after)
    new = [json.loads(line) for line in set(after) - set(before)]
    assert {record["session_id"] for record in new} == {r["salvaged"] for r in saved.values()}
    assert all(record["ok"] for record in new)


def test_a_store_of_somebody_else_need_not_tell_what_is_intact(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "theirs.py").write_text(
        """
from pathlib import Path

from agentslot.session import FileStore, SessionDamagedError


class Store(FileStore):
    async def load(self, session_id):
        raise SessionDamagedError(Path("disk"), "it smells of smoke")


def store():
    return Store("sessions")
""",
        encoding="utf-8",
    )
    write_session(lambda: FileStore(folder / "sessions", clock=ticking()), "Fix it.", "Done.")
    told = lines(capsys, "check", "--store", "theirs:store", "--salvage", code=1)
    assert told == [
        "theirs:store: session s1: it smells of smoke",
        "  theirs:store cannot tell what is intact of it",
    ]


def test_damage_deep_in_the_past_of_a_session_in_sqlite_is_found_too(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "NEWEST_FACTS", 2)
    path = folder / "sessions.db"
    write_session(lambda: SqliteStore(path, clock=ticking()), "Fix it.", "Done.")
    with sqlite3.connect(path) as database:
        database.execute('UPDATE facts SET payload = \'{"id":"u1"}\' WHERE sequence = 2')
    database.close()
    assert "fact 2: role: Field required" in lines(capsys, "check", str(path), code=1)[0]
    assert len(lines(capsys, "list", str(path))) == 1


def test_a_database_without_sessions_stays_as_it_is(
    postgres: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        told = problem(capsys, "list", "--store", postgres)
        assert "no tables of sessions in this database: either it is the wrong one" in told
    write_family(lambda: PostgresStore(postgres))
    do(postgres, "TRUNCATE agentslot.sessions CASCADE")
    assert problem(capsys, "list", "--store", postgres, code=0) == "no sessions in PostgreSQL\n"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE agentslot.format SET version = 9", "are of version 9, and this release reads"),
        ("ALTER TABLE agentslot.sessions RENAME COLUMN lineage TO line", '"lineage" does not'),
    ],
)
def test_tables_of_another_kind_are_told_of(
    family: str, change: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    do(family, change)
    assert told in problem(capsys, "list", "--store", family)


def test_a_database_that_is_not_there_is_told_of(
    postgres: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = problem(capsys, "tree", "--store", postgres.replace("/sessions_", "/nothing_"))
    assert "does not exist; give the name of another database, or make this one" in told


DSN = "postgresql://me:hunter2@127.0.0.1:1/sessions"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["list", "--store", DSN], 1, "see whether the server runs and the DSN names it"),
        (["list", "--store", "postgresql://me:1/hunter2@h/x"], 1, "cannot be reached with this"),
        (["list", "--store", f"x{DSN}"], 2, "there is no module 'xpostgresql'"),
        (["list", DSN], 2, "give the address of a database with --store, or in AGENTSLOT_STORE"),
        (["undo", DSN], 1, "no change is recorded in 'postgresql:/me:***@"),
    ],
)
def test_no_password_is_shown_whatever_goes_wrong(
    arguments: list[str], code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = problem(capsys, *arguments, code=code)
    assert told in shown
    assert "hunter2" not in shown


def test_no_password_is_shown_of_what_stands_in_the_wrong_place(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["sessions", "--store", DSN, "list"])
    shown = capsys.readouterr().err
    assert "invalid choice: 'postgresql://me:***@127.0.0.1:1/sessions'" in shown
    assert "hunter2" not in shown


def test_without_the_extra_it_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("agentslot.session.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    assert "pip install agentslot[postgres]" in problem(capsys, "list", "--store", DSN)


def test_a_request_of_the_past_that_is_not_whole_is_damage(
    postgres: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "NEWEST_CONTEXTS", 2)
    anyio.run(write_contexts, postgres)
    assert lines(capsys, "check", "--store", postgres) == ["PostgreSQL: session s1: no problems"]
    do(postgres, "UPDATE agentslot.contexts SET view = '{}' WHERE version = 3")
    assert "Field required" in lines(capsys, "check", "--store", postgres, code=1)[0]


def test_a_request_that_an_agent_let_go_during_the_check_is_no_damage(
    postgres: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "NEWEST_CONTEXTS", 2)
    anyio.run(write_contexts, postgres)
    load = PostgresStore.load

    async def load_and_let_go(self: PostgresStore, session_id: SessionId) -> Loaded:
        loaded = await load(self, session_id)
        async with PostgresStore(postgres) as agent:
            state = (await load(agent, session_id)).state
            last = next_context(state, retain=False)
            await agent.commit(request(state, f"key-{state.revision}", last))
        return loaded

    monkeypatch.setattr(PostgresStore, "load", load_and_let_go)
    assert lines(capsys, "check", "--store", postgres) == ["PostgreSQL: session s1: no problems"]


async def write_contexts(dsn: str) -> None:
    async with PostgresStore(dsn) as store:
        await write_many_contexts(store)
