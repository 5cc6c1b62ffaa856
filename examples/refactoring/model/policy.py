"""Decides the next turn from what is known.

The order of work is a person's: look for both names, read every place, change the code, look again,
find the tests of what was changed, run them, report.
"""

import re
from pathlib import PurePosixPath

from pydantic import JsonValue

from examples.loopback_model.actions import make_call, read_file
from examples.loopback_model.conversation import Call
from examples.loopback_model.policy import Turn
from examples.refactoring.model.knowledge import Knowledge
from examples.refactoring.model.renaming import Renaming, used_names

RUN_TESTS = "python -m pytest -q -p no:cacheprovider"

_PASSED = re.compile(r"^(\d+) passed", re.MULTILINE)


def next_turn(renaming: Renaming, known: Knowledge) -> Turn:
    """The next turn of a model that knows this much."""
    if known.found is None:
        return _search(renaming, known)
    unread = [path for path in known.found if path not in known.texts]
    if unread:
        return Turn("I read every file that has it.", [read_file(path) for path in unread])
    if not known.edited and _users(renaming.new, known):
        taken = ", ".join(_users(renaming.new, known))
        return Turn(f"I changed nothing: {renaming.new} is a name already, in {taken}.")
    users = _users(renaming.old, known)
    if users:
        edits = [_edit(path, renaming, known) for path in users]
        return Turn(f"Code uses it in {len(edits)} files. I change it there.", edits)
    if not known.edited:
        return Turn(f"No code uses {renaming.old}; there is nothing to rename.")
    if known.tests is None:
        return Turn("No code uses it any more. Which tests are about it?", [_find_tests(known)])
    if known.test_output is None:
        command = f"{RUN_TESTS} {' '.join(_tests(known))}"
        return Turn("I run the tests of what I changed.", [make_call("bash", {"command": command})])
    return Turn(_report(renaming, known))


def _search(renaming: Renaming, known: Knowledge) -> Turn:
    if known.edited:
        text, names = "Is anything left?", renaming.old
    else:
        text, names = "I look for both names.", f"({renaming.old}|{renaming.new})"
    arguments: dict[str, JsonValue] = {
        "pattern": rf"\b{names}\b",
        "file_glob": "*.py",
        "case_sensitive": True,
    }
    return Turn(text, [make_call("file_search", arguments)])


def _users(name: str, known: Knowledge) -> list[str]:
    """The files found whose code uses a name and does not only speak of it."""
    return [path for path in known.found or () if name in used_names(known.texts[path])]


def _edit(path: str, renaming: Renaming, known: Knowledge) -> Call:
    edits: list[JsonValue] = [
        {"old_string": old, "new_string": new} for old, new in renaming.edits(known.texts[path])
    ]
    return make_call(
        "file_edit", {"path": path, "edits": edits, "expected_sha256": known.hashes[path]}
    )


def _find_tests(known: Knowledge) -> Call:
    topics = sorted({_topic(PurePosixPath(path)) for path in known.edited})
    choice = topics[0] if len(topics) == 1 else f"{{{','.join(topics)}}}"
    return make_call("file_find", {"pattern": f"test_*{choice}*.py"})


def _topic(path: PurePosixPath) -> str:
    """What a module is about, by its name; by that of its folder if it is the folder's face."""
    name = path.parent.name if path.stem == "__init__" else path.stem
    return name.strip("_").removeprefix("test_").removesuffix("s")


def _tests(known: Knowledge) -> list[str]:
    edited = [path for path in known.edited if PurePosixPath(path).name.startswith("test_")]
    return sorted({*edited, *(known.tests or ())})


def _report(renaming: Renaming, known: Knowledge) -> str:
    if not known.green:
        return f"The tests fail after renaming {renaming.old}; I would have to look into that."
    passed = _PASSED.search(known.test_output or "")
    report = (
        f"Done: {renaming.old} is {renaming.new} in {len(known.edited)} files, and"
        f" {passed[1] if passed else 'the'} tests pass."
    )
    if known.found:
        report += f" I left what only speaks of the old name: {', '.join(known.found)}."
    return report
