"""The examples that we show are run: code blocks of documents and examples of docstrings."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repository.house import ROOT


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that has nothing but the root's conftest and the vendor it starts."""
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "tests/vendor.py", tmp_path / "tests")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return tmp_path


def outcome(project: Path, *arguments: str) -> str:
    """Pytest's closing line."""
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    return result.stdout.splitlines()[-1]


def test_the_python_blocks_of_a_document_share_their_names_and_others_are_not_run(
    project: Path,
) -> None:
    (project / "guide.md").write_text(
        "```python\nanswer = 42\n```\n\n"
        "```bash\nexit 1\n```\n\n"
        "```python\nassert answer == 42\n```\n",
        encoding="utf-8",
    )

    assert outcome(project).startswith("2 passed")


def test_a_wrong_block_and_a_wrong_docstring_example_fail(project: Path) -> None:
    (project / "guide.md").write_text("```python\nassert False\n```\n", encoding="utf-8")
    package = project / "agentslot"
    package.mkdir()
    (package / "__init__.py").write_text('"""One.\n\n>>> 1 + 1\n3\n"""\n', encoding="utf-8")

    assert outcome(project).startswith("2 failed")


def test_a_document_runs_in_an_empty_folder(project: Path) -> None:
    (project / "guide.md").write_text(
        "```python\nimport os\n\nassert os.listdir() == []\nopen('left', 'w').close()\n```\n",
        encoding="utf-8",
    )

    assert outcome(project).startswith("1 passed")
    assert not (project / "left").exists()


def test_shuffled_tests_keep_the_order_of_a_documents_blocks(project: Path) -> None:
    blocks = ["```python\ncount = 0\n```\n"]
    blocks += [f"```python\nassert count == {n}\ncount += 1\n```\n" for n in range(20)]
    (project / "guide.md").write_text("\n".join(blocks), encoding="utf-8")
    (project / "test_order.py").write_text(
        "import pytest\nran = []\n"
        "@pytest.mark.parametrize('n', range(20))\ndef test_it(n): ran.append(n)\n"
        "def test_last(): assert ran == list(range(20))\n",
        encoding="utf-8",
    )

    assert outcome(project).startswith("42 passed")
    assert outcome(project, "--shuffle", "1").startswith("1 failed, 41 passed")
