"""Ctrl-C, once and twice, in front of a real agent with a real store."""

import json
import re
import signal
from pathlib import Path

from tests.command.process import Process, Terminal, agentslot

AGENTS = "tests.command.durable"


def session_id(text: str) -> str:
    found = re.search(r"session (\S+)", text)
    assert found is not None, text
    return found.group(1).rstrip(",")


def stored(kind: str) -> list[dict[str, object]]:
    shown = agentslot("sessions", "show", "sessions", "--json")
    payloads = [json.loads(line)["payload"] for line in shown.stdout.splitlines()]
    return [payload for payload in payloads if payload["kind"] == kind]


def test_control_c_twice_keeps_what_was_done_and_marks_the_rest() -> None:
    with Process("run", f"{AGENTS}:batch", "go") as process:
        process.reports("→ slow", times=2)
        process.reports("✓ quick", times=2)
        process.send_signal(signal.SIGINT)
        process.reports("Ctrl-C again leaves at once")
        process.send_signal(signal.SIGINT)
        done = process.ended()
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    statuses = [result["status"] for result in stored("tool_result")]
    assert sorted(map(str, statuses)) == ["failed", "failed", "failed", "succeeded", "succeeded"]
    assert_the_session_goes_on(session_id(done.stderr))


def test_control_c_twice_ends_a_tool_that_will_not_end() -> None:
    with Process("run", f"{AGENTS}:stubborn_batch", "go") as process:
        process.reports("→ stubborn")
        process.send_signal(signal.SIGINT)
        process.reports("Ctrl-C again leaves at once")
        process.send_signal(signal.SIGINT)
        done = process.ended()
    assert done.returncode == 130
    assert agentslot("sessions", "check", "sessions").returncode == 0
    assert_the_session_goes_on(session_id(done.stderr))
    assert {result["status"] for result in stored("tool_result")} <= {
        "succeeded",
        "failed",
        "outcome_unknown",
    }
    assert len(stored("tool_result")) == len(stored("tool_call")) == 3


def assert_the_session_goes_on(session: str) -> None:
    done = agentslot("run", f"{AGENTS}:talker", "go on", "--session", session)
    assert done.returncode == 0, done
    # A Run that was cut off goes on first, and takes the first answer of the model.
    assert done.stdout.splitlines()[-1] in {"Hello yourself.", "Still here."}
    calls = {call["id"] for call in stored("tool_call")}
    assert {result["call_id"] for result in stored("tool_result")} == calls


def test_in_a_chat_control_c_cancels_the_run_and_at_the_prompt_it_leaves(folder: Path) -> None:
    with Terminal("chat", f"{AGENTS}:batch") as terminal:
        terminal.shows("> ")
        terminal.types("go\n")
        terminal.shows("→ slow", times=2)
        terminal.types("\x03")
        terminal.shows("canceling; Ctrl-C again leaves at once")
        terminal.shows("run canceled")
        terminal.shows("> ", times=2)
        terminal.types("\x03")
        assert terminal.ended() == 130
    assert "Traceback" not in terminal.screen
    assert_the_session_goes_on(session_id(terminal.screen))


def test_in_a_chat_control_c_twice_leaves() -> None:
    with Terminal("chat", f"{AGENTS}:stubborn_batch") as terminal:
        terminal.shows("> ")
        terminal.types("go\n")
        terminal.shows("→ stubborn")
        terminal.types("\x03")
        terminal.shows("canceling; Ctrl-C again leaves at once")
        terminal.types("\x03")
        assert terminal.ended() == 130
    assert "Traceback" not in terminal.screen
    assert_the_session_goes_on(session_id(terminal.screen))
