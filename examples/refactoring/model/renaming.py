"""What is to be renamed, and what that means for a text."""

import re
import tokenize
from dataclasses import dataclass
from io import StringIO

from examples.loopback_model.errors import RequestError

_TASK = re.compile(r"`(\w+)` to `(\w+)`")


@dataclass(frozen=True, slots=True)
class Renaming:
    """An old name and a new one."""

    old: str
    new: str

    def apply(self, text: str) -> str:
        """The text with the new name."""
        return re.sub(rf"\b{self.old}\b", self.new, text)

    def edits(self, text: str) -> list[tuple[str, str]]:
        """Old and new strings, each old one unique in the text and none in another's way."""
        lines = text.split("\n")
        named = [n for n, line in enumerate(lines) if self.apply(line) != line]
        spans: list[tuple[int, int]] = []
        for line in named:
            first, last = _unique(lines, line)
            while spans and spans[-1][1] >= first:
                first, last = min(first, spans[-1][0]), max(last, spans[-1][1])
                spans.pop()
            spans.append((first, last))
        quoted = ["\n".join(lines[first : last + 1]) for first, last in spans]
        return [(quote, self.apply(quote)) for quote in quoted]


def read_task(task: str) -> Renaming:
    """The renaming that a person asks for.

    Raises:
        RequestError: the task is another one.
    """
    found = _TASK.search(task)
    if found is None:
        raise RequestError(
            "This model can only rename: ask it to rename `old` to `new`.", param="messages"
        )
    return Renaming(found[1], found[2])


def used_names(text: str) -> frozenset[str]:
    """The names that Python code uses; what it says in texts and comments does not count."""
    tokens = tokenize.generate_tokens(StringIO(text).readline)
    return frozenset(token.string for token in tokens if token.type == tokenize.NAME)


def _unique(lines: list[str], line: int) -> tuple[int, int]:
    """The first and the last line of the shortest quote around `line` that occurs once."""
    text = "\n".join(lines)
    first = last = line
    while text.count("\n".join(lines[first : last + 1])) > 1:
        first, last = max(first - 1, 0), min(last + 1, len(lines) - 1)
    return first, last
