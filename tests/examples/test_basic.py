"""The example of the core alone does what it says."""

import subprocess
import sys

from tests.repository.house import ROOT


def test_the_basic_example_shows_who_won_and_greets() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "examples.basic"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert result.stdout.splitlines() == [
        "slot 'example.greeting'",
        "  ✓ from 'example.welsh', explicit: an explicit value stands",
        "  ✗ from 'example.words', default: an explicit value replaces every default",
        "start order: example.looks, example.welsh, example.greeter",
        "open",
        "* SHWMAE, WORLD *",
        "closed",
    ]
    assert result.stderr == ""
