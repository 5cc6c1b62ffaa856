"""Text that comes from identifiers, made safe to show and to measure."""

import unicodedata
from html import escape


def visible(text: str) -> str:
    r"""Show every character: what cannot be printed stands as its escape, such as `\u202e`.

    Identifiers have no character rule, so control characters, bidirectional overrides and lone
    surrogates reach us; the first are not allowed in XML at all.
    """
    if text.isprintable():
        return text
    return "".join(ch if ch.isprintable() else ascii(ch)[1:-1] for ch in text)


def markup(text: str) -> str:
    """Escape text for XML and HTML, in content and in quoted attributes alike."""
    return escape(visible(text), quote=True)


def columns(text: str) -> int:
    """Width in columns of a fixed-width font: East Asian wide characters take two, marks none."""
    return sum(
        0 if unicodedata.combining(ch) else 2 if unicodedata.east_asian_width(ch) in "WF" else 1
        for ch in text
    )


def shorten(text: str, limit: int) -> str:
    """Cut the middle out of text wider than `limit` columns; both ends tell identifiers apart."""
    if columns(text) <= limit:
        return text
    tail = limit // 2
    return _head(text, limit - tail - 1) + "…" + _head(text[::-1], tail)[::-1]


def _head(text: str, limit: int) -> str:
    used = 0
    for index, ch in enumerate(text):
        used += columns(ch)
        if used > limit:
            return text[:index]
    return text
