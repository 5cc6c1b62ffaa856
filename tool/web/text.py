"""What the model reads of a body."""

import codecs
import re
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from agentslot._extras import MissingExtra

_TEXTUAL = re.compile(
    r"text/.*|application/(.*\+)?(json|xml|javascript|ecmascript|yaml|toml|x-ndjson|graphql"
    r"|x-www-form-urlencoded|sql)|image/svg\+xml"
)
_CHARSET = re.compile(r"charset=[\"']?([\w.:-]+)", re.IGNORECASE)
_META = re.compile(rb"<meta[^>]{0,200}charset=[\"']?([\w.:-]+)", re.IGNORECASE)
_NO_CHARSETS = frozenset({"idna", "punycode", "raw-unicode-escape", "unicode-escape"})
"""Encodings of text into text; some take long on purpose-made input."""
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_LIBRARY = "html_to_markdown"


def media_type(content_type: str) -> str:
    """The media type without its parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()


def is_html(content_type: str) -> bool:
    """Whether a body is a page."""
    return media_type(content_type) in _HTML


def decoded(content: bytes, content_type: str, *, truncated: bool) -> str | None:
    """The text of a body; None if it is none.

    Args:
        content: the body.
        content_type: as the server says; without one, text in UTF-8 is believed.
        truncated: whether the end is missing, so that a character may be cut there.
    """
    media = media_type(content_type)
    if media and not _TEXTUAL.fullmatch(media):
        return None
    named = _CHARSET.search(content_type)
    meta = _META.search(content[:2048]) if media in _HTML else None
    charset = named[1] if named else meta[1].decode() if meta else "utf-8"
    try:
        text = _decoder(charset).decode(content, not truncated)
    except (LookupError, UnicodeError, AttributeError):
        return None
    return None if "\0" in text else text.removeprefix("\ufeff")


def _decoder(charset: str) -> codecs.IncrementalDecoder:
    """The decoder of a character set.

    Raises:
        LookupError: Python does not know it, or knows it as something else: a server that calls its
            answer `zlib` would have it unpacked to any size.
        UnicodeError: as LookupError.
    """
    "".encode(charset)  # refuses what is no encoding of text
    if codecs.lookup(charset).name in _NO_CHARSETS:
        raise LookupError(charset)
    return codecs.getincrementaldecoder(charset)("strict")


def require_html_library() -> None:
    """Look whether pages can be made readable.

    Raises:
        MissingExtra: the extra `web` is not installed.
    """
    if find_spec(_LIBRARY) is None:
        raise MissingExtra("fetch_url", "web")


def html_to_text(page: str, url: str) -> str:
    """A page as Markdown: headings, lists, tables and links stay, scripts and styles go.

    Args:
        page: the source.
        url: where it came from; relative links start there.
    """
    library: Any = import_module(_LIBRARY)  # installed on demand
    options = library.ConversionOptions(extract_metadata=False, skip_images=True, base_url=url)
    content: str = library.convert(page, options).content or ""
    return content.strip()
