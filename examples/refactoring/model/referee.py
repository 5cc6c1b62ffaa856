"""Holds every tool result against the repository that the tools were run on.

The referee knows the files and replays the conversation on them. So an agent that loses, invents,
swaps or cuts a result is found out at its next request.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch

from examples.loopback_model import actions, results
from examples.loopback_model.conversation import Exchange
from examples.refactoring.model.answers import listed_paths, search_blocks, written_blocks


class Referee:
    """Replays one conversation on a repository; `texts` are its Python files by path."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = dict(texts)
        self._edited = False

    def check(self, exchanges: Sequence[Exchange]) -> None:
        """Check each result in turn.

        Raises:
            RequestError: a call is not one that this model made, its result is not what the tool
                gives for it, or nobody knows how it ended.
        """
        for exchange in exchanges:
            if not actions.is_ours(exchange.call):
                raise exchange.wrong("this call was never made with these arguments")
            if results.is_unsettled(exchange.result):
                raise exchange.wrong("this model does not go on where an outcome is unknown")
            self._check(exchange)

    def _check(self, exchange: Exchange) -> None:
        match exchange.call.name:
            case "file_search":
                self._search(exchange)
            case "file_find":
                self._find(exchange)
            case "file_read":
                self._read(exchange)
            case "file_edit":
                self._edit(exchange)
            case _:
                _test(exchange)

    def _search(self, exchange: Exchange) -> None:
        pattern = re.compile(str(exchange.call.arguments["pattern"]))
        hits: list[tuple[str, list[tuple[int, str]]]] = []
        for path in sorted(self._texts, key=lambda path: path.split("/")):
            lines = enumerate(self._texts[path].split("\n"), start=1)
            if found := [(number, line) for number, line in lines if pattern.search(line)]:
                hits.append((path, found))
        if search_blocks(exchange.result) != written_blocks(hits):
            raise exchange.wrong("those are not the lines that match")

    def _find(self, exchange: Exchange) -> None:
        start, *rest = re.split("[{}]", str(exchange.call.arguments["pattern"]))
        choices, end = rest or ("", "")
        patterns = [start + choice + end for choice in choices.split(",")]
        found = {
            path
            for path in self._texts
            if any(fnmatch(path.rpartition("/")[2], pattern) for pattern in patterns)
        }
        if set(listed_paths(exchange.result)) != found:
            raise exchange.wrong("those are not the files of such names")

    def _read(self, exchange: Exchange) -> None:
        text = self._texts[str(exchange.call.arguments["path"])]
        if results.file_text(exchange.result) != text:
            raise exchange.wrong("that is not the text of the file")
        if results.sha256(exchange.result) != _sha256(text):
            raise exchange.wrong("that is not the hash of the file")

    def _edit(self, exchange: Exchange) -> None:
        match exchange.call.arguments:
            case {"path": str(path), "edits": list(edits)}:
                text = self._texts[path]
            case _:
                raise ValueError(exchange.call)
        for edit in edits:
            match edit:
                case {"old_string": str(old), "new_string": str(new)}:
                    text = text.replace(old, new)
                case _:
                    raise ValueError(exchange.call)
        if results.sha256(exchange.result) != _sha256(text):
            raise exchange.wrong("that is not the hash of the file after the edit")
        self._texts[path] = text


def _test(exchange: Exchange) -> None:
    verdict = results.output(exchange.result).rstrip().rpartition("\n")[2]
    passed = " passed" in verdict and "failed" not in verdict and "error" not in verdict
    if (results.exit_code(exchange.result) == 0) != passed:
        raise exchange.wrong(f"the exit code does not fit '{verdict}'")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
