"""The demonstration as a newcomer runs it, and what it would say if a promise were broken."""

import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentslot.session import (
    MessageId,
    RunId,
    RunStatus,
    SessionId,
    StepId,
    TokenUsage,
    ToolCall,
    ToolCallId,
    ToolStatus,
)
from examples.demo.gate import Run
from examples.demo.record import CallRecord, Record
from examples.demo.report import killed_command
from examples.loopback_model import MODEL

ROOT = Path(__file__).parents[2]
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def demo(folder: Path, *options: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    inherited = {name: value for name, value in os.environ.items() if "AGENTSLOT" not in name}
    return subprocess.run(
        [sys.executable, "-m", "examples.demo", "--sessions", folder / "sessions", *options],
        cwd=ROOT,
        env={**inherited, "TMPDIR": str(folder), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )


def in_order(text: str, *parts: str) -> None:
    position = 0
    for part in parts:
        position = text.find(part, position)
        assert position >= 0, f"{part!r} is missing or too early in:\n{text}"
        position += len(part)


@pytest.mark.timeout(180)
def test_the_agent_is_killed_in_a_test_run_goes_on_and_ends_with_green_tests(
    tmp_path: Path,
) -> None:
    done = demo(tmp_path)

    assert done.returncode == 0, done.stdout
    in_order(
        done.stdout,
        "model    loopback-1 at http://127.0.0.1:",
        "1 What runs",
        "session.file",
        "2 The agent works",
        "✓ bash",
        "FAILED (failures=2)",
        "→ file_edit path=shop/invoice.py",
        "✓ file_edit",
        "3 Killed with SIGKILL",
        "resumed at revision",
        "? bash python -m unittest",
        "Outcome unknown",
        "→ bash python -m unittest",
        "all tests pass",
        "4 What came of it",
        "✓ tests",
        "OK",
        "+    discount = gross * volume_discount(quantity) // 10_000",
        "✓ killed command   ran once",
        "✓ runs             interrupted, then completed",
        "tokens",
        "cost             $0.0",
        f"{tmp_path / 'sessions'}",
        "look at it",
    )
    assert "✗" not in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["sessions"]

    look = shlex.split(done.stdout.rpartition("look at it")[2])
    shown = subprocess.run(look, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    in_order(
        shown.stdout, "The tests of this project fail", "it is not run again", "all tests pass"
    )


@pytest.mark.timeout(180)
def test_the_environment_names_another_model_and_a_second_demonstration_has_its_own_session(
    tmp_path: Path, base_url: str
) -> None:
    endpoint = {
        "AGENTSLOT_BASE_URL": base_url,
        "AGENTSLOT_MODEL": MODEL,
        "AGENTSLOT_API_KEY": "do-not-show",
    }
    first = demo(tmp_path, "--keep")
    second = demo(tmp_path, "--keep", **endpoint)

    assert first.returncode == second.returncode == 0, second.stdout
    assert f"model    {MODEL} at {base_url}\n" in second.stdout
    assert "cost             unknown" in second.stdout
    assert "do-not-show" not in second.stdout
    assert len(list((tmp_path / "sessions").glob("*.jsonl"))) == 2
    assert len(list(tmp_path.glob("agentslot-demo-*/project/shop/invoice.py"))) == 2


@pytest.mark.timeout(180)
def test_a_model_that_cannot_be_asked_fails_the_demonstration(
    tmp_path: Path, base_url: str
) -> None:
    done = demo(
        tmp_path,
        AGENTSLOT_BASE_URL=base_url,
        AGENTSLOT_MODEL="no-such-model",
        AGENTSLOT_API_KEY="k",
    )

    assert done.returncode == 1
    assert "never ran Python after an edit" in done.stdout


@pytest.fixture
def connection() -> Iterator[socket.socket]:
    with socket.socket() as unused:
        yield unused


def call(name: str, start: int, end: int, status: ToolStatus) -> CallRecord:
    """A call that lasted from one minute after noon to another."""
    made = ToolCall(
        ToolCallId(name), name, MessageId("m"), RunId("r"), StepId("s"), "bash", '{"command": "c"}'
    )
    return CallRecord(made, status, NOON + timedelta(minutes=start), NOON + timedelta(minutes=end))


def record(*calls: CallRecord) -> Record:
    runs = (RunStatus.INTERRUPTED, RunStatus.COMPLETED)
    return Record(SessionId("session"), Path("f"), runs, calls, 1, TokenUsage())


@pytest.mark.parametrize(
    ("minutes", "told"), [((1, 5), "once"), ((1, 3, 5), "2 times"), ((1, 5, 9), "2 times")]
)
def test_a_killed_command_that_ran_again_would_be_noticed(
    connection: socket.socket, minutes: tuple[int, ...], told: str
) -> None:
    killed = call("killed", 0, 2, ToolStatus.OUTCOME_UNKNOWN)
    later = call("later", 4, 6, ToolStatus.SUCCEEDED)
    runs = [Run(minute, NOON + timedelta(minutes=minute), connection) for minute in minutes]

    finding = killed_command(runs, record(killed, later))

    assert told in finding.text
    assert finding.holds is (told == "once")


def test_a_killed_command_that_is_not_on_record_would_be_noticed() -> None:
    finding = killed_command([], record(call("done", 0, 2, ToolStatus.SUCCEEDED)))

    assert finding.holds is False
