"""The plain text that every match of a pattern holds.

Looking for it first spares most files the regular expression, which is slow where case does not
matter.
"""

import re

_MIN_LENGTH = 3  # shorter texts are in most files

_UNSURE = re.compile(r"\||\(\?(?!:)|\{")
"""Alternatives, flags, comments and the like, and repetitions by number."""

_PIECES = re.compile(
    r"""(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])
    | (?P<plain>[A-Za-z0-9 _/<>=:;,'"%&@~`!#-] | \\[ _/<>=:;,'"%&@~`!\#.()\[\]{}*+?^$|\\-])
    | (?P<other>\\?.)""",
    re.VERBOSE | re.DOTALL,
)


def required_text(pattern: str) -> str | None:
    """The longest text that is found to be in every match; None if there is none worth it.

    It is ASCII and lies within one line.
    """
    if _UNSURE.search(re.sub(r"\\.", "", pattern)):
        return None
    runs, depth = [""], 0
    for piece in _PIECES.finditer(pattern):
        text = piece[0]
        if depth == 0 and piece["plain"]:
            runs[-1] += text[-1]
            continue
        if text in {"*", "?"}:
            runs[-1] = runs[-1][:-1]  # what came before may be missing
        depth += (text == "(") - (text == ")")
        runs.append("")
    longest = max(runs, key=len)
    return longest if len(longest) >= _MIN_LENGTH else None
