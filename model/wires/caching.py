"""How long a provider is asked to keep the beginning of a conversation."""

from enum import StrEnum


class CacheRetention(StrEnum):
    """What a request asks of the provider's prompt cache."""

    NONE = "none"
    """Nothing is cached on our behalf."""
    SHORT = "short"
    """Minutes: long enough from one turn to the next."""
    LONG = "long"
    """An hour or more, at the provider's higher price for writing."""
