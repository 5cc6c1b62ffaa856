"""What is wrong around the command is said in a line."""

import subprocess
from pathlib import Path

import pytest

from tests.command.process import COMMAND, environment

FULL = Path("/dev/full")
UNREADABLE = Path("/proc/self/mem")


def shell(script: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command with what a shell does to it; it stands in place of `"$@"`."""
    return subprocess.run(
        ["/bin/sh", "-c", script, "sh", *COMMAND, *arguments],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=150,
        check=False,
    )


@pytest.mark.parametrize(
    "arguments",
    [("run", "examples.basic:app", "hi"), ("chat", "examples.basic:app"), ("doctor",)],
    ids=lambda arguments: arguments[0],
)
def test_a_folder_that_is_gone_is_named_as_the_reason(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    (folder := tmp_path / "folder").mkdir()
    done = shell('rmdir "$PWD"; exec "$@"', *arguments, folder=folder)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "agentslot: the folder that this was started in is gone: change to another one"
    )
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("arguments", [("catalog", "slots"), ("--version",)], ids=" ".join)
def test_output_that_cannot_be_written_is_an_error(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    done = shell(f'exec "$@" > {FULL}', *arguments, folder=tmp_path)
    reason = "agentslot: the output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, reason)


def test_a_closed_output_is_none(tmp_path: Path) -> None:
    done = shell('exec "$@" >&-', "catalog", "slots", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not UNREADABLE.exists(), reason="this system has no file that nobody can read")
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    done = shell('exec "$@"', "sessions", "show", str(UNREADABLE), folder=tmp_path)
    reason = f"agentslot: {UNREADABLE} cannot be read: Input/output error\n"
    assert (done.returncode, done.stderr) == (1, reason)
