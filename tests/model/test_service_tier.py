"""Each provider's word for the tier by which it served an answer."""

from typing import Any

import pytest

from agentslot.model.wire import Answer
from agentslot.model.wires.anthropic_messages import AnthropicMessagesDecoder
from agentslot.model.wires.google_generative_ai import GoogleGenerativeAIDecoder
from agentslot.model.wires.openai_completions import OpenAICompletionsDecoder
from agentslot.model.wires.openai_responses import OpenAIResponsesDecoder
from agentslot.session import TokenUsage
from tests.model import test_anthropic_decoder as messages
from tests.model import test_google_decoder as google
from tests.model import test_responses_decoder as responses
from tests.model.support import decode


def tier_of(answer: Answer) -> str:
    assert answer.usage is not None
    return answer.usage.service_tier


def chat(tier: str) -> Answer:
    chunk: dict[str, Any] = {"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}
    last = {"choices": list[Any](), "usage": {"prompt_tokens": 5, "completion_tokens": 7}}
    data = google.sse({**chunk, "service_tier": tier}, last)
    return decode(data, 0, OpenAICompletionsDecoder)[0]


def gpt(tier: str) -> Answer:
    used = {"input_tokens": 5, "output_tokens": 7}
    begun = {"type": "response.created", "response": {"service_tier": "auto"}}
    data = responses.sse(
        begun, responses.text(0, "hi"), responses.end(usage=used, service_tier=tier)
    )
    return decode(data, 0, OpenAIResponsesDecoder)[0]


def claude(tier: str) -> Answer:
    usage = {"input_tokens": 5, "output_tokens": 1, "service_tier": tier}
    start = {"type": "message_start", "message": {"usage": usage}}
    hi = messages.block(0, {"type": "text", "text": "hi"})
    end = [{"type": "message_delta", "delta": {}, "usage": {"output_tokens": 7}}]
    data = messages.sse(start, *hi, *end, *messages.stop())
    return decode(data, 0, AnthropicMessagesDecoder)[0]


def gemini(member: str, tier: str) -> Answer:
    usage = {"promptTokenCount": 5, member: tier}
    data = google.sse(google.chunk("hi", finish="STOP", usageMetadata=usage))
    return decode(data, 0, GoogleGenerativeAIDecoder)[0]


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
