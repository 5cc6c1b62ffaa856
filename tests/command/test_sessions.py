"""`agentslot sessions list` and `show`: looking at what a real agent left on the disk."""

import json
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from agentslot.session import (
    CommitRequest,
    ErrorKind,
    FileStore,
    RunId,
    RunStatus,
    RunTermination,
    TerminationSource,
)
from agentslot.standardagent.command import main
from tests.command.process import agentslot
from tests.session.scenario import new_session, run_ended, run_started

AGENTS = "tests.command.durable"
DENIED = "nobody can be asked here, there is no terminal: run again with --approve all"


@pytest.fixture
def store(folder: Path) -> Path:
    """A folder with one Session: a call that was denied, and an answer."""
    agentslot("run", f"{AGENTS}:writer", "Write \x1b[31ma.txt,\nplease.")
    return folder / "sessions"


def lines(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["sessions", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


def test_a_list_has_one_line_a_session(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [line] = lines(capsys, "list", str(store))
    assert line.startswith("session-")
    assert "  test  default  revision " in line
    assert line.endswith("  Write [31ma.txt, please.")


def test_a_list_in_json_has_one_object_a_session(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [line] = lines(capsys, "list", str(store), "--json")
    record = json.loads(line)
    assert (record["agent"], record["workspace"], record["parent"]) == ("test", "default", None)
    assert record["session_id"].startswith("session-")


def test_a_transcript_is_readable_and_harmless(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = lines(capsys, "show", str(store))
    assert shown[1:] == [
        "",
        "user #2: Write a.txt,",
        "please.",
        "→ write a.txt",
        f"✗ write: approval_denied: write was not run: {DENIED}",
        "",
        "assistant: I did what I could.",
        "-- run completed",
    ]


def test_a_transcript_says_why_a_run_ended_unless_its_status_does(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = RunTermination(TerminationSource.MODEL, ErrorKind.UNAVAILABLE, "timeout", "too slow")

    async def write() -> None:
        async with FileStore(folder / "sessions") as store:
            state = await store.create(new_session())
            for name in ("canceled", "failed"):
                run = RunId(name)
                end = run_ended(state.revision, RunStatus(name), run)
                if name == "failed":
                    end = replace(end, fact=replace(end.fact, termination=failed))
                begin = run_started(state.revision, run)
                request = CommitRequest(state.id, state.revision, name, (begin, end))
                state = (await store.commit(request)).state

    anyio.run(write)
    shown = lines(capsys, "show", str(folder / "sessions"))
    assert [line for line in shown if line.startswith("-- ")] == [
        "-- run canceled",
        "-- run failed: too slow",
    ]


def test_long_results_are_cut_in_a_transcript(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agentslot("run", f"{AGENTS}:reader", "go")
    shown = lines(capsys, "show", str(folder / "sessions"))
    assert shown.count("    done") == 20
    assert "    … 10 more lines" in shown


def test_a_transcript_in_json_is_every_fact(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = [json.loads(line) for line in lines(capsys, "show", str(store), "--json")]
    assert [fact["sequence"] for fact in facts] == list(range(1, len(facts) + 1))
    assert facts[0]["payload"]["kind"] == "run"


def test_one_session_of_several_can_be_chosen(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = lines(capsys, "list", str(store))[0].split()[0]
    agentslot("run", f"{AGENTS}:talker", "hello")
    assert lines(capsys, "show", str(store))[2] == "user #2: hello"
    assert lines(capsys, "show", str(store), "--session", first)[2].startswith("user #2: Write")
    assert main(["sessions", "show", str(store), "--session", "gone"]) == 1
    assert "there is no session 'gone'" in capsys.readouterr().err


def test_without_a_folder_those_of_chat_are_meant(
    store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    state = store.parent / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    for action in ("list", "tree"):
        assert main(["sessions", action]) == 0
        assert capsys.readouterr() == ("", f"no sessions in {state / 'agentslot' / 'sessions'}\n")
    (state / "agentslot" / "sessions").mkdir(parents=True)
    store.rename(state / "agentslot" / "sessions" / "project-1234")
    assert len(lines(capsys, "list")) == 1


def test_what_is_not_there_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sessions", "list", "nowhere"]) == 2
    assert capsys.readouterr().err == "agentslot: there is no folder or file 'nowhere'\n"
    assert main(["sessions", "show", "session-1"]) == 2
    assert "'session-1'; name a session with --session" in capsys.readouterr().err
    assert main(["sessions", "show", str(folder)]) == 1
    assert "there is no session that can be read" in capsys.readouterr().err
