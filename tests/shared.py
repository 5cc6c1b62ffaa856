"""The case book and recorded vendor answers: beside the project, or where AGENTSLOT_SHARED says."""

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("AGENTSLOT_SHARED") or Path(__file__).parents[2] / "shared")


def shared(relative: str) -> Path:
    """Path of a shared file or folder; without it the test is skipped, or the module on import."""
    path = SHARED / relative
    if not path.exists():
        pytest.skip(f"shared test material is not here: {relative}", allow_module_level=True)
    return path
