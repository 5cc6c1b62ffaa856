"""Everything is imported under the one name `agentslot`."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("session", "model", "tool", "interaction", "standardagent", "componentcatalog")


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    """Runs code in the repository's root, where the bare folders are importable."""
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_bare_folder_refuses_to_be_imported_and_names_the_right_import(folder: str) -> None:
    result = run_python(f"import {folder}")

    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].startswith("ImportError: import agentslot." + folder)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_is_a_subpackage_of_agentslot(folder: str) -> None:
    result = run_python(f"import agentslot.{folder} as package; print(package.__name__)")

    assert result.stdout == f"agentslot.{folder}\n", result.stderr
