"""Each provider's word for the tier by which it served an answer, and how one is asked for."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from agentslot.model import (
    MODEL_EXECUTOR,
    AnthropicModule,
    AnthropicSettings,
    AttemptOutcome,
    GoogleModule,
    GoogleSettings,
    ModelConfig,
    OllamaSettings,
    OpenAICompatibleModule,
    OpenAIResponsesModule,
    ResponsesSettings,
)
from agentslot.model.catalog import resolve
from agentslot.model.provider import ProviderModule
from agentslot.model.testing import MemoryRecorder
from agentslot.model.wire import Answer
from agentslot.model.wires.anthropic_messages import AnthropicMessagesDecoder
from agentslot.model.wires.google_generative_ai import GoogleGenerativeAIDecoder
from agentslot.model.wires.openai_completions import OpenAICompletionsDecoder
from agentslot.model.wires.openai_responses import OpenAIResponsesDecoder
from agentslot.session import Role, TokenUsage
from tests.loopback import Answer as Reply
from tests.loopback import loopback
from tests.model import test_anthropic_decoder as messages
from tests.model import test_google_decoder as google
from tests.model import test_responses_decoder as responses
from tests.model.support import application, collect, decode, message, request


def tier_of(answer: Answer) -> str:
    assert answer.usage is not None
    return answer.usage.service_tier


def chat_body(tier: str) -> bytes:
    chunk: dict[str, Any] = {"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}
    last = {"choices": list[Any](), "usage": {"prompt_tokens": 5, "completion_tokens": 7}}
    return google.sse({**chunk, "service_tier": tier}, last)


def chat(tier: str) -> Answer:
    return decode(chat_body(tier), 0, OpenAICompletionsDecoder)[0]


def gpt_body(tier: str) -> bytes:
    used = {"input_tokens": 5, "output_tokens": 7}
    begun = {"type": "response.created", "response": {"service_tier": "auto"}}
    return responses.sse(
        begun, responses.text(0, "hi"), responses.end(usage=used, service_tier=tier)
    )


def gpt(tier: str) -> Answer:
    return decode(gpt_body(tier), 0, OpenAIResponsesDecoder)[0]


def claude_body(tier: str) -> bytes:
    usage = {"input_tokens": 5, "output_tokens": 1, "service_tier": tier}
    start = {"type": "message_start", "message": {"usage": usage}}
    hi = messages.block(0, {"type": "text", "text": "hi"})
    end = [{"type": "message_delta", "delta": {}, "usage": {"output_tokens": 7}}]
    return messages.sse(start, *hi, *end, *messages.stop())


def claude(tier: str) -> Answer:
    return decode(claude_body(tier), 0, AnthropicMessagesDecoder)[0]


def gemini_body(tier: str, member: str = "serviceTier") -> bytes:
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 7, member: tier}
    return google.sse(google.chunk("hi", finish="STOP", usageMetadata=usage))


def gemini(member: str, tier: str) -> Answer:
    return decode(gemini_body(tier, member), 0, GoogleGenerativeAIDecoder)[0]


def test_the_tier_is_read_where_each_vendor_says_it() -> None:
    assert tier_of(chat("flex")) == tier_of(gpt("flex")) == "flex"
    assert tier_of(claude("priority")) == "priority"
    assert tier_of(gemini("trafficType", "ON_DEMAND_FLEX")) == "flex"
    assert tier_of(gemini("serviceTier", "PRIORITY")) == "priority"


@pytest.mark.parametrize("word", ["auto", "default", "standard", "on_demand", "", "ON_DEMAND"])
def test_the_ordinary_tier_has_no_name(word: str) -> None:
    answers = chat(word), gpt(word), claude(word), gemini("trafficType", word)
    assert [tier_of(answer) for answer in answers] == [""] * 4


def test_a_sum_of_two_tiers_names_none() -> None:
    flex = TokenUsage(total=1, service_tier="flex")
    fast = TokenUsage(total=1, service_tier="priority")
    assert sum([flex, flex], TokenUsage()).service_tier == "flex"
    assert (flex + fast).service_tier == ""


@dataclass(frozen=True)
class Vendor:
    """How a vendor is asked for a tier, and an answer of which it says by which it was served."""

    module: Callable[[str, Any], ProviderModule]
    model: str
    answer: Callable[[str], bytes]
    member: str = "service_tier"


VENDORS = {
    "openai-completions": Vendor(
        lambda url, tier: OpenAICompatibleModule(url, ["gpt-5"], service_tier=tier),
        "openai/gpt-5",
        chat_body,
    ),
    "openai-responses": Vendor(
        lambda url, tier: OpenAIResponsesModule(
            ["gpt-5"], base_url=url, api_key_env=None, settings=ResponsesSettings(service_tier=tier)
        ),
        "openai/gpt-5",
        gpt_body,
    ),
    "anthropic-messages": Vendor(
        lambda url, tier: AnthropicModule(
            ["claude-opus-5"],
            base_url=url,
            api_key_env=None,
            settings=AnthropicSettings(service_tier=tier),
        ),
        "anthropic/claude-opus-5",
        claude_body,
    ),
    "google-generative-ai": Vendor(
        lambda url, tier: GoogleModule(
            ["gemini-3.8-flash"],
            base_url=url,
            api_key_env=None,
            settings=GoogleSettings(service_tier=tier),
        ),
        "google/gemini-3.8-flash",
        gemini_body,
        "serviceTier",
    ),
}


async def ask(vendor: Vendor, tier: str | None, served: str) -> tuple[Any, AttemptOutcome]:
    """The tier that the request names, and what came of it."""
    provider, _, model = vendor.model.partition("/")
    recorder = MemoryRecorder()
    async with (
        loopback(Reply(vendor.answer(served))) as server,
        application(vendor.module(server.url, tier)).start() as runtime,
    ):
        executor = runtime.assembly[MODEL_EXECUTOR]
        asked = request([message(1, Role.USER, "hi")], config=ModelConfig(provider, model))
        await collect(executor.execute(asked, recorder))
    [outcome] = recorder.outcomes.values()
    assert outcome is not None
    return server.requests[0].json().get(vendor.member), outcome


@pytest.mark.parametrize(
    ("wire", "tier", "served", "named"),
    [
        ("openai-completions", "flex", "flex", "flex"),
        ("openai-responses", "priority", "priority", "priority"),
        ("anthropic-messages", "standard_only", "standard", ""),
        ("google-generative-ai", "flex", "FLEX", "flex"),
        ("google-generative-ai", "flex", "STANDARD", ""),
    ],
)
async def test_a_tier_is_asked_for_and_the_one_that_served_is_paid(
    wire: str, tier: str, served: str, named: str
) -> None:
    asked, outcome = await ask(VENDORS[wire], tier, served)
    price = resolve(VENDORS[wire].model).price
    assert outcome.usage is not None
    assert price is not None
    assert (asked, outcome.usage.service_tier) == (tier, named)
    ordinary = price.cost(replace(outcome.usage, service_tier=""))
    assert outcome.cost_usd == price.cost(outcome.usage)
    assert (outcome.cost_usd == ordinary) == (named == "")


@pytest.mark.parametrize("wire", VENDORS)
async def test_no_tier_is_named_where_none_is_set(wire: str) -> None:
    assert (await ask(VENDORS[wire], None, "default"))[0] is None


def test_a_wire_without_tiers_says_which_have_them() -> None:
    with pytest.raises(ValueError, match=r"Ollama has no service tiers.*openai-completions"):
        OllamaSettings(service_tier="flex")
