"""Prompt caches of providers: what is asked of them, what can be lost, and what was gained."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum


class CacheRetention(StrEnum):
    """What a request asks of the provider's prompt cache."""

    NONE = "none"
    """Nothing is cached on our behalf."""
    SHORT = "short"
    """Minutes: long enough from one turn to the next."""
    LONG = "long"
    """An hour or more, at the provider's higher price for writing."""

    @property
    def seconds(self) -> float:
        """How long providers keep at least what nobody asks for again."""
        return 3600 if self is CacheRetention.LONG else 300


class Stability(StrEnum):
    """How long a section of the prompt stays as it is."""

    STATIC = "static"
    """As long as the application runs."""
    SESSION = "session"
    """Until somebody decides otherwise for the Session."""
    GROWING = "growing"
    """For ever, with more behind it each time."""


class CacheLossReason(StrEnum):
    """Why a provider read again what its cache had held."""

    CHANGED = "changed"
    """A section of the prompt is another one."""
    EXPIRED = "expired"
    """More time has passed than it keeps anything."""
    EVICTED = "evicted"
    """Nothing that we know of: it forgot, or another of its machines answered."""


@dataclass(frozen=True, slots=True)
class PromptSection:
    """A section of what a cache may hold, or is held for."""

    name: str
    stability: Stability


PROMPT_SECTIONS = (
    PromptSection("model", Stability.SESSION),
    PromptSection("settings", Stability.SESSION),
    PromptSection("tools", Stability.STATIC),
    PromptSection("system_prompt", Stability.STATIC),
    PromptSection("conversation", Stability.GROWING),
)
"""All of them. What one request alone shows stands behind them, and no cache is to hold it."""


@dataclass(frozen=True, slots=True)
class CacheLoss:
    """A provider read again what its cache had held.

    Attributes:
        changed: the sections that are not what they were before; none unless that is the reason.
        tokens: how many were read again.
        cost_usd: what that cost in US dollars beyond reading them from the cache; None if the price
            is not known.
    """

    reason: CacheLossReason
    changed: tuple[PromptSection, ...]
    tokens: int
    cost_usd: Decimal | None


@dataclass(slots=True)
class CacheStats:
    """What a cache did so far.

    Attributes:
        hits: requests that it answered, or whose beginning it held.
        misses: all others.
        saved_usd: what was not paid thanks to it, where prices are known; less than 0 if writing
            it has cost more.
        read_tokens: tokens that the provider read from its cache.
        written_tokens: tokens that the provider wrote to it.
        losses: how often a provider had to read again what it had held.
    """

    hits: int = 0
    misses: int = 0
    saved_usd: Decimal = Decimal(0)
    read_tokens: int = 0
    written_tokens: int = 0
    losses: int = 0
