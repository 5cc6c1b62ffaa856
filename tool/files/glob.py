"""Patterns that choose files: git's wildcards, and braces for alternatives."""

import re
from collections.abc import Callable

from agentslot.tool.errors import ToolFailedError
from agentslot.tool.files.wildcard import UnmatchableError, wildcard_regex

_MAX_ALTERNATIVES = 256


def path_filter(pattern: str) -> Callable[[str], bool]:
    """As `glob_filter`, telling upper and lower case apart: for rules, which must be exact."""
    return glob_filter(pattern, case_matters=True)


def glob_filter(pattern: str, *, case_matters: bool | None = None) -> Callable[[str], bool]:
    """Return a test for paths that have `/` between their components.

    A pattern without a slash is compared with the name alone, at any depth; one with a slash with
    the whole path, `**` standing for any folders. `{a,b}` gives alternatives and may be nested.
    By default case matters only if the pattern has an upper-case letter.

    Raises:
        ToolFailedError: `invalid_arguments` for a pattern that is malformed.
    """
    plain = pattern.removeprefix("./").removeprefix("/")
    try:
        alternatives = [wildcard_regex(choice) for choice in _expand(plain)]
    except UnmatchableError:
        raise _malformed(pattern) from None
    if case_matters is None:
        case_matters = any(c.isupper() for c in plain)
    flags = re.DOTALL if case_matters else re.DOTALL | re.IGNORECASE
    matches = re.compile("|".join(alternatives), flags).fullmatch
    if "/" in plain:
        return lambda path: matches(path) is not None
    return lambda path: matches(path.rpartition("/")[2]) is not None


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
