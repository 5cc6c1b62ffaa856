"""Runs the examples of the documents and docstrings, and can shuffle the tests."""

import os
import random
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from sybil import Example, Sybil
from sybil.document import PythonDocStringDocument
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import CodeBlockParser, SkipParser
from sybil.parsers.rest import DocTestParser

from tests.vendor import vendor


@pytest.fixture(scope="module")
def example_folder() -> Iterator[Path]:
    """Every document runs in an empty folder of its own, beside a vendor on this machine."""
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        with vendor() as url, pytest.MonkeyPatch.context() as environment:
            environment.setenv("OPENAI_BASE_URL", url)
            environment.setenv("OPENAI_API_KEY", "a key for the vendor on this machine")
            yield Path(folder)
        os.chdir(before)


class PrintingPythonEvaluator(PythonEvaluator):
    """Runs a block and keeps what it prints, for the `text` block that may follow."""

    def __call__(self, example: Example) -> None:
        printed = StringIO()
        with redirect_stdout(printed):
            super().__call__(example)
        example.document.namespace["printed"] = printed.getvalue()


def compare_with_printed(example: Example) -> None:
    """A `text` block shows what the Python block before it prints."""
    assert example.document.namespace["printed"].strip() == str(example.parsed).strip()


documents = Sybil(
    parsers=[
        CodeBlockParser(language="python", evaluator=PrintingPythonEvaluator()),
        CodeBlockParser(language="text", evaluator=compare_with_printed),
        SkipParser(),
    ],
    patterns=["*.md"],
    fixtures=["example_folder"],
)
docstrings = Sybil(
    parsers=[DocTestParser()],
    path="agentslot",
    patterns=["*.py"],
    document_types={".py": PythonDocStringDocument},
    fixtures=["example_folder"],
)
pytest_collect_file = (documents + docstrings).pytest()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shuffle",
        type=int,
        metavar="SEED",
        help="run the files, and the tests in each, in a random order; the same for the same seed",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed: int | None = config.getoption("--shuffle")
    if seed is None:
        return
    order = random.Random(seed)
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    groups = list(files.values())
    order.shuffle(groups)
    for group in groups:
        # The blocks of a document share their names, so they stay in order.
        if isinstance(group[0], pytest.Function):
            order.shuffle(group)
    items[:] = [item for group in groups for item in group]
