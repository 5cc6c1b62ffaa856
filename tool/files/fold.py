"""A key under which lines are equal for a reader although their typography differs.

Models often write straight quotes, plain blanks and hyphens where the file has typographic ones.
The key finds such a line; it is never written to a file. Leading whitespace is not folded, since
nesting depends on it.
"""

_BLANKS = (
    "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u202f\u205f\u3000"
)
_LEADING = " \t" + _BLANKS

_FULL_WIDTH = {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
_LIGATURES = {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl"}
_TABLE = str.maketrans(
    _FULL_WIDTH
    | _LIGATURES
    | dict.fromkeys("‘’‚‛′‵‹›", "'")
    | dict.fromkeys("“”„‟″‶«»", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d", "-")
    | dict.fromkeys(_BLANKS, " ")
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", "")
    | {"…": "..."}
)


def fold(line: str) -> str:
    """Key of one line: typography made plain, blanks at the end and the line end dropped."""
    if line.isascii():
        return line.rstrip(" \t\r\n")
    indent = line[: len(line) - len(line.lstrip(_LEADING))]
    return indent + line[len(indent) :].translate(_TABLE).rstrip(" \t\r\n")
