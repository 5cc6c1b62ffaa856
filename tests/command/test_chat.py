"""`agentslot chat`."""

import shutil
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from examples.loopback_model.actions import make_call
from examples.loopback_model.conversation import Exchange
from examples.loopback_model.policy import Turn
from examples.loopback_model.server import ModelServer
from tests.command.process import ROOT, Terminal, agentslot

AGENTS = "tests.command.durable"


def test_an_agent_of_ones_own_is_talked_to_in_the_terminal() -> None:
    with Terminal("chat", f"{AGENTS}:talker") as terminal:
        terminal.shows("> ")
        terminal.types("hello\n")
        terminal.shows("Hello yourself.\n> ")
        terminal.types("/quit\n")
        assert terminal.ended() == 0


def test_an_approval_is_given_in_the_terminal() -> None:
    with Terminal("chat", f"{AGENTS}:writer") as terminal:
        terminal.shows("> ")
        terminal.types("go\n")
        terminal.shows("? write\n  path: a.txt\n  because write has the effect write\n")
        terminal.shows("say why not: ")
        terminal.types("y\n")
        terminal.shows("→ write a.txt\n✓ write")
        terminal.shows("I did what I could.\n> ")
        terminal.types("\x04")  # end of input
        assert terminal.ended() == 0


def test_the_latest_session_can_be_continued() -> None:
    first = agentslot("chat", f"{AGENTS}:talker", stdin="hello\n")
    assert first.returncode == 0
    again = agentslot("chat", f"{AGENTS}:talker", "--continue", stdin="still there?\n")
    assert first.stdout.split(",")[0] == again.stdout.split(",")[0]
    assert "revision 1\n" in first.stdout
    assert "revision 1\n" not in again.stdout
    other = agentslot("chat", f"{AGENTS}:talker", stdin="hello\n")
    assert other.stdout.split(",")[0] != first.stdout.split(",")[0]


def test_without_input_it_ends_without_a_prompt() -> None:
    done = agentslot("chat", f"{AGENTS}:talker", stdin="")
    assert done.returncode == 0
    assert "> " not in done.stdout


def test_two_chats_on_one_store_are_refused_with_the_holder_named() -> None:
    with Terminal("chat", f"{AGENTS}:talker") as terminal:
        terminal.shows("> ")
        done = agentslot("chat", f"{AGENTS}:talker", stdin="hello\n")
        assert done.returncode == 1
        assert "is in use by process" in done.stderr
        assert "Traceback" not in done.stderr
        terminal.types("/quit\n")
        assert terminal.ended() == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "AGENTSLOT_MODEL is not set: name a model there, or with --model"),
        (("--model", "m"), "AGENTSLOT_API_KEY is not set: put the key for https://api.openai.com"),
        (("--model", "m", "--workspace", "nowhere"), "AGENTSLOT_API_KEY is not set"),
        (
            ("--model", "m", "--base-url", "http://localhost?key=1"),
            "agentslot: base_url must have no user, query or fragment: it is no place for keys; it",
        ),
        (("greeter:application", "--model", "m"), "are for the built-in agent only"),
        (("greeter:application",), "'greeter' is no agent"),
        (("--session", "a", "--continue"), "not allowed with argument"),
    ],
)
def test_what_is_missing_is_named_and_the_code_is_2(options: tuple[str, ...], message: str) -> None:
    done = agentslot("chat", *options)
    assert done.returncode == 2
    assert message in done.stderr


def look_twice(_task: str, exchanges: Sequence[Exchange]) -> Turn:
    if len(exchanges) < 2:
        return Turn("I look.", [make_call("session_history", {})])
    return Turn("It was plums." if "Plums?" in exchanges[-1].result else "It was nothing.")


@contextmanager
def served(server: ModelServer) -> Generator[ModelServer]:
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def model() -> Generator[ModelServer]:
    with served(ModelServer()) as server:
        yield server


def test_the_built_in_agent_reads_its_own_session_unasked(folder: Path) -> None:
    with served(ModelServer(job=look_twice)) as model:
        done = agentslot(
            *("chat", "--model", "loopback-1", "--base-url", model.base_url),
            stdin="Plums?\n",
            AGENTSLOT_API_KEY="any",
            XDG_STATE_HOME=str(folder / "state"),
        )
    assert done.returncode == 0
    assert "It was plums." in done.stdout


def test_the_built_in_agent_repairs_a_project_and_asks_before_each_step(
    folder: Path, model: ModelServer
) -> None:
    project = folder / "project"
    shutil.copytree(ROOT / "examples" / "project", project)
    settings = {
        "AGENTSLOT_BASE_URL": model.base_url,
        "AGENTSLOT_MODEL": "loopback-1",
        "AGENTSLOT_API_KEY": "any",
        "XDG_STATE_HOME": str(folder / "state"),
    }
    with Terminal("chat", "--workspace", "project", **settings) as terminal:
        terminal.shows("> ")
        terminal.types("Make the failing test pass.\n")
        for question in range(1, 5):
            terminal.shows("say why not: ", times=question)
            terminal.types("y\n")
        terminal.shows("Done: all tests pass.")
        terminal.shows("\n> ", times=2)
        terminal.types("/quit\n")
        assert terminal.ended() == 0
    listed = agentslot("sessions", "list", **settings)
    assert "Make the failing test pass." in listed.stdout
