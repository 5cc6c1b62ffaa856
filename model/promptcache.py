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
from agentslot.model.price import plain
from agentslot.model.wire import WireRequest
from agentslot.model.wires.caching import (
    CacheLoss,
    CacheLossReason,
    CacheStats,
    ChangedSection,
    Stability,
)
from agentslot.model.wires.prefix import TurnDigests
from agentslot.session import SessionId, TokenUsage

Cost = Callable[[TokenUsage], Decimal | None]
"""What a usage costs; None if that is not known."""

_SESSIONS = 4096
_LINES = 4
_NOISE = 10


@dataclass(frozen=True, slots=True)
class Section:
    """One section of a prompt.

    Attributes:
        content: compared with that of the request before, which for what is static is the very same
            object; of a growing section the digests of its turns.
    """

    name: str
    stability: Stability
    content: object

    def same_as(self, before: "Section") -> bool:
        """Whether a cache that holds the section before holds this one, as far as that went."""
        if isinstance(self.content, TurnDigests) and isinstance(before.content, TurnDigests):
            return self.content.continues(before.content)
        return self.content == before.content


Sections = tuple[Section, ...]


def sections_of(request: ModelRequest, conversation: TurnDigests) -> Sections:
    """The sections that a cache may hold, in the order in which a change of one matters most."""
    config = request.config
    return (
        Section("model", Stability.SESSION, config.model),
        Section("settings", Stability.SESSION, config.reasoning),
        Section("tools", Stability.STATIC, request.tools),
        Section("system_prompt", Stability.STATIC, request.system_prompt),
        Section("conversation", Stability.GROWING, conversation),
    )


@dataclass(frozen=True, slots=True)
class _Line:
    """Requests that grow out of each other: the last one, and what the provider held after it."""

    sections: Sections
    held: int
    expires_at: float

    def leads_to(self, sections: Sections) -> bool:
        """Whether a request goes on from here.

        Other requests of a Session, such as one that judges its goal, have nothing in common with
        its conversation. They are a line of their own, and nobody's loss.
        """
        return any(
            now.content and now.same_as(before)
            for now, before in zip(sections[2:], self.sections[2:], strict=True)
        )

    def changed(self, sections: Sections) -> tuple[ChangedSection, ...]:
        """The sections that are not what they were; of another model, that alone."""
        changed = tuple(
            ChangedSection(now.name, now.stability)
            for now, before in zip(sections, self.sections, strict=True)
            if not now.same_as(before)
        )
        return changed[:1] if changed and changed[0].name == "model" else changed


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
        sections, now = sections_of(request, sent.turns), self._clock()
        lines = self._lines_of(request.session_id)
        line = next((line for line in lines if line.leads_to(sections)), None)
        held = usage.cached_input + usage.cache_write
        newest = _Line(sections, held, now + sent.cache_seconds)
        lines[:] = [newest, *(other for other in lines if other is not line)][:_LINES]
        if line is None:
            return None
        tokens = min(line.held, usage.input) - usage.cached_input
        if tokens <= line.held // _NOISE:
            return None
        self.stats.losses += 1
        changed = line.changed(sections)
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
    return None if paid is None or otherwise is None else plain(paid - otherwise)


def _cached(usage: TokenUsage, read: int, written: int) -> TokenUsage:
    """The same usage with other figures of the cache."""
    hour = min(usage.cache_write_1h, written)
    return replace(usage, cached_input=read, cache_write=written, cache_write_1h=hour)
