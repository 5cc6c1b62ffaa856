"""Wildcards of paths as git reads them, translated to regular expressions.

`?` and `*` stay within one component, `**` between slashes crosses them, `[…]` is a class with
ranges, `!` or `^`, and POSIX names. A backslash takes the next character literally. Where git
counts bytes, `?` and classes take whole characters here.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

_POSIX = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9", "graph": r"\x21-\x7e", "lower": "a-z", "print": r"\x20-\x7e",
    "punct": r"!-/:-@\[-`{-~", "space": r" \t\n\r\f\v", "upper": "A-Z", "xdigit": "0-9a-fA-F",
}  # fmt: skip


_STAR = "[^/]*"
_FOLDERS = "(?:.*/)?"
_ANYTHING = ".*"
_LAZY = {_STAR: "[^/]*?", _FOLDERS: "(?:.*?/)??"}


class UnmatchableError(ValueError):
    """The pattern is malformed in a way that makes git match nothing."""


@dataclass(frozen=True, slots=True)
class Wildcard:
    """A pattern in two halves, so that the first is compared once for all files of a folder.

    Attributes:
        folder: regular expression for the folder: empty at the top, else its path and a slash.
        name: regular expression for a name in that folder.
        exact: the only name that matches, if there is just one.
        ending: how every name ends that matches, if that is all it takes.
    """

    folder: str
    name: str
    exact: str | None = None
    ending: str | None = None


def parse_wildcard(pattern: str) -> Wildcard:
    """Translate a pattern; the expressions are for `re.fullmatch`, with DOTALL.

    Raises:
        UnmatchableError: an open class, an unknown POSIX name, a backslash at the end.
    """
    done: list[str] = []
    component: list[str] = []
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == "*":
            piece, position = _stars(pattern, position)
        elif character == "?":
            piece, position = "[^/]", position + 1
        elif character == "[":
            piece, position = _class(pattern, position + 1)
        else:
            literal, position = _literal(pattern, position)
            piece = re.escape(literal)
        component.append(piece)
        if piece in {"/", _FOLDERS}:
            done.append(_without_backtracking(component, _STAR))
            component = []
    if component == [_ANYTHING]:
        done.append(_FOLDERS)
    folder = _without_backtracking(done, _FOLDERS)
    return Wildcard(folder, _without_backtracking(component, _STAR), *_plain_name(pattern))


def _plain_name(pattern: str) -> tuple[str | None, str | None]:
    """What needs no regular expression: a name without wildcards, or a star before such text."""
    if "[" in pattern or "\\" in pattern:
        return None, None
    name = pattern.rpartition("/")[2]
    plain = name.removeprefix("*")
    if "*" in plain or "?" in plain:
        return None, None
    return (name, None) if plain == name else (None, plain)


def _without_backtracking(pieces: list[str], star: str) -> str:
    """Join pieces; a star that another follows takes as little as it can, and sticks to it.

    The first place where the text up to the next star fits is as good as any later one. Without
    this, `*a*a*a*a*b` in someone's ignore file could take hours, and so could `**/a/**/a/**/b`.
    """
    stars = [index for index, piece in enumerate(pieces) if piece == star]
    if len(stars) < 2:
        return "".join(pieces)
    out = pieces[: stars[0]]
    for here, following in pairwise(stars):
        fixed = "".join(pieces[here + 1 : following])
        out.append(f"(?>{_LAZY[star]}{fixed})")
    return "".join(out + pieces[stars[-1] :])


def _literal(pattern: str, position: int) -> tuple[str, int]:
    if pattern[position] != "\\":
        return pattern[position], position + 1
    if position + 1 == len(pattern):
        raise UnmatchableError(pattern)
    return pattern[position + 1], position + 2


def _stars(pattern: str, start: int) -> tuple[str, int]:
    stop = start
    while stop < len(pattern) and pattern[stop] == "*":
        stop += 1
    at_component = start == 0 or pattern[start - 1] == "/"
    if stop - start == 1 or not at_component or pattern[stop : stop + 1] not in {"", "/"}:
        return _STAR, stop
    return (_ANYTHING, stop) if stop == len(pattern) else (_FOLDERS, stop + 1)


def _class(pattern: str, position: int) -> tuple[str, int]:
    """The class whose bracket was opened before `position`; it never matches a slash."""
    negated = pattern[position : position + 1] in {"!", "^"}
    position += negated
    members: list[str] = []
    first = True
    while first or pattern[position : position + 1] != "]":
        if position >= len(pattern):
            raise UnmatchableError(pattern)
        first = False
        piece, position = _member(pattern, position)
        members.append(piece)
    body = "".join(members)
    if not body:  # only ranges that hold nothing
        return ("[^/]" if negated else "(?!)"), position + 1
    return f"(?!/)[{'^' if negated else ''}{body}]", position + 1


def _member(pattern: str, position: int) -> tuple[str, int]:
    """One character, range or POSIX name of a class."""
    if pattern.startswith("[:", position):
        stop = pattern.find("]", position + 2)
        if stop < 0:
            raise UnmatchableError(pattern)
        if stop > position + 2 and pattern[stop - 1] == ":":
            name = pattern[position + 2 : stop - 1]
            if name not in _POSIX:
                raise UnmatchableError(pattern)
            return _POSIX[name], stop + 1
    low, position = _literal(pattern, position)
    if pattern[position : position + 1] != "-" or pattern[position + 1 : position + 2] in {"", "]"}:
        return re.escape(low), position
    high, position = _literal(pattern, position + 1)
    return (f"{re.escape(low)}-{re.escape(high)}" if low <= high else ""), position
