"""Which files git would leave alone: rules of .gitignore files, in layers.

A layer is one file of rules, valid below the folder it lies in. Of the layers that say something
about a path the deepest decides, within a layer the last rule. A file below an ignored folder
cannot be taken back: whoever walks must not enter such a folder.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from agentslot.tool.files.names import NameTest, full_match
from agentslot.tool.files.wildcard import UnmatchableError, Wildcard, parse_wildcard


@dataclass(frozen=True, slots=True, eq=False)
class _Rule:
    """One line: what it matches, and whether that is ignored or taken back."""

    wildcard: Wildcard
    ignored: bool
    folders_only: bool
    in_folder: Callable[[str], object] | None  # None: in every one


_Rules = tuple[_Rule, ...]


class IgnoreLayer:
    """The rules of one file.

    Attributes:
        base: folder below which they are valid, from the root of the walk: empty, or ends in `/`.
    """

    __slots__ = ("_everywhere", "_rules", "_somewhere", "base")

    def __init__(self, base: str, content: bytes) -> None:
        self.base = base
        self._rules = _parse(content)
        self._everywhere = tuple(rule for rule in self._rules if rule.in_folder is None)
        tied = [rule.wildcard.folder for rule in self._rules if rule.in_folder is not None]
        self._somewhere = full_match(tied)

    def __bool__(self) -> bool:
        """Whether there are rules at all; git makes a file that has none."""
        return bool(self._rules)

    def at(self, base: str) -> "IgnoreLayer":
        """The same rules for another folder."""
        layer = copy(self)
        layer.base = base
        return layer

    def rules_in(self, folder: str) -> _Rules:
        """Those for the entries of a folder, which is empty or ends in `/`."""
        below = folder[len(self.base) :]
        if self._somewhere is None or not self._somewhere(below):
            return self._everywhere
        return tuple(r for r in self._rules if r.in_folder is None or r.in_folder(below))


def ignored_names(
    layers: Sequence[IgnoreLayer], folder: str, names: Collection[str], *, is_folder: bool
) -> set[str]:
    """Those of `names` that the last rule which says something about them ignores.

    Args:
        layers: the rules above and in `folder`, the deepest last.
        folder: from the root of the walk: empty, or ends in `/`.
        names: what lies in it.
        is_folder: whether the names are those of folders.
    """
    rules = [rule for layer in layers for rule in layer.rules_in(folder)]
    return _decisions(tuple(rules), is_folder).ignored(names)


class _Decisions:
    """Rules in the order in which they decide: the last first, those that agree as one."""

    def __init__(self, rules: Iterable[_Rule]) -> None:
        groups = groupby(rules, lambda rule: rule.ignored)
        self._tests = [(NameTest(rule.wildcard for rule in each), said) for said, each in groups]

    def ignored(self, names: Collection[str]) -> set[str]:
        ignored: set[str] = set()
        for test, said in self._tests:
            found = test.among(names)
            if said:
                ignored |= found
            names = [name for name in names if name not in found] if found else names
        return ignored


@lru_cache(maxsize=256)
def _decisions(rules: _Rules, is_folder: bool) -> _Decisions:
    return _Decisions(rule for rule in reversed(rules) if is_folder or not rule.folders_only)


@lru_cache(maxsize=64)
def _parse(content: bytes) -> _Rules:
    return tuple(rule for line in _lines(content) if (rule := _parse_line(line)) is not None)


def _lines(content: bytes) -> list[str]:
    text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return [line.removesuffix("\r") for line in text.split("\n")]


def _parse_line(line: str) -> _Rule | None:
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
        wildcard = parse_wildcard(pattern)
    except UnmatchableError:
        return None
    in_folder = None if by_name else full_match([wildcard.folder])
    return _Rule(wildcard, ignored, folders_only, in_folder)


def _without_trailing_spaces(line: str) -> str:
    stripped = line.rstrip(" ")
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    return f"{stripped} " if backslashes % 2 and stripped != line else stripped
