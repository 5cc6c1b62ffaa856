"""`agentslot sessions tree` and `fork`: where Sessions branch off, and branching them off."""

import json
from pathlib import Path

import pytest
from anyio.to_thread import run_sync

from agentslot.session import (
    AgentId,
    FileStore,
    Lineage,
    SessionId,
    SessionOverview,
    SessionSummary,
    SqliteStore,
    WorkspaceId,
)
from agentslot.standardagent.command import main
from agentslot.standardagent.command.sessions.tree import Branch, draw
from tests.command.stored import files, ticking, write_family
from tests.session.scenario import START

TREE = """\
s1  12 facts  Fix the build.
├─ early  from the start  0 facts
├─ sum  from the start  1 fact  In short: it works.
└─ late  at fact 7 of 12  10 facts  Use decimals.
   └─ deep  at fact 7 of 10  7 facts
"""


@pytest.fixture
def family(folder: Path) -> str:
    write_family(files(folder / "sessions"))
    return str(folder / "sessions")


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["sessions", *arguments]) == 0
    return capsys.readouterr().out


def test_branches_are_drawn_where_they_leave_the_trunk(
    family: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(capsys, "tree", family) == TREE


def test_a_database_is_drawn_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "sessions.db"
    write_family(lambda: SqliteStore(path, clock=ticking()))
    assert ran(capsys, "tree", str(path)) == TREE


def test_a_store_of_ones_own_is_named_by_what_makes_it(
    family: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "parts" / "mine.py").write_text(
        f"from agentslot.session import FileStore\ndef store():\n    return FileStore({family!r})\n"
    )
    assert ran(capsys, "tree", "--store", "parts.mine:store") == TREE
    assert main(["sessions", "tree", "--store", "parts.mine:store", family]) == 2
    assert "--store and PATH exclude each other" in capsys.readouterr().err


def test_a_store_that_cannot_name_its_sessions_can_still_show_one(
    family: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "parts" / "shy.py").write_text(
        "from agentslot.session import FileStore\n"
        "class Shy:\n"
        "    def __init__(self):\n"
        f"        self.load = FileStore({family!r}).load\n"
    )
    assert "In short" in ran(capsys, "show", "--store", "parts.shy:Shy", "--session", "sum")
    assert main(["sessions", "list", "--store", "parts.shy:Shy"]) == 2
    assert "cannot name all its sessions" in capsys.readouterr().err


def test_a_tree_in_json_names_parent_and_place(
    family: str, capsys: pytest.CaptureFixture[str]
) -> None:
    records = map(json.loads, ran(capsys, "tree", family, "--json").splitlines())
    places = {r["session_id"]: (r["parent"], r["branched_at"], r["facts"]) for r in records}
    assert places["late"] == ("s1", 7, 10)
    assert places["s1"] == (None, None, 12)


def test_a_branch_without_its_trunk_and_a_damaged_one_are_still_drawn(
    family: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in Path(family).glob("*.jsonl"):
        content = path.read_bytes()
        if b'"id":"s1"' in content.splitlines()[0]:
            path.unlink()
        if b'"id":"deep"' in content.splitlines()[0]:
            path.write_bytes(content.replace(b"hello", b"hallo").replace(b"Fix", b"Fax"))
    assert ran(capsys, "tree", family).splitlines() == [
        "sum  from s1, which is not here  1 fact  In short: it works.",
        "early  from s1, which is not here  0 facts",
        "late  from s1, which is not here  10 facts  Use decimals.",
        "└─ deep  DAMAGED",
    ]


def test_somebody_may_go_back_very_often(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:

    def branch(number: int) -> Branch:
        parent = SessionId(f"s{number - 1}") if number else None
        scope = AgentId("agent"), WorkspaceId("workspace")
        row = SessionSummary(SessionId(f"s{number}"), *scope, 1, START, parent)
        return Branch(SessionOverview(row, None), 1, Lineage(parent, 1, 1) if parent else None)

    assert len(list(draw([branch(number) for number in range(3000)]))) == 3000


@pytest.mark.parametrize(
    ("where", "facts"),
    [
        ([], 12),
        (["--at", "7"], 7),
        (["--at", "0"], 0),
        (["--before", "11"], 9),
        (["--before", "2"], 0),
        (["--step", "step-2"], 8),
    ],
)
def test_a_fork_has_the_past_up_to_where_it_was_asked_for(
    where: list[str], facts: int, family: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made = json.loads(ran(capsys, "fork", family, "--session", "s1", "--json", *where))
    assert (made["parent"], made["facts"]) == ("s1", facts)
    shown = ran(capsys, "show", family, "--session", made["session_id"], "--json")
    assert len(shown.splitlines()) == facts


def test_a_fork_prints_its_id_and_leaves_the_source_alone(
    family: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = ran(capsys, "show", family, "--session", "s1", "--json")
    forked = ran(capsys, "fork", family, "--session", "s1").strip()
    assert f"{forked}  at fact 12 of 12" in ran(capsys, "tree", family)
    assert ran(capsys, "show", family, "--session", "s1", "--json") == before


@pytest.mark.parametrize(
    ("where", "problem"),
    [
        (["--at", "5"], "fact 5 is not the end of a finished step or run: fork at 0 or at 7"),
        (["--at", "99"], "fact 99 is not the end of a finished step or run: fork at 12"),
        (["--before", "1"], "fact 1 of session s1 is no message of a person"),
        (["--before", "99"], "fact 99 of session s1 is no message of a person"),
        (["--step", "gone"], "session s1 has no step 'gone'"),
    ],
)
def test_a_place_where_nothing_can_be_cut_is_refused_with_one_where_it_can(
    where: list[str], problem: str, family: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sessions", "fork", family, "--session", "s1", *where]) == 1
    assert problem in capsys.readouterr().err


async def test_a_folder_that_an_agent_uses_can_be_read_and_not_forked_in(
    family: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with FileStore(family):
        assert await run_sync(main, ["sessions", "tree", family]) == 0
        assert capsys.readouterr().out == TREE
        assert await run_sync(main, ["sessions", "fork", family, "--session", "s1"]) == 1
        assert "is in use" in capsys.readouterr().err
