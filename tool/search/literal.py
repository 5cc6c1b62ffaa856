"""The plain texts that every match of a pattern holds.

Looking for them first spares most files the regular expression, which is slow where case does not
matter.
"""

import re

_MIN_LENGTH = 3  # shorter texts are in most files

_UNSURE = re.compile(r"\(\?(?!:)|\{")
"""Flags, comments and the like, and repetitions by number."""

_PIECES = re.compile(
    r"""(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])
    | (?P<plain>[A-Za-z0-9 _/<>=:;,'"%&@~`!#-] | \\[ _/<>=:;,'"%&@~`!\#.()\[\]{}*+?^$|\\-])
    | (?P<other>\\?.)""",
    re.VERBOSE | re.DOTALL,
)


def required_texts(pattern: str) -> list[str]:
    """Texts that are found to be in every match; they are ASCII and lie within one line."""
    if _UNSURE.search(re.sub(r"\\.", "", pattern)):
        return []
    runs, depth = [""], 0
    for piece in _PIECES.finditer(pattern):
        text = piece[0]
        if depth == 0 and piece["plain"]:
            runs[-1] += text[-1]
            continue
        if depth == 0 and text == "|":
            return []
        if text in {"*", "?"}:
            runs[-1] = runs[-1][:-1]  # what came before may be missing
        depth += (text == "(") - (text == ")")
        runs.append("")
    return [run for run in runs if len(run) >= _MIN_LENGTH]
