"""Text: what is safe to store and to show on one line, and the name of a text by its content."""

import hashlib
import unicodedata

from agentslot.session.errors import ClassifiedError, ErrorKind

_UNSAFE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})

MAX_REASON_BYTES = 1024


def is_safe_line(text: str, max_bytes: int = MAX_REASON_BYTES) -> bool:
    """Whether `text` is one trimmed line without control characters, `max_bytes` at most."""
    if text != text.strip() or any(unicodedata.category(c) in _UNSAFE_CATEGORIES for c in text):
        return False
    return len(text.encode()) <= max_bytes


def safe_line(text: str, max_bytes: int = MAX_REASON_BYTES) -> str:
    """Make one safe line of foreign text: unsafe characters become blanks, the end may be cut."""
    if text.isascii() and text.isprintable() and len(text) <= max_bytes:
        return text.strip()
    kept = "".join(" " if unicodedata.category(c) in _UNSAFE_CATEGORIES else c for c in text)
    line = " ".join(kept.split())
    encoded = line.encode()
    if len(encoded) <= max_bytes:
        return line
    return encoded[: max_bytes - len("…".encode())].decode(errors="ignore").rstrip() + "…"


def text_digest(text: str) -> str:
    """The name under which a Session keeps a text: `sha256:` and 64 hexadecimal digits."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def is_unicode(text: str) -> bool:
    """Whether it can be encoded; half a surrogate pair cannot."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def require_unicode(text: str, where: str) -> None:
    """Refuse a text that no encoding can keep.

    Raises:
        ClassifiedError: `invalid_input/text_not_unicode`, naming the place.
    """
    if not (text.isascii() or is_unicode(text)):
        raise text_not_unicode(where)


def text_not_unicode(where: str | None) -> ClassifiedError:
    """What stands there can be neither stored nor sent."""
    return ClassifiedError(
        ErrorKind.INVALID_INPUT,
        "text_not_unicode",
        f"{where} holds half a surrogate pair, which no encoding can keep",
    )
