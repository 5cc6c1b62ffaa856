"""The refactoring as a person runs it, and what its model refuses."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agentslot.tool import Tool
from agentslot.tool.files import Browser, FileRoot, FileTools
from agentslot.tool.search import Searcher
from examples.loopback_model.conversation import Call, Exchange
from examples.loopback_model.errors import RequestError
from examples.loopback_model.server import Job
from examples.refactoring.model.__main__ import rename
from examples.refactoring.model.renaming import Renaming, used_names
from tests.tool.invoking import invoke, output

ROOT = Path(__file__).parents[2]
TASK = "Rename `old_name` to `new_name`."

a_clone = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no clone of the repository")


def refactoring(folder: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    inherited = {name: value for name, value in os.environ.items() if "AGENTSLOT" not in name}
    return subprocess.run(
        [sys.executable, "-m", "examples.refactoring"],
        cwd=ROOT,
        env={**inherited, "TMPDIR": str(folder), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )


@a_clone
@pytest.mark.timeout(600)
def test_the_agent_renames_a_function_of_this_repository_and_its_tests_are_green(
    tmp_path: Path,
) -> None:
    done = refactoring(tmp_path)

    assert done.returncode == 0, done.stdout
    position = 0
    for part in (
        "1 The agent works",
        "→ file_search",
        "→ file_read agentslot/_json/canonical.py",
        "→ file_edit path=agentslot/_json/canonical.py",
        "→ file_edit path=tests/core/test_json.py",
        "→ file_search",
        "→ file_find",
        "→ bash python -m pytest",
        " passed",
        "Done: canonical_json is canonical_form in",
        "I left what only speaks of the old name: examples/refactoring/__main__.py, tests/examples",
        "✓ renamed",
        "✓ changed          beside the name: nothing",
        "✓ tests",
        "+def canonical_form(text: str | bytes) -> str:",
        "cost             $0.0",
        "$ agentslot sessions undo --list",
        ".py  changed by call",
        "$ agentslot sessions undo ",
        ".py  as it was before",
    ):
        position = done.stdout.find(part, position)
        assert position >= 0, f"{part!r} is missing or too early in:\n{done.stdout}"
    assert "✗" not in done.stdout
    assert list(tmp_path.glob("agentslot-*")) == []


@a_clone
@pytest.mark.timeout(300)
def test_a_model_that_cannot_be_asked_fails_the_refactoring(tmp_path: Path, base_url: str) -> None:
    done = refactoring(
        tmp_path, AGENTSLOT_BASE_URL=base_url, AGENTSLOT_MODEL="none", AGENTSLOT_API_KEY="secret"
    )

    assert done.returncode == 1
    assert "✗ renamed          0 places in 0 files" in done.stdout
    assert "no change is recorded" in done.stdout
    assert "secret" not in done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for path, text in {
        "a.py": "def old_name():\n    return 1\n\n\nx = old_name\nx = old_name\n",
        "tests/test_a.py": "from a import old_name\n\n\ndef test_it():\n    old_name()\n",
        "says.py": 'TEXT = "old_name"\n',
        "other.py": "older_name = 1\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


async def work(job: Job, project: Path) -> tuple[str, list[Exchange]]:
    """Drive the model with the real tools; its last words, and all that was done."""
    browser, root = Browser(FileRoot(project), tuple), FileRoot(project)
    made = (*FileTools(root).tools(), *browser.tools(), *Searcher(browser).tools())
    tools: dict[str, Tool] = {tool.definition.name: tool for tool in made}
    done: list[Exchange] = []
    while (turn := job(TASK, done)).calls:
        done += [Exchange(len(done), call, await answer(tools, call)) for call in turn.calls]
    return turn.text, done


async def answer(tools: dict[str, Tool], call: Call) -> str:
    if call.name == "bash":
        return "2 passed in 0.1s\n[exit code 0]"
    result = await invoke(tools[call.name], **call.arguments)
    return output(result)


async def test_code_gets_the_new_name_and_texts_keep_the_old_one(project: Path) -> None:
    said, done = await work(rename(project), project)

    assert said == (
        "Done: old_name is new_name in 2 files, and 2 tests pass. I left what only speaks of the"
        " old name: says.py."
    )
    assert "old_name" not in (project / "a.py").read_text(encoding="utf-8")
    assert done[-1].call.arguments["command"] == (
        "python -m pytest -q -p no:cacheprovider tests/test_a.py"
    )


async def test_a_name_that_is_taken_is_not_given(project: Path) -> None:
    (project / "other.py").write_text("new_name = 1\n", encoding="utf-8")
    said, _ = await work(rename(project), project)

    assert said == "I changed nothing: new_name is a name already, in other.py."


async def test_every_result_that_is_tampered_with_is_refused(project: Path) -> None:
    job = rename(project)
    _, done = await work(job, project)
    assert not job(TASK, done).calls
    for index, exchange in enumerate(done):
        for result in tampered(exchange, done):
            wrong = [*done[:index], replace(exchange, result=result), *done[index + 1 :]]
            with pytest.raises(RequestError, match="Wrong result"):
                job(TASK, wrong)


def tampered(exchange: Exchange, done: Sequence[Exchange]) -> list[str]:
    """Results that an agent could mistake for the right one."""
    if exchange.call.name == "bash":
        return ["1 failed, 1 passed in 0.1s\n[exit code 0]"]
    others = [each.result for each in done if each.result != exchange.result]
    wrong = exchange.result.translate(str.maketrans("a0", "0a"))  # names, texts and hashes
    return [*others, wrong, "Error (canceled): gone"]


@pytest.mark.parametrize(
    "text",
    [
        "n\n",
        "a\nn\nb\nn\nc",
        "n\nn\nn",
        "x\nn\nx\nn\ny",
        "f(n, n)\nn_more\nmore_n\nn",
    ],
)
def test_the_strings_to_replace_are_unique_and_give_the_new_text(text: str) -> None:
    renaming = Renaming("n", "new")
    changed = text
    for old, new in renaming.edits(text):
        assert text.count(old) == 1
        changed = changed.replace(old, new)
    assert changed == renaming.apply(text)


def test_names_in_texts_and_comments_are_not_used() -> None:
    assert used_names('a = "b"  # c\n') == {"a"}
