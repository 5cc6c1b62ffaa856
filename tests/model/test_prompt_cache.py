"""What is known of a provider's cache: why it was lost, and what that cost."""

from dataclasses import replace
from decimal import Decimal

import pytest

from agentslot.model import (
    CacheLoss,
    CacheLossReason,
    CacheStats,
    Input,
    ModelConfig,
    ModelRequest,
    Price,
    PromptSection,
    Reasoning,
    Stability,
    TokenUsage,
    ToolDefinition,
    Transcript,
)
from agentslot.model.promptcache import PromptCache
from agentslot.model.wires.anthropic_messages import AnthropicMessagesWire, AnthropicSettings
from agentslot.model.wires.caching import CacheRetention
from agentslot.model.wires.prefix import TurnDigests
from agentslot.session import OutputFormat, Role, SessionId
from tests.model.support import message, request

CONFIG = ModelConfig("anthropic", "claude-opus-5")
TOOLS = (ToolDefinition("add", "Add.", {"type": "object"}),)
PRICE = Price(Decimal(10), Decimal(50), cached_input=Decimal(1), cache_write=Decimal("12.5"))
WROTE = TokenUsage(input=10_000, output=10, cache_write=10_000, total=10_010)


def said(count: int) -> list[Input]:
    roles = (Role.USER, Role.ASSISTANT)
    return [message(n, roles[(n - 1) % 2], f"message {n}") for n in range(1, count + 1)]


def read(cached: int, of: int = 10_200, written: int = 0) -> TokenUsage:
    return TokenUsage(input=of, output=10, cached_input=cached, cache_write=written, total=of + 10)


class Provider:
    """A provider with a cache, asked again and again."""

    def __init__(self, cache: CacheRetention = CacheRetention.SHORT) -> None:
        self.now = 0.0
        self.cache = PromptCache(clock=lambda: self.now)
        self._wire = AnthropicMessagesWire(AnthropicSettings(cache=cache))

    def answers(self, asked: ModelRequest, usage: TokenUsage | None) -> CacheLoss | None:
        return self.cache.answered(asked, self._wire.encode(asked), usage, self._cost)

    @staticmethod
    def _cost(usage: TokenUsage) -> Decimal | None:
        return PRICE.cost(usage)


def ask(inputs: Transcript, prompt: str | None = "Be brief.") -> ModelRequest:
    return replace(request([], prompt, CONFIG), inputs=inputs, tools=TOOLS)


def test_a_cache_that_grows_with_the_conversation_loses_nothing() -> None:
    provider, talk = Provider(), Transcript(said(1))
    assert provider.answers(ask(talk), WROTE) is None
    for count in range(2, 6, 2):
        talk = talk.appended(said(count + 1)[count - 1 :])
        assert provider.answers(ask(talk), read(10_000, 10_500, 400)) is None
    assert (provider.cache.stats.hits, provider.cache.stats.misses) == (2, 1)


CHANGES = {
    "tools": replace(ask(Transcript(said(3))), tools=()),
    "system_prompt": ask(Transcript(said(3)), "Be long."),
    "conversation": ask(Transcript(said(4)[1:])),
    "settings": replace(ask(Transcript(said(3))), config=replace(CONFIG, reasoning=Reasoning.HIGH)),
    "model": replace(
        ask(Transcript(said(3)), None), config=replace(CONFIG, model="claude-haiku-5")
    ),
}


def test_another_form_of_the_answer_is_a_change_of_the_settings() -> None:
    provider, form = Provider(), OutputFormat('{"type": "object"}')
    provider.answers(ask(Transcript(said(1))), WROTE)
    lost = provider.answers(replace(ask(Transcript(said(3))), output=form), read(0))
    assert lost is not None
    assert [changed.name for changed in lost.changed] == ["settings"]


@pytest.mark.parametrize("section", CHANGES)
def test_a_loss_names_the_section_that_changed(section: str) -> None:
    provider = Provider()
    provider.answers(ask(Transcript(said(1))), WROTE)
    lost = provider.answers(CHANGES[section], read(0, written=10_200))
    assert lost is not None
    assert lost.reason is CacheLossReason.CHANGED
    assert [changed.name for changed in lost.changed] == [section]
    assert lost.tokens == 10_000
    assert provider.cache.stats.losses == 1


def test_each_section_says_how_stable_it_is() -> None:
    provider = Provider()
    provider.answers(ask(Transcript(said(1))), WROTE)
    lost = provider.answers(CHANGES["tools"], read(0))
    assert lost is not None
    assert lost.changed == (PromptSection("tools", Stability.STATIC),)
    lost = provider.answers(ask(Transcript(said(4)[1:])), replace(WROTE, cached_input=0))
    assert lost is None  # nothing was held after the loss


def test_a_change_that_costs_nothing_is_no_loss() -> None:
    provider = Provider()
    provider.answers(ask(Transcript(said(1))), WROTE)
    assert provider.answers(CHANGES["conversation"], read(9_500)) is None


@pytest.mark.parametrize(
    ("retention", "seconds", "reason"),
    [
        (CacheRetention.SHORT, 299, CacheLossReason.EVICTED),
        (CacheRetention.SHORT, 301, CacheLossReason.EXPIRED),
        (CacheRetention.LONG, 301, CacheLossReason.EVICTED),
        (CacheRetention.LONG, 3601, CacheLossReason.EXPIRED),
    ],
)
def test_a_loss_without_a_change_is_told_from_one_by_age(
    retention: CacheRetention, seconds: float, reason: CacheLossReason
) -> None:
    provider, talk = Provider(retention), Transcript(said(1))
    provider.answers(ask(talk), WROTE)
    provider.now = seconds
    lost = provider.answers(ask(talk.appended(said(3)[1:])), read(0))
    assert lost is not None
    assert (lost.reason, lost.changed) == (reason, ())


def test_a_loss_costs_the_difference_between_reading_anew_and_from_the_cache() -> None:
    provider, talk = Provider(), Transcript(said(1))
    provider.answers(ask(talk), WROTE)
    again = provider.answers(ask(talk), read(0, written=10_200))
    assert again is not None
    assert again.cost_usd == Decimal(10_000) * (Decimal("12.5") - 1) / 1_000_000
    provider.answers(ask(talk), WROTE)
    fresh = provider.answers(ask(talk), read(4_000))
    assert fresh is not None
    assert (fresh.tokens, fresh.cost_usd) == (6_000, Decimal(6_000) * (10 - 1) / 1_000_000)


def test_a_shorter_conversation_can_lose_no_more_than_it_has() -> None:
    provider = Provider()
    provider.answers(ask(Transcript(said(9))), WROTE)
    lost = provider.answers(ask(Transcript(said(9)[6:])), read(1_000, of=3_000))
    assert lost is not None
    assert lost.tokens == 2_000


def test_a_request_that_has_nothing_in_common_is_nobodys_loss() -> None:
    provider, talk = Provider(), Transcript(said(1))
    provider.answers(ask(talk), WROTE)
    judge = replace(request([message(9, Role.USER, "Is it done?")], "Judge.", CONFIG))
    assert provider.answers(judge, read(0, of=100)) is None
    assert provider.answers(ask(talk), read(10_000)) is None
    assert provider.answers(judge, read(0, of=100)) is None


def test_nothing_is_concluded_from_figures_that_nobody_reported() -> None:
    provider, talk = Provider(), Transcript(said(1))
    provider.answers(ask(talk), WROTE)
    assert provider.answers(ask(talk), None) is None
    assert provider.answers(ask(talk), replace(read(0), estimated=True)) is None
    assert provider.cache.stats == CacheStats(
        misses=1, written_tokens=10_000, saved_usd=Decimal("-0.025")
    )


def test_other_sessions_and_what_they_cost_do_not_mix() -> None:
    provider, talk = Provider(), Transcript(said(1))
    provider.answers(ask(talk), WROTE)
    other = replace(ask(Transcript(said(1)), "Another."), session_id=SessionId("other"))
    assert provider.answers(other, read(0)) is None


def test_savings_are_what_the_same_tokens_would_have_cost_anew() -> None:
    provider, talk = Provider(), Transcript(said(1))
    provider.answers(ask(talk), WROTE)
    provider.answers(ask(talk), read(10_000))
    stats = provider.cache.stats
    assert (stats.read_tokens, stats.written_tokens) == (10_000, 10_000)
    assert stats.saved_usd == Decimal("-0.025") + Decimal("0.09")


def test_digests_tell_whether_turns_go_on_from_others() -> None:
    wire, talk = AnthropicMessagesWire(), Transcript(said(1))
    first = wire.encode(ask(talk)).turns
    longer = wire.encode(ask(talk.appended(said(3)[1:]))).turns
    again = AnthropicMessagesWire().encode(ask(Transcript(said(3)))).turns
    other = AnthropicMessagesWire().encode(ask(Transcript(said(4)[1:]))).turns
    assert longer.continues(first)
    assert again.continues(longer)
    assert not first.continues(longer)
    assert not other.continues(first)
    assert other.continues(TurnDigests())
