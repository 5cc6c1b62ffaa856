"""Watching over the prompt cache of a provider: what it holds, and why it was lost.

A prompt has sections, each of a declared stability, and a cache holds the beginning of it. The
figures that come with an answer tell whether the cache was used; how the sections differ from those
of the request before tells why it was not.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from time import monotonic

from agentslot.model.contract import ModelRequest
from agentslot.model.price import plain_amount
from agentslot.model.wire import WireRequest
from agentslot.model.wires.caching import (
    PROMPT_SECTIONS,
    CacheLoss,
    CacheLossReason,
    CacheStats,
    PromptSection,
)
from agentslot.model.wires.prefix import TurnDigests
from agentslot.session import SessionId, TokenUsage

Cost = Callable[[TokenUsage], Decimal | None]
"""What a usage costs; None if that is not known."""

_SESSIONS = 4096
_LINES = 4
_NOISE = 10
"""Less than such a part of what was expected is rounding: caches keep whole blocks of tokens."""


Contents = tuple[object, ...]
"""Of the sections of one prompt. Of the conversation it is the digests of its turns; the rest is
compared with what was before, which for what is static is the very same object."""


def contents_of(request: ModelRequest, conversation: TurnDigests) -> Contents:
    """What each of PROMPT_SECTIONS holds."""
    config = request.config
    settings = (config.reasoning, request.output)
    return (config.model, settings, request.tools, request.system_prompt, conversation)


def _same(now: object, before: object) -> bool:
    """Whether a cache of the one section serves for the other one, as far as it goes."""
    if isinstance(now, TurnDigests) and isinstance(before, TurnDigests):
        return now.continues(before)
    return now == before


@dataclass(frozen=True, slots=True)
class _Line:
    """Requests that grow out of each other: the last one, and what the provider held after it."""

    contents: Contents
    held: int
    expires_at: float

    def leads_to(self, contents: Contents) -> bool:
        """Whether a request goes on from here.

        Other requests of a Session, such as one that judges its goal, have no tools, prompt or
        conversation in common with it. They are a line of their own, and nobody's loss.
        """
        pairs = zip(contents[2:], self.contents[2:], strict=True)
        return any(now and _same(now, before) for now, before in pairs)

    def changed(self, contents: Contents) -> tuple[PromptSection, ...]:
        """The sections that are not what they were; of another model, that alone."""
        sections = zip(PROMPT_SECTIONS, contents, self.contents, strict=True)
        changed = tuple(section for section, now, before in sections if not _same(now, before))
        return changed[:1] if changed[:1] == PROMPT_SECTIONS[:1] else changed


class PromptCache:
    """What one provider's cache probably holds, by Session.

    Attributes:
        stats: hits, misses, tokens and savings of all requests.
    """

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self.stats = CacheStats()
        self._clock = clock
        self._lines: OrderedDict[SessionId, list[_Line]] = OrderedDict()

    def answered(
        self, request: ModelRequest, sent: WireRequest, usage: TokenUsage | None, cost: Cost
    ) -> CacheLoss | None:
        """Take note of an answer; tells what was lost, if anything was.

        Args:
            request: what was asked.
            sent: the same as it was sent.
            usage: what the provider reported; without a report nothing is known.
            cost: the price of what answered.
        """
        if usage is None or usage.estimated:
            return None
        self._count(usage, cost)
        contents, now = contents_of(request, sent.turns), self._clock()
        lines = self._lines_of(request.session_id)
        line = next((line for line in lines if line.leads_to(contents)), None)
        held = usage.cached_input + usage.cache_write
        newest = _Line(contents, held, now + sent.cache_seconds)
        lines[:] = [newest, *(other for other in lines if other is not line)][:_LINES]
        if line is None:
            return None
        expected = min(line.held, usage.input)
        tokens = expected - usage.cached_input
        if tokens <= expected // _NOISE:
            return None
        self.stats.losses += 1
        changed = line.changed(contents)
        expired = CacheLossReason.EXPIRED if now > line.expires_at else CacheLossReason.EVICTED
        reason = CacheLossReason.CHANGED if changed else expired
        return CacheLoss(reason, changed, tokens, _price_of(tokens, usage, cost))

    def _lines_of(self, session_id: SessionId) -> list[_Line]:
        lines = self._lines.setdefault(session_id, [])
        self._lines.move_to_end(session_id)
        if len(self._lines) > _SESSIONS:
            self._lines.popitem(last=False)
        return lines

    def _count(self, usage: TokenUsage, cost: Cost) -> None:
        stats = self.stats
        stats.hits += usage.cached_input > 0
        stats.misses += usage.cached_input == 0
        if usage.cached_input or usage.cache_write:
            stats.read_tokens += usage.cached_input
            stats.written_tokens += usage.cache_write
            paid, otherwise = cost(usage), cost(_cached(usage, 0, 0))
            if paid is not None and otherwise is not None:
                stats.saved_usd += otherwise - paid


def _price_of(tokens: int, usage: TokenUsage, cost: Cost) -> Decimal | None:
    """What it cost to read so many tokens again, and to write them to the cache again."""
    written = max(usage.cache_write - tokens, 0)
    paid, otherwise = cost(usage), cost(_cached(usage, usage.cached_input + tokens, written))
    return None if paid is None or otherwise is None else plain_amount(paid - otherwise)


def _cached(usage: TokenUsage, read: int, written: int) -> TokenUsage:
    """The same usage with other figures of the cache."""
    hour = min(usage.cache_write_1h, written)
    return replace(usage, cached_input=read, cache_write=written, cache_write_1h=hour)
