"""How each server of chat completions is told whether to think, how hard, and what to cache."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.interaction import InProcessChannel, gateway_channel
from agentslot.model import CacheRetention, ModelConfig, OpenAICompatibleModule, Reasoning
from agentslot.model.wires.openai_completions import (
    CompatibilityProfile,
    OpenAICompletionsWire,
    profile_for,
)
from agentslot.session import AttemptId, MemoryStoreModule, Role
from agentslot.standardagent import AgentConfig, new_application
from tests.loopback import Loopback, loopback
from tests.model.support import message, request
from tests.model.test_openai_compatible import HELLO

OFF = {Reasoning.DEFAULT: 0}
QWEN = "chat_template_kwargs.enable_thinking"
VLLM = CompatibilityProfile(
    reasoning_effort=False, thinking_field=QWEN, thinking_budget_field="thinking_token_budget"
)
SGLANG = replace(VLLM, thinking_budget_field="custom_params.thinking_budget")
LLAMA = CompatibilityProfile(reasoning_effort=False, thinking_budget_field="thinking_budget_tokens")
DEEPSEEK = replace(VLLM, thinking_field="chat_template_kwargs.thinking", thinking_budget_field="")
ALIBABA = "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"
OPENROUTER = "https://openrouter.ai/api/v1"
TOGETHER = "https://api.together.ai/v1"
OPENAI = "https://api.openai.com/v1"
USUAL = {"model", "stream", "stream_options", "messages", "tools", "store", "prompt_cache_key"}


def asked(
    server: str | CompatibilityProfile,
    reasoning: Reasoning = Reasoning.DEFAULT,
    max_tokens: int | None = None,
    *,
    model: str = "m",
) -> dict[str, Any]:
    """What a request says beyond the usual, to a server known by its URL or by its profile."""
    profile = profile_for(server, model) if isinstance(server, str) else server
    config = ModelConfig("openai", model, reasoning, max_tokens=max_tokens)
    sent = OpenAICompletionsWire("http://h/", profile).encode(request([], config=config))
    body: dict[str, Any] = json.loads(sent.body)
    bounds = {"max_tokens", "max_completion_tokens"}
    return {name: value for name, value in body.items() if name not in USUAL | bounds}


async def bodies(
    profile: CompatibilityProfile | None, *configs: ModelConfig, **settings: Any
) -> list[dict[str, Any]]:
    """What a whole application sends when each of its turns wants another effort."""
    channel = InProcessChannel()

    def application(server: Loopback) -> Any:
        return new_application(
            "thinker",
            modules=[
                MemoryStoreModule(),
                OpenAICompatibleModule(f"{server.url}/v1", ["m"], profile=profile, **settings),
                gateway_channel("test", channel),
            ],
            config=AgentConfig(system_prompt="Be brief."),
            default_model=configs[0],
        )

    async with loopback(HELLO) as server, application(server).start():
        session = await channel.create_session(agent="thinker", workspace="w")
        for config in configs:
            await session.update_model_config(config)
            assert (await session.send_and_wait("hi")).text == "hi"
    return [sent.json() for sent in server.requests]


async def test_a_vllm_server_gets_the_budget_of_the_effort_and_the_switch_of_its_template() -> None:
    profile = replace(VLLM, thinking_budgets={**VLLM.thinking_budgets, **OFF})
    efforts = (Reasoning.HIGH, Reasoning.DEFAULT)
    configs = [ModelConfig("openai", "m", effort, max_tokens=30_000) for effort in efforts]
    high, none = await bodies(profile, *configs)
    assert high["thinking_token_budget"] == 15_000
    assert high["chat_template_kwargs"] == {"enable_thinking": True}
    assert none["chat_template_kwargs"] == {"enable_thinking": False}
    assert "thinking_token_budget" not in none
    assert "reasoning_effort" not in high.keys() | none.keys()


async def test_an_hour_of_cache_is_asked_for_through_the_module() -> None:
    marking = CompatibilityProfile(cache_control=True)
    config = ModelConfig("openai", "m")
    for cache, mark in (
        (CacheRetention.LONG, {"type": "ephemeral", "ttl": "1h"}),
        (CacheRetention.SHORT, {"type": "ephemeral"}),
    ):
        [sent] = await bodies(marking, config, cache=cache)
        assert sent["messages"][0]["content"][0]["cache_control"] == mark
    [sent] = await bodies(marking, config, cache=CacheRetention.NONE)
    assert sent["messages"][0]["content"] == "Be brief."


@pytest.mark.parametrize(
    ("server", "high"),
    [
        (ALIBABA, {"enable_thinking": True, "thinking_budget": 16_384}),
        (OPENROUTER, {"reasoning": {"effort": "high"}}),
        (TOGETHER, {"reasoning": {"enabled": True}}),
        (OPENAI, {"reasoning_effort": "high"}),
        ("https://api.x.ai/v1", {}),
        (
            VLLM,
            {
                "chat_template_kwargs": {"enable_thinking": True},
                "thinking_token_budget": 16_384,
            },
        ),
        (
            SGLANG,
            {
                "chat_template_kwargs": {"enable_thinking": True},
                "custom_params": {"thinking_budget": 16_384},
            },
        ),
        (LLAMA, {"thinking_budget_tokens": 16_384}),
        (DEEPSEEK, {"chat_template_kwargs": {"thinking": True}}),
    ],
)
def test_each_server_is_told_to_think_in_its_own_words(
    server: str | CompatibilityProfile, high: dict[str, Any]
) -> None:
    assert asked(server, Reasoning.HIGH) == high
    assert asked(server) == {}


@pytest.mark.parametrize(
    ("server", "none"),
    [
        (ALIBABA, {"enable_thinking": False}),
        (OPENROUTER, {"reasoning": {"effort": "none"}}),
        (TOGETHER, {"reasoning": {"enabled": False}}),
        (OPENAI, {"reasoning_effort": "none"}),
        (VLLM, {"chat_template_kwargs": {"enable_thinking": False}}),
        (LLAMA, {"thinking_budget_tokens": 0}),
    ],
)
def test_a_budget_of_zero_asks_for_no_thinking_in_one_place(
    server: str | CompatibilityProfile, none: dict[str, Any]
) -> None:
    profile = profile_for(server) if isinstance(server, str) else server
    assert asked(replace(profile, thinking_budgets=OFF)) == none


def test_a_budget_of_the_default_effort_is_sent_without_an_effort() -> None:
    profile = replace(VLLM, reasoning_effort=True, thinking_budgets={Reasoning.DEFAULT: 512})
    switched = {"chat_template_kwargs": {"enable_thinking": True}}
    assert asked(profile) == {**switched, "thinking_token_budget": 512}
    assert asked(profile, Reasoning.LOW) == {**switched, "reasoning_effort": "low"}


def test_a_switch_and_a_budget_of_one_template_share_their_object() -> None:
    profile = replace(VLLM, thinking_budget_field="chat_template_kwargs.thinking_budget")
    assert asked(profile, Reasoning.LOW) == {
        "chat_template_kwargs": {"enable_thinking": True, "thinking_budget": 2_048}
    }


@given(effort=st.sampled_from(Reasoning), limit=st.integers(1, 200_000))
def test_a_budget_leaves_room_for_the_answer(effort: Reasoning, limit: int) -> None:
    sent = asked(ALIBABA, effort, limit)
    if effort is Reasoning.DEFAULT:
        assert sent == {}
    elif sent["enable_thinking"]:
        assert 0 < sent["thinking_budget"] < limit
    else:
        assert limit == 1
    assert asked(OPENAI, effort, limit) == asked(OPENAI, effort)


def test_the_one_family_at_together_that_takes_an_effort_gets_it() -> None:
    for host in ("api.together.ai", "api.together.xyz"):
        sent = asked(f"https://{host}/v1", Reasoning.LOW, model="openai/gpt-oss-120b")
        assert sent == {"reasoning_effort": "low"}
        assert asked(f"https://{host}/v1", Reasoning.LOW, model="zai-org/GLM-5.1") == {
            "reasoning": {"enabled": True}
        }


def test_mistakes_in_a_profile_are_refused_at_once() -> None:
    with pytest.raises(TypeError, match="thinking_buget_field"):
        CompatibilityProfile(thinking_buget_field="x")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue] - the mistake under test
    with pytest.raises(ValueError, match=r"0 tokens or more, not -1 for low"):
        CompatibilityProfile(thinking_budgets={Reasoning.LOW: -1})
    with pytest.raises(ValueError, match="hihg"):
        CompatibilityProfile(thinking_budgets={"hihg": 9})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType] - the mistake under test


@pytest.mark.parametrize(
    ("server", "cache", "mark", "seconds"),
    [
        (OPENROUTER, CacheRetention.LONG, {"type": "ephemeral", "ttl": "1h"}, 3600),
        (OPENROUTER, CacheRetention.SHORT, {"type": "ephemeral"}, 300),
        (OPENROUTER, CacheRetention.NONE, None, 300),
        (TOGETHER, CacheRetention.LONG, {"type": "ephemeral"}, 300),
        ("https://integrate.api.nvidia.com/v1", CacheRetention.LONG, {"type": "ephemeral"}, 300),
        ("https://gateway.ai.cloudflare.com/v1", CacheRetention.LONG, {"type": "ephemeral"}, 300),
    ],
)
def test_an_hour_of_cache_is_asked_of_those_that_take_it(
    server: str, cache: CacheRetention, mark: dict[str, str] | None, seconds: float
) -> None:
    model = "anthropic/claude-opus-5"
    profile = replace(profile_for(server, model), cache_control=True)
    wire = OpenAICompletionsWire(server, profile, cache=cache)
    config = ModelConfig("openai", model)
    sent = wire.encode(request([message(1, Role.USER, "hi")], "Be brief.", config))
    content = json.loads(sent.body)["messages"][0]["content"]
    marked = [{"type": "text", "text": "Be brief.", "cache_control": mark}]
    assert content == (marked if mark else "Be brief.")
    assert sent.cache_seconds == seconds


@pytest.mark.parametrize("cache", CacheRetention)
def test_the_key_of_the_cache_goes_where_a_cache_is_wanted(cache: CacheRetention) -> None:
    sent = OpenAICompletionsWire(OPENAI, cache=cache).encode(request([]))
    assert ("prompt_cache_key" in json.loads(sent.body)) == (cache is not CacheRetention.NONE)
    assert sent.cache_seconds == 300


@pytest.mark.parametrize(("cache", "hour"), [(CacheRetention.LONG, 100), (CacheRetention.SHORT, 0)])
@pytest.mark.parametrize("model", ["anthropic/claude-4.6-sonnet", "google/gemini-3.8-flash"])
def test_what_is_kept_for_an_hour_is_counted_as_that(
    cache: CacheRetention, hour: int, model: str
) -> None:
    details = {"cached_tokens": 20, "cache_write_tokens": 100}
    usage = {"prompt_tokens": 200, "completion_tokens": 7, "prompt_tokens_details": details}
    chosen = [{"delta": {"content": "hi"}, "finish_reason": "stop"}]
    wire = OpenAICompletionsWire(OPENROUTER, cache=cache)
    decoder = wire.decoder(AttemptId("attempt-1"))
    chunk = json.dumps({"model": model, "choices": chosen, "usage": usage})
    decoder.feed(f"data: {chunk}\n\ndata: [DONE]\n\n".encode())
    assert decoder.usage is not None
    written = decoder.usage.cache_write, decoder.usage.cache_write_1h
    assert written == (100, hour if model.startswith("anthropic/") else 0)
