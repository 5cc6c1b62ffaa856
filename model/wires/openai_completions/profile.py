"""What compatible servers do differently: flags, each with the vendor that needs it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from urllib.parse import urlsplit

from agentslot.model.wires.budgets import THINKING_BUDGETS
from agentslot.model.wires.caching import CacheRetention
from agentslot.session import Reasoning


class ThinkingReplay(StrEnum):
    """What an assistant message takes along of its thinking when it is sent again."""

    AS_RECEIVED = "as_received"
    """The field in which the server itself sent it, to the model that wrote it only."""
    WITH_CALLS = "with_calls"
    """`reasoning_content` on every message with tool calls, empty if there was none."""
    NEVER = "never"
    """Nothing: the server refuses such fields."""


@dataclass(frozen=True, slots=True)
class CompatibilityProfile:
    """How one server speaks this protocol. The defaults are what every server understands.

    What is named a field is the path of a member of the request: a dot leads into an object.

    Attributes:
        max_tokens_field: `max_tokens`, or `max_completion_tokens` on hosts that deprecated it.
        developer_role: the system prompt goes out as `developer` instead of `system`.
        store: the server would keep the exchange unless `store` is false (OpenAI).
        prompt_cache_key: the server routes by it, so that one Session finds its cache (OpenAI).
        reasoning_effort: an effort is understood. Not on xAI, Moonshot, Together, Nvidia; Alibaba
            takes a budget in its place.
        effort_field: the effort; `reasoning.effort` on OpenRouter.
        thinking_field: true to think, false not to: `enable_thinking` on Alibaba and
            `reasoning.enabled` on Together. vLLM, SGLang and llama.cpp hand it to the template of
            the model, `chat_template_kwargs.enable_thinking` for Qwen's and GLM's and
            `chat_template_kwargs.thinking` for DeepSeek's.
        thinking_budget_field: the most tokens to think with: `thinking_budget` on Alibaba,
            `thinking_token_budget` on vLLM (started with a reasoning config),
            `thinking_budget_tokens` on llama.cpp and `custom_params.thinking_budget` on SGLang
            (with strict thinking).
        thinking_budgets: tokens for each effort, of which at most half of `max_tokens` is sent. An
            effort with 0 asks for no thinking, over the first of these that the server has: the
            thinking field, the budget, the effort `none`. The default effort has no budget, which
            leaves the model its habit; `{Reasoning.DEFAULT: 0}` ends that.
        stream_options: the usage of a stream must be asked for. Mistral always sends it.
        null_content: a message that has only calls may carry `content: null`, else "".
        user_after_tool: a user message may follow a tool result at once. Not on Mistral, nor for
            Anthropic's models on OpenRouter: a short assistant message goes between.
        assistant_last: a request may end with the assistant's message (OpenAI). Mistral, DeepSeek
            and Anthropic's models refuse that, and llama.cpp goes on writing in it, so a word of
            ours stands behind.
        tool_result_name: tool results must repeat the name of the tool (Mistral).
        tool_call_id: what the ids of tool calls must match; others are replaced, on both sides.
        thinking_replay: see ThinkingReplay.
        forced_calls: a call may be demanded. Not on DeepSeek, Moonshot, Z.ai and Alibaba, all of
            which leave it to the model, or do so while it thinks.
        strict_tools: the server can hold a model to the schema of a tool (OpenAI). Moonshot,
            Together, Nvidia and Cloudflare do not know the word.
        cache_control: Anthropic's cache marks are taken (OpenRouter): on tools, and on texts of the
            system prompt, of users and of tools.
        long_cache_retention: the mark may ask for an hour. Not on Together, Cloudflare, Nvidia.

    Raises:
        ValueError: a budget is less than 0, or for an effort that there is not.
    """

    max_tokens_field: str = "max_tokens"
    developer_role: bool = False
    store: bool = False
    prompt_cache_key: bool = False
    reasoning_effort: bool = True
    effort_field: str = "reasoning_effort"
    thinking_field: str = ""
    thinking_budget_field: str = ""
    thinking_budgets: Mapping[Reasoning, int] = field(
        default_factory=lambda: THINKING_BUDGETS, hash=False
    )
    stream_options: bool = True
    null_content: bool = True
    user_after_tool: bool = True
    assistant_last: bool = False
    tool_result_name: bool = False
    tool_call_id: str = r"[!-~]{1,64}"
    thinking_replay: ThinkingReplay = ThinkingReplay.AS_RECEIVED
    forced_calls: bool = True
    strict_tools: bool = False
    cache_control: bool = False
    long_cache_retention: bool = True

    def __post_init__(self) -> None:
        for effort, tokens in self.thinking_budgets.items():
            Reasoning(effort)
            if tokens < 0:
                msg = f"a budget of thinking is 0 tokens or more, not {tokens} for {effort}"
                raise ValueError(msg)

    def retention(self, wanted: CacheRetention) -> CacheRetention:
        """What the server's cache can be asked for where that is wanted."""
        hour = self.cache_control and self.long_cache_retention
        return CacheRetention.SHORT if wanted is CacheRetention.LONG and not hour else wanted


_PLAIN = CompatibilityProfile()
_NO_EFFORT = CompatibilityProfile(reasoning_effort=False)
_MODERN = CompatibilityProfile(max_tokens_field="max_completion_tokens")
_FREE = CompatibilityProfile(forced_calls=False)
_FREE_WITH_THINKING = replace(
    _NO_EFFORT, forced_calls=False, thinking_replay=ThinkingReplay.WITH_CALLS
)
_SHORT_CACHE = replace(_NO_EFFORT, long_cache_retention=False)
_ALIBABA = replace(
    _NO_EFFORT,
    forced_calls=False,
    thinking_field="enable_thinking",
    thinking_budget_field="thinking_budget",
)
_TOGETHER = replace(_SHORT_CACHE, thinking_field="reasoning.enabled")

_BY_HOST = {
    "api.openai.com": replace(
        _MODERN,
        developer_role=True,
        store=True,
        prompt_cache_key=True,
        assistant_last=True,
        strict_tools=True,
    ),
    "openai.azure.com": replace(_MODERN, assistant_last=True, strict_tools=True),
    "openrouter.ai": replace(_PLAIN, effort_field="reasoning.effort"),
    "api.groq.com": _MODERN,
    "api.cerebras.ai": _MODERN,
    "api.deepseek.com": _FREE_WITH_THINKING,
    "api.mistral.ai": CompatibilityProfile(
        stream_options=False,
        reasoning_effort=False,
        user_after_tool=False,
        tool_result_name=True,
        tool_call_id=r"[A-Za-z0-9]{9}",
        thinking_replay=ThinkingReplay.NEVER,
    ),
    "api.x.ai": replace(_MODERN, reasoning_effort=False),
    "api.moonshot.ai": _FREE_WITH_THINKING,
    "api.moonshot.cn": _FREE_WITH_THINKING,
    "api.z.ai": _FREE,
    "dashscope.aliyuncs.com": _ALIBABA,
    "dashscope-intl.aliyuncs.com": _ALIBABA,
    "dashscope-us.aliyuncs.com": _ALIBABA,
    "api.together.ai": _TOGETHER,
    "api.together.xyz": _TOGETHER,
    "integrate.api.nvidia.com": _SHORT_CACHE,
    "gateway.ai.cloudflare.com": _SHORT_CACHE,
}

_OPENROUTER_MODEL = re.compile("(anthropic|openai)/")


def profile_for(base_url: str, model: str = "") -> CompatibilityProfile:
    """Profile of a server known by its host, or the cautious one.

    Args:
        base_url: the server's base URL.
        model: the model to be asked; gateways differ by it.
    """
    host = urlsplit(base_url).hostname or ""
    known = next((name for name in _BY_HOST if host == name or host.endswith(f".{name}")), "")
    profile = _BY_HOST.get(known, _PLAIN)
    if known == "openrouter.ai" and (vendor := _OPENROUTER_MODEL.match(model)):
        anthropic = vendor[1] == "anthropic"
        return replace(
            profile,
            developer_role=True,
            user_after_tool=not anthropic,
            cache_control=anthropic,
            strict_tools=not anthropic,
        )
    if known.startswith("api.together.") and model.startswith("openai/gpt-oss-"):
        # These always think, and are the only ones there that are told how hard.
        return replace(profile, reasoning_effort=True, thinking_field="")
    return profile
