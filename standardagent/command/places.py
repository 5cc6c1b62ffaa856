"""Where the command keeps things."""

import os
from pathlib import Path


def state_folder() -> Path:
    """Folder for what outlives a call, by the XDG rules: a relative setting counts as none."""
    configured = Path(os.environ.get("XDG_STATE_HOME", ""))
    base = configured if configured.is_absolute() else Path.home() / ".local" / "state"
    return base / "agentslot"


def sessions_folder() -> Path:
    """Folder of the Sessions of `agentslot chat`."""
    return state_folder() / "sessions"
