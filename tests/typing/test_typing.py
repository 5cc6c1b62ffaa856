"""Both checkers agree with what these files assert, and would notice if it were otherwise."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FILES = sorted(
    path for path in HERE.glob("*.py") if path.name not in {"__init__.py", Path(__file__).name}
)
WRONG = """
from typing import assert_type
from agentslot import One
assert_type(One[int]("x"), One[str])
"""

CHECKERS = {
    "mypy": ["mypy", "--config-file", str(ROOT / "pyproject.toml")],
    "basedpyright": ["basedpyright", "--project", str(ROOT / "pyproject.toml")],
}
pytestmark = [pytest.mark.parametrize("checker", CHECKERS), pytest.mark.timeout(300)]


def check(checker: str, *files: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *CHECKERS[checker], *map(str, files)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_inferred_types_are_the_asserted_ones(checker: str) -> None:
    assert {path.name for path in FILES} == {"components.py", "modules.py", "slots.py"}

    result = check(checker, *FILES)

    assert result.returncode == 0, result.stdout


def test_a_wrong_assertion_would_be_noticed(checker: str, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG, encoding="utf-8")

    result = check(checker, wrong)

    assert result.returncode == 1
    assert "One[str]" in result.stdout
