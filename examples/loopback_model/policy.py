"""Decides the next turn from what the conversation says.

The order of work is a person's: look round, run the tests, read the failing test and what it
imports, change the line at fault, run the tests again, report. What a crash left in doubt comes
before everything else.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from examples.loopback_model import actions
from examples.loopback_model.conversation import Call
from examples.loopback_model.knowledge import Knowledge


@dataclass(frozen=True, slots=True)
class Turn:
    """What the model says and does next; without calls it has finished."""

    text: str
    calls: Sequence[Call] = ()


def next_turn(known: Knowledge) -> Turn:
    """The next turn of a model that knows this much."""
    if known.doubtful:
        return Turn(
            "One call was cut off and nobody knows what it did. I check before I go on.",
            [actions.read_file(path) for path in sorted(known.doubtful)],
        )
    if not known.listing:
        return Turn("I look at what is there.", [actions.list_files()])
    if known.test_output is None:
        why = "The edit is in place. " if known.edited else ""
        return Turn(f"{why}I run the tests.", [actions.run_tests()])
    if known.is_green:
        return Turn(_report(known))
    unread = _unread(known)
    if unread:
        return Turn(f"I read {' and '.join(unread)}.", [actions.read_file(path) for path in unread])
    return _repair(known)


def _unread(known: Knowledge) -> list[str]:
    """The files to read next: the failing tests and what they test, then what those import."""
    failing = [path for path in known.listing if path in known.failures]
    tested = [path for path in known.listing if any(_is_tested_by(path, test) for test in failing)]
    wanted = dict.fromkeys(failing + tested)
    for path in known.texts:
        wanted.update(dict.fromkeys(known.imported_by(path)))
    return [path for path in wanted if path not in known.texts]


def _is_tested_by(path: str, test: str) -> bool:
    return test.endswith(f"/test_{path.rpartition('/')[2]}")


_RATE = re.compile(r"basis points")
_DIVISION = re.compile(r"^ +(.*\bvolume_discount\(.*) // 100$", re.MULTILINE)


def _repair(known: Knowledge) -> Turn:
    rates = [path for path, text in known.texts.items() if _RATE.search(text)]
    for path, text in known.texts.items():
        fault = _DIVISION.search(text)
        if rates and fault:
            expression = fault[1]
            edit = actions.edit_file(
                path,
                old=f"{expression} // 100",
                new=f"{expression} // 10_000",
                sha256=known.hashes[path],
            )
            return Turn(
                f"{rates[0]} gives rates in basis points, hundredths of one per cent, but {path} "
                "divides them by 100 as if they were per cent. I divide by 10_000.",
                [edit],
            )
    return Turn("The tests fail and I could not find out why.")


def _report(known: Knowledge) -> str:
    if not known.edited:
        return "All tests pass; there is nothing to repair."
    return (
        f"Done: all tests pass. The discount in {', '.join(sorted(known.edited))} was a hundred "
        "times too high, since the rates are basis points and not per cent. One line changed."
    )
