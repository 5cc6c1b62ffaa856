"""Where the command keeps what outlives a call."""

import hashlib
import os
import re
from pathlib import Path

from agentslot.standardagent.command.failure import CommandError


def current_folder() -> Path:
    """The folder in which the command was started.

    Raises:
        CommandError: it is no longer there.
    """
    try:
        return Path.cwd()
    except OSError as error:
        raise CommandError(
            f"the current folder cannot be used, it may have been deleted ({error.strerror}):"
            " change to another folder and try again"
        ) from error


def sessions_folder() -> Path:
    """Folder of all Sessions of `agentslot chat`."""
    return _base("XDG_STATE_HOME", ".local/state") / "sessions"


def sessions_folder_of(workspace: Path) -> Path:
    """Folder of the Sessions of one workspace.

    Each has its own, since one process at a time owns a folder of Sessions.
    """
    return sessions_folder() / _name_of(workspace)


def changes_folder_of(workspace: Path) -> Path:
    """Folder of the recorded changes to files of one workspace."""
    return sessions_folder().with_name("changes") / _name_of(workspace)


def artifacts_folder_of(workspace: Path) -> Path:
    """Folder of what was attached and made in the Sessions of one workspace."""
    return sessions_folder().with_name("artifacts") / _name_of(workspace)


def goals_folder_of(workspace: Path) -> Path:
    """Folder of the goals of the Sessions of one workspace."""
    return sessions_folder().with_name("goals") / _name_of(workspace)


def models_folder() -> Path:
    """Folder of the models that run on this machine; what is in it can be fetched again."""
    return _base("XDG_CACHE_HOME", ".cache") / "models"


def _base(variable: str, default: str) -> Path:
    """Our part of one of the user's folders, by the XDG rules: a relative setting is none."""
    configured = Path(os.environ.get(variable, ""))
    return (configured if configured.is_absolute() else Path.home() / default) / "agentslot"


def _name_of(workspace: Path) -> str:
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", workspace.name).strip("-.") or "root"
    digest = hashlib.sha256(os.fsencode(workspace)).hexdigest()[:8]
    return f"{name}-{digest}"
