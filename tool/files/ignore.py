"""Which files git would leave alone: rules of .gitignore files, in layers.

A layer is one file of rules, valid below the folder it lies in. Of the layers that say something
about a path the deepest decides, within a layer the last rule. A file below an ignored folder
cannot be taken back: whoever walks must not enter such a folder.
"""

import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

from agentslot.tool.files.wildcard import UnmatchableError, wildcard_regex


@dataclass(frozen=True, slots=True)
class _Rule:
    """One line: what it matches, and whether that is ignored or taken back."""

    regex: str
    ignored: bool
    folders_only: bool
    by_name: bool


class IgnoreLayer:
    """The rules of one file.

    Attributes:
        base: folder below which they are valid, from the root of the walk: empty, or ends in `/`.
    """

    __slots__ = ("_any_name", "_any_path", "_rules", "base")

    def __init__(self, base: str, content: bytes) -> None:
        self.base = base
        rules = [rule for line in _lines(content) if (rule := _parse(line)) is not None]
        self._any_name = _any_of([rule.regex for rule in rules if rule.by_name])
        self._any_path = _any_of([rule.regex for rule in rules if not rule.by_name])
        self._rules = [(rule, re.compile(rule.regex, re.DOTALL)) for rule in reversed(rules)]

    def __bool__(self) -> bool:
        """Whether there are rules at all; git makes a file that has none."""
        return bool(self._rules)

    def at(self, base: str) -> "IgnoreLayer":
        """The same rules for another folder."""
        layer = copy(self)
        layer.base = base
        return layer

    def verdict(self, path: str, name: str, *, is_folder: bool) -> bool | None:
        """Whether `path` is ignored; None if no rule matches it."""
        relative = path[len(self.base) :] if self._any_path is not None else ""
        if not (self._any_name is not None and self._any_name.fullmatch(name)) and not (
            self._any_path is not None and self._any_path.fullmatch(relative)
        ):
            return None
        for rule, regex in self._rules:
            if (is_folder or not rule.folders_only) and regex.fullmatch(
                name if rule.by_name else relative
            ):
                return rule.ignored
        return None


def is_ignored(layers: Sequence[IgnoreLayer], path: str, name: str, *, is_folder: bool) -> bool:
    """Whether the last of `layers` that says something about `path` ignores it."""
    for layer in reversed(layers):
        verdict = layer.verdict(path, name, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return False


def _lines(content: bytes) -> list[str]:
    text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return [line.removesuffix("\r") for line in text.split("\n")]


def _parse(line: str) -> _Rule | None:
    """The rule of one line; None for blanks, comments, and patterns that match nothing."""
    pattern = _without_trailing_spaces(line)
    if pattern.startswith("#"):
        return None
    ignored = not pattern.startswith("!")
    pattern = pattern if ignored else pattern[1:]
    folders_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    by_name = "/" not in pattern
    pattern = pattern.removeprefix("/")
    if not pattern:
        return None
    try:
        return _Rule(wildcard_regex(pattern), ignored, folders_only, by_name)
    except UnmatchableError:
        return None


def _without_trailing_spaces(line: str) -> str:
    stripped = line.rstrip(" ")
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    return f"{stripped} " if backslashes % 2 and stripped != line else stripped


def _any_of(regexes: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(regexes), re.DOTALL) if regexes else None
