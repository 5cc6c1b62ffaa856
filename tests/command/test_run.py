"""`agentslot run`."""

import base64
import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.command.process import COMMAND, Process, Terminal, agentslot, environment

AGENTS = "tests.command.agents"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


def records(text: str) -> list[dict[str, object]]:
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def test_the_answer_goes_to_standard_output_and_activity_to_standard_error() -> None:
    done = agentslot("run", f"{AGENTS}:calculator", "What is 2+2?")
    assert (done.returncode, done.stdout) == (0, "2+2 is 4.\n")
    lines = done.stderr.splitlines()
    assert lines[0] == "session s1"
    assert lines[1] == "→ add a=2 b=2"
    assert lines[2].startswith("✓ add 0.")


def test_a_prompt_can_come_from_standard_input() -> None:
    done = agentslot("run", f"{AGENTS}:echo_agent", "-", stdin="two\nlines\n")
    assert done.stdout == "echo: two\nlines\n"


@pytest.mark.parametrize(
    "words", [("--workspace", "here", "hi"), ("--json", "--", "-5"), ("--approve=all", "-")]
)
def test_a_prompt_may_stand_behind_the_options(words: tuple[str, ...]) -> None:
    done = agentslot("run", f"{AGENTS}:echo_agent", *words, stdin="hi")
    assert done.returncode == 0, done.stderr
    assert f"echo: {'-5' if '--' in words else 'hi'}" in done.stdout


@pytest.mark.parametrize("words", [("--json", "two", "words"), ("--json", "--nope"), ("a", "b")])
def test_what_is_left_over_is_wrong_usage_of_that_command(words: tuple[str, ...]) -> None:
    done = agentslot("run", f"{AGENTS}:echo_agent", *words)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: agentslot run ")
    assert "error: unrecognized arguments: " in done.stderr


def test_json_is_one_object_a_line_and_nothing_else() -> None:
    done = agentslot("run", "--json", f"{AGENTS}:calculator", "What is 2+2?")
    assert done.returncode == 0
    lines = records(done.stdout)
    assert lines[0] == {"type": "session", "session_id": "s1", "revision": 1, "repairs": []}
    assert {"tool_started", "tool_finished", "text", "revision"} <= {r["type"] for r in lines}
    result = lines[-1]
    assert (result["type"], result["status"]) == ("result", "completed")
    assert (result["text"], result["error"]) == ("2+2 is 4.", None)
    assert done.stderr == ""


@pytest.mark.parametrize("option", ["--json", "--approve=ask"])
def test_what_tools_and_their_children_print_stays_out_of_the_answer(option: str) -> None:
    done = agentslot("run", option, f"{AGENTS}:noisy", "hello")
    assert "noise" not in done.stdout
    for source in ("tool", "child", "plugin"):
        assert f"noise from a {source}" in done.stderr
    if option == "--json":
        assert records(done.stdout)[-1]["text"] == "echo: hello"
    else:
        assert done.stdout == "echo: hello\n"


def test_a_run_that_fails_gives_a_code_and_says_why() -> None:
    done = agentslot("run", f"{AGENTS}:failing", "go")
    assert (done.returncode, done.stdout) == (1, "")
    assert "run failed: the provider refused the request (400) [model/bad_request]" in done.stderr


def test_a_run_that_fails_says_why_in_json() -> None:
    done = agentslot("run", "--json", f"{AGENTS}:failing", "go")
    assert done.returncode == 1
    result = records(done.stdout)[-1]
    assert result["status"] == "failed"
    assert result["error"] == {
        "source": "model",
        "kind": "unavailable",
        "code": "bad_request",
        "message": "the provider refused the request (400)",
    }


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((f"{AGENTS}:echo_agent", "hi", "--session", "gone"), 1, "no Session 'gone'"),
        (("no_such_module:application", "hi"), 2, "there is no module 'no_such_module'"),
        ((f"{AGENTS}:echo_agent", "  "), 2, "the prompt is empty"),
        ((f"{AGENTS}:plain", "hi"), 2, "'plain' is no agent"),
        ((f"{AGENTS}:echo_agent", "hi", "--session", "a", "--agent", "b"), 2, "give only one"),
    ],
)
def test_errors_are_one_line_or_one_json_object(
    arguments: tuple[str, ...], code: int, message: str
) -> None:
    done = agentslot("run", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    done = agentslot("run", "--json", *arguments)
    assert done.returncode == code
    [record] = records(done.stdout)
    assert record["type"] == "error"
    assert message in str(record["message"])


def test_without_a_terminal_approvals_are_denied_with_a_reason() -> None:
    done = agentslot("run", f"{AGENTS}:writer", "go")
    assert done.stdout == (
        "not written: nobody can be asked here, there is no terminal: run again with --approve all"
        "\n"
    )


def test_approvals_that_the_person_chose_to_deny_say_so() -> None:
    done = agentslot("run", "--approve", "none", f"{AGENTS}:writer", "go")
    assert done.stdout == "not written: --approve none denies every call that needs approval\n"


def test_the_end_of_the_input_is_no_answer_to_an_approval() -> None:
    with Terminal("run", f"{AGENTS}:writer", "go") as terminal:
        terminal.shows("allow it?")
        terminal.types("\x04")
        terminal.shows("not written: nobody answered: the input ended")
        assert terminal.ended() == 0


def test_approvals_can_be_given_in_advance() -> None:
    assert agentslot("run", "--approve", "all", f"{AGENTS}:writer", "go").stdout == "written\n"


@pytest.mark.parametrize("option", ["--json", "--approve=ask"])
def test_a_reader_that_goes_away_is_no_error(option: str) -> None:
    with subprocess.Popen(
        [*COMMAND, "run", option, f"{AGENTS}:verbose", "go"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(PYTHONUNBUFFERED="1"),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
        assert process.wait(30) == 141


def test_nothing_to_do_is_said() -> None:
    done = agentslot("run", f"{AGENTS}:echo_agent")
    assert done.returncode == 2
    assert "has no channel that listens" in done.stderr


def test_without_a_prompt_a_mounted_terminal_is_talked_to() -> None:
    with Terminal("run", "tests.command.durable:terminal") as terminal:
        terminal.shows("> ")
        terminal.types("hello\n")
        terminal.shows("Hello yourself.\n> ")
        terminal.types("\x03")
        assert terminal.ended() == 130


@pytest.mark.usefixtures("folder")
def test_a_prompt_is_answered_in_one_session_also_where_a_terminal_is_mounted() -> None:
    done = agentslot("run", "tests.command.durable:terminal", "-", stdin="hello\n")
    assert (done.returncode, done.stdout) == (0, "Hello yourself.\n")
    assert done.stderr.count("session ") == 1


def test_approvals_are_asked_for_in_the_terminal() -> None:
    for typed, status in (("y\n", "✓ write"), ("\x04", "✗ write: approval_denied")):
        with Terminal("run", "tests.command.durable:writer", "go") as terminal:
            terminal.shows("? write\n  path: a.txt\n")
            terminal.shows("say why not: ")
            terminal.types(typed)
            terminal.shows(status)
            terminal.shows("I did what I could.\n")
            assert terminal.ended() == 0


def interrupted(agent: str, times: int, *options: str) -> subprocess.CompletedProcess[str]:
    """Run, and press Ctrl-C each time the process is known to be ready for it."""
    with Process("run", *options, f"{AGENTS}:{agent}", "go") as process:
        process.prints("working")
        for number in range(times):
            process.send_signal(signal.SIGINT)
            if number + 1 < times:
                process.reports("Ctrl-C again")
        return process.ended()


def test_control_c_cancels_the_run_and_its_end_is_shown() -> None:
    done = interrupted("busy", 1)
    assert done.returncode == 130
    assert "run canceled: canceled [runtime/canceled]" in done.stderr
    assert "Traceback" not in done.stderr
    done = interrupted("busy", 1, "--json")
    assert done.returncode == 130
    assert records(done.stdout)[-1]["status"] == "canceled"


def test_control_c_twice_does_not_wait_for_the_run() -> None:
    done = interrupted("stubborn", 2)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr


def test_the_help_shows_an_example(tmp_path: Path) -> None:
    done = agentslot("run", "--help")
    assert done.returncode == 0
    assert '$ agentslot run examples.reference:application "What is 2+2?"' in done.stdout


def test_files_go_along_with_the_prompt_as_artifacts(folder: Path) -> None:
    (folder / "dot.png").write_bytes(PNG)
    (folder / "notes.txt").write_text("blue?", encoding="utf-8")
    files = ("--attach", "dot.png", "--attach", "notes.txt")
    done = agentslot("run", "tests.command.durable:viewer", "What is it?", *files)
    assert (done.returncode, done.stdout) == (0, "A blue dot.\n"), done.stderr
    [session] = (folder / "sessions").glob("*.jsonl")
    said = session.read_text(encoding="utf-8")
    for name, media_type in (("dot.png", "image/png"), ("notes.txt", "text/plain")):
        assert name in said
        assert media_type in said
    kept = [path.read_bytes() for path in (folder / "artifacts").iterdir()]
    assert sorted(content.endswith(PNG) for content in kept) == [False, True]


@pytest.mark.parametrize(
    ("application", "options", "code", "message"),
    [
        ("durable:viewer", ("hi", "--attach", "gone.png"), 1, "'gone.png' cannot be read: No such"),
        ("durable:viewer", ("hi", "--attach", "."), 1, "'.' cannot be read: Is a directory"),
        ("durable:viewer", ("--attach", "dot.png"), 2, "--attach goes with a prompt"),
        ("durable:talker", ("hi", "--attach", "dot.png"), 1, "add FileArtifactsModule(folder)"),
    ],
)
def test_a_file_that_cannot_go_along_is_named_and_nothing_is_sent(
    application: str, options: tuple[str, ...], code: int, message: str, folder: Path
) -> None:
    (folder / "dot.png").write_bytes(PNG)
    done = agentslot("run", f"tests.command.{application}", *options)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
