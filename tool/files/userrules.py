"""The ignore rules of the user, which hold in every repository."""

import os
import subprocess
from contextlib import suppress
from pathlib import Path

from agentslot.tool.files.ignore import IgnoreLayer

_SECONDS = 5


def user_rules() -> tuple[IgnoreLayer, ...]:
    """Rules in the file that git is configured with, or in the place where it looks by default.

    It asks git, so call it once, in a worker thread.
    """
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    path = _configured() or config / "git/ignore"
    with suppress(OSError):
        return (IgnoreLayer("", path.expanduser().read_bytes()),)
    return ()


def _configured() -> Path | None:
    with suppress(OSError, subprocess.SubprocessError):
        asked = subprocess.run(
            ["git", "config", "--path", "--get", "core.excludesFile"],
            capture_output=True,
            check=True,
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
        )
        return Path(os.fsdecode(asked.stdout.rstrip(b"\n")))
    return None
