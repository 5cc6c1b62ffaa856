"""Holds every tool result against the project that the tools were run on.

The referee knows the files and replays the conversation on them. So an agent that loses, invents,
swaps or cuts a result is found out at its next request.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from examples.loopback_model import actions, results
from examples.loopback_model.conversation import Exchange

PROJECT = Path(__file__).parents[1] / "project"


def load_project(root: Path = PROJECT) -> Mapping[str, str]:
    """The texts of a project's Python files by relative path, as they are before the work."""
    return {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(root.rglob("*.py"))
    }


class Referee:
    """Replays one conversation on a project.

    Each file has the texts that it may hold now. There are two while an edit was cut off, until
    a read shows which.
    """

    def __init__(self, project: Mapping[str, str]) -> None:
        self._original = dict(project)
        self._possible = {path: {text} for path, text in project.items()}

    def check(self, exchanges: Sequence[Exchange]) -> None:
        """Check each result in turn.

        Raises:
            RequestError: A call is not one that this model made, or its result is not what the
                tool gives for it.
        """
        for exchange in exchanges:
            if not actions.is_ours(exchange.call):
                raise exchange.wrong("this call was never made with these arguments")
            if results.is_unsettled(exchange.result):
                self._maybe(exchange)
            else:
                self._certainly(exchange)

    def _maybe(self, exchange: Exchange) -> None:
        if exchange.call.name == "file_edit":
            path, edited = self._edited(exchange)
            self._possible[path] |= edited

    def _certainly(self, exchange: Exchange) -> None:
        match exchange.call.name, exchange.call.arguments:
            case "file_read", _:
                self._read(exchange)
            case "file_edit", _:
                self._edit(exchange)
            case "bash", {"command": actions.LIST_FILES}:
                self._list(exchange)
            case _:
                self._test(exchange)

    def _list(self, exchange: Exchange) -> None:
        lines = results.output(exchange.result).split()
        for path in self._original:
            if f"./{path}" not in lines:
                raise exchange.wrong(f"the file '{path}' is not in the list")

    def _read(self, exchange: Exchange) -> None:
        path = str(exchange.call.arguments["path"])
        text = results.file_text(exchange.result)
        if text not in self._possible[path]:
            raise exchange.wrong(f"that is not the text of '{path}'")
        if results.sha256(exchange.result) != _sha256(text):
            raise exchange.wrong(f"that is not the hash of '{path}'")
        self._possible[path] = {text}

    def _edit(self, exchange: Exchange) -> None:
        path, edited = self._edited(exchange)
        given = results.sha256(exchange.result)
        if given not in {_sha256(text) for text in edited}:
            raise exchange.wrong(f"that is not the hash of '{path}' after the edit")
        self._possible[path] = edited

    def _edited(self, exchange: Exchange) -> tuple[str, set[str]]:
        path, old, new = actions.edit_of(exchange.call)
        return path, {text.replace(old, new) for text in self._possible[path] if old in text}

    def _test(self, exchange: Exchange) -> None:
        printed = results.output(exchange.result)
        verdict = printed.rstrip().rpartition("\n")[2]
        passed, failed = verdict == "OK", verdict.startswith("FAILED")
        if passed == failed:
            raise exchange.wrong("a run of the tests ends with OK or FAILED")
        untouched = all(self._possible[path] == {text} for path, text in self._original.items())
        if passed and untouched:
            raise exchange.wrong("the tests cannot pass before the project was changed")
        if results.exit_code(exchange.result) != int(failed):
            raise exchange.wrong(f"the exit code does not fit '{verdict}'")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
