"""Digests of what hooks are shown: the same for equal views, however their JSON is spelled."""

from agentslot._json import JsonError, canonical_json
from agentslot.session import text_digest
from agentslot.session.codec import encode


def input_digest(view: object) -> str:
    """Digest of a view; JSON text in it must be in its canonical spelling already."""
    return text_digest(canonical_json(encode(view)))


def canonical_text(text: str) -> str:
    """JSON text in its one spelling; other text as it is."""
    try:
        return canonical_json(text)
    except JsonError:
        return text
