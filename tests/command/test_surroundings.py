"""What the command says when what is around it does not play along."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command.process import COMMAND, agentslot, environment

EVERY = ["run greeter:application hi", "chat", "doctor", "describe greeter:application"]


def shell(script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script in which `$A` is the command."""
    return subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        encoding="utf-8",
        env=environment(A=" ".join(COMMAND), **variables),
        timeout=150,
        check=False,
    )


@pytest.mark.parametrize("arguments", EVERY)
def test_a_current_folder_that_was_deleted_is_told(arguments: str, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    done = shell(f"cd gone && rmdir ../gone && $A {arguments}")
    assert done.returncode == 1
    assert "the current folder cannot be used" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", ["catalog slots", "doctor", "--help", "--version"])
def test_a_full_disk_under_standard_output_is_told(arguments: str) -> None:
    done = shell(f"$A {arguments} >/dev/full", PYTHONUNBUFFERED="")
    assert done.returncode == 1
    assert done.stderr == (
        "agentslot: the output, or a file, could not be written: No space left on device; make"
        " room and try again\n"
    )


@pytest.mark.parametrize("closed", [">&-", "<&-", "2>&-"])
def test_a_closed_stream_stops_nothing(closed: str) -> None:
    done = shell(f"$A catalog slots {closed}")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reader_that_went_away_ends_it_quietly() -> None:
    done = shell("set -o pipefail; $A catalog slots | true")
    assert (done.returncode in (0, 141), done.stderr) == (True, "")


def test_a_module_that_is_nowhere_says_where_was_looked(tmp_path: Path) -> None:
    done = agentslot("describe", "nope_nope:application")
    assert done.returncode == 2
    assert f"no module 'nope_nope' in {tmp_path}, nor is one installed" in done.stderr


def test_chance_likeness_is_no_suggestion() -> None:
    done = agentslot("describe", "os:app")
    assert (done.returncode, done.stderr) == (2, "agentslot: 'os' has no 'app'\n")


@pytest.mark.parametrize("option", ["--agent", "--workspace", "--session"])
def test_an_empty_name_is_refused(option: str) -> None:
    done = agentslot("run", "greeter:application", "hi", option, "")
    assert done.returncode == 2
    assert done.stderr == f"agentslot: {option} is empty: give a name, or leave it out\n"


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are others there")
def test_a_session_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    loop = tmp_path / "mem.jsonl"
    loop.symlink_to("/proc/self/mem")  # readable for nobody at its beginning, not even for root
    done = agentslot("sessions", "show", str(loop))
    assert done.returncode == 1
    assert f"{loop} cannot be read: " in done.stderr
    assert "Traceback" not in done.stderr
