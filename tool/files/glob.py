"""Patterns that choose files: git's wildcards, and braces for alternatives."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from unicodedata import normalize

from agentslot.tool.errors import ToolFailedError
from agentslot.tool.files.names import NameTest
from agentslot.tool.files.wildcard import UnmatchableError, Wildcard, parse_wildcard

_MAX_ALTERNATIVES = 256


def path_filter(pattern: str, *, any_case: bool = False) -> Callable[[str], bool]:
    """As `Glob`, telling upper and lower case apart: for rules, which must be exact.

    Characters that are composed in different ways are taken for each other, as the tools do.

    Args:
        pattern: the pattern.
        any_case: do not look at case either, as some disks do not.

    Raises:
        ToolFailedError: `invalid_arguments` for a pattern that is malformed.
    """
    glob = Glob(normalize("NFC", pattern), case_matters=True)
    if any_case:
        return glob.in_any_case()
    return lambda path: glob(normalize("NFC", path))


class Glob:
    """A test for paths that have `/` between their components.

    A pattern without a slash is compared with the name alone, at any depth; one with a slash with
    the whole path, `**` standing for any folders. `{a,b}` gives alternatives and may be nested.
    By default case matters only if the pattern has an upper-case letter.
    """

    def __init__(self, pattern: str, *, case_matters: bool | None = None) -> None:
        """Read the pattern.

        Raises:
            ToolFailedError: `invalid_arguments` for a pattern that is malformed.
        """
        plain = pattern.removeprefix("./").removeprefix("/")
        if case_matters is None:
            case_matters = any(c.isupper() for c in plain) or "[:upper:]" in plain
        self._case_matters = case_matters
        self._by_name = "/" not in plain
        try:
            self._wildcards = tuple(parse_wildcard(choice) for choice in _expand(plain))
        except UnmatchableError:
            raise _malformed(pattern) from None

    def __call__(self, path: str) -> bool:
        """Whether the path matches."""
        folder, slash, name = path.rpartition("/")
        return bool(self.among(folder + slash, [name]))

    def among(self, folder: str, names: Sequence[str]) -> list[str]:
        """Those of the names in a folder that match; the folder is empty or ends in `/`."""
        if not self._case_matters:
            folder = folder.lower()
            text = "/".join(names)
            lowered = text.lower()
            if lowered != text:
                low_names = lowered.split("/")
                found = self._test(folder).among(low_names)
                return [n for n, low in zip(names, low_names, strict=True) if low in found]
        found = self._test(folder).among(names)
        return [name for name in names if name in found] if found else []

    def in_any_case(self) -> Callable[[str], bool]:
        """A test for whole paths that does not look at case, whatever the pattern says."""
        flags = re.DOTALL | re.IGNORECASE
        folders = [re.compile(each.folder, flags) for each in self._wildcards]
        names = [re.compile(each.name, flags) for each in self._wildcards]

        def test(path: str) -> bool:
            folder, slash, name = normalize("NFC", path).rpartition("/")
            return any(
                name_regex.fullmatch(name) is not None
                and (self._by_name or folder_regex.fullmatch(folder + slash) is not None)
                for folder_regex, name_regex in zip(folders, names, strict=True)
            )

        return test

    def _test(self, folder: str) -> NameTest:
        if self._by_name:
            return _name_test(self._wildcards)
        return _name_test(tuple(one for one in self._wildcards if _fits(one.folder, folder)))


def _fits(regex: str, folder: str) -> bool:
    return re.fullmatch(regex, folder, re.DOTALL) is not None


@lru_cache(maxsize=64)
def _name_test(wildcards: tuple[Wildcard, ...]) -> NameTest:
    return NameTest(wildcards)


def _expand(pattern: str) -> list[str]:
    """All alternatives of a pattern with braces; a brace without its partner is literal."""
    waiting, done = [pattern], list[str]()
    while waiting:
        choice = waiting.pop()
        group = _first_group(choice)
        if group is None:
            done.append(choice)
            continue
        start, stop, alternatives = group
        waiting += [choice[:start] + one + choice[stop:] for one in alternatives]
        if len(waiting) + len(done) > _MAX_ALTERNATIVES:
            raise _malformed(pattern)
    return done


def _first_group(pattern: str) -> tuple[int, int, list[str]] | None:
    """The first outermost `{…,…}`: where it starts and ends, and its alternatives."""
    start, depth, cuts = -1, 0, list[int]()
    for position, character in enumerate(pattern):
        if character == "{":
            if depth == 0:
                start, cuts = position, [position]
            depth += 1
        elif character == "," and depth == 1:
            cuts.append(position)
        elif character == "}" and depth:
            depth -= 1
            if depth == 0 and len(cuts) > 1:
                ends = [*cuts[1:], position]
                parts = [pattern[a + 1 : b] for a, b in zip(cuts, ends, strict=True)]
                return start, position + 1, parts
    return None


def _malformed(pattern: str) -> ToolFailedError:
    return ToolFailedError(
        "invalid_arguments",
        f"the pattern {pattern!r} is malformed: close its brackets, and use few alternatives",
    )
