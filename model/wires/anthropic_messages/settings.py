"""How a server of the Messages API is spoken to."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from agentslot.model.wires.budgets import THINKING_BUDGETS
from agentslot.model.wires.caching import CacheRetention
from agentslot.session import Reasoning

_WITHOUT_SAMPLING = "2026-10-21"
_FIRST_THINKING, _FIRST_ADAPTIVE, _NEWEST = (3, 7), (4, 6), (99, 0)
_SMALL_OUTPUT = 4_096


class KeyHeader(StrEnum):
    """The header field that carries the key."""

    BEARER = "bearer"
    """`Authorization: Bearer …`, as the vendor's current clients send it."""
    X_API_KEY = "x-api-key"
    """`x-api-key`, as older clients sent it and some gateways want it."""


class ThinkingStyle(StrEnum):
    """How a model is asked to think. Each style is an error on models of another."""

    EFFORT = "effort"
    """Adaptive thinking with an effort, as from Claude 4.6 on."""
    BUDGET = "budget"
    """A number of tokens, as from Claude 3.7 to 4.5."""
    NONE = "none"
    """Not at all."""


@dataclass(frozen=True, slots=True)
class AnthropicSettings:
    """Settings of the wire; the defaults are those of Anthropic's own server today.

    Attributes:
        api_version: the `anthropic-version` header. From 2026-10-21 on the server refuses a
            temperature, so none is sent then.
        key_header: which header field carries the key.
        cache: what is asked of the prompt cache. The marks move with the conversation.
        thinking: how the models are asked to think; None tells it by their names.
        thinking_budgets: tokens for each effort, for models that want a budget.
        thinking_display: whether thinking is shown as a summary or left out; None leaves that to
            the model. Its signature comes back either way.
        prefix_mismatch: what the server does with thinking whose conversation has changed since:
            refuse the request, or leave the thinking out. None is the server's default, to refuse.
            Needs its beta.
        max_tokens: bound of the output where the selection has none, as the server wants one.
        strict_tools: whether the server holds a model to the schemas of strict tools. It makes one
            grammar of all that a request has and refuses the request if that is too large, so this
            is for a few small tools, and for models from Claude 4.5 on.
        betas: names for the `anthropic-beta` header.
        service_tier: whether priority capacity that was bought is used where there is some, or
            never; None leaves it to the server, which uses it. What it costs follows from the tier
            that the server then says it took.
    """

    api_version: str = "2026-10-21"
    key_header: KeyHeader = KeyHeader.BEARER
    cache: CacheRetention = CacheRetention.SHORT
    thinking: ThinkingStyle | None = None
    thinking_budgets: Mapping[Reasoning, int] = field(default_factory=lambda: THINKING_BUDGETS)
    thinking_display: Literal["summarized", "omitted"] | None = None
    prefix_mismatch: Literal["error", "drop_block"] | None = None
    max_tokens: int = 32_000
    strict_tools: bool = False
    betas: tuple[str, ...] = ()
    service_tier: Literal["auto", "standard_only"] | None = None

    @property
    def takes_temperature(self) -> bool:
        """Whether the server accepts a temperature at all."""
        return self.api_version < _WITHOUT_SAMPLING

    def thinking_style(self, model: str) -> ThinkingStyle:
        """How that model is asked to think."""
        if self.thinking is not None:
            return self.thinking
        version = _version_of(model)
        if version < _FIRST_THINKING:
            return ThinkingStyle.NONE
        return ThinkingStyle.BUDGET if version < _FIRST_ADAPTIVE else ThinkingStyle.EFFORT

    def output_limit(self, model: str) -> int:
        """The bound of that model's output where the selection has none."""
        small = _version_of(model) < _FIRST_THINKING
        return min(self.max_tokens, _SMALL_OUTPUT) if small else self.max_tokens


_VERSION = re.compile(r"claude-(?:(3)[-.](\d)|(3)-|[a-z]+-(\d+)(?:[-.](\d{1,2})(?!\d))?)")


def _version_of(model: str) -> tuple[int, int]:
    """Tell it by a name such as `claude-opus-4-5-20251101` or `anthropic/claude-3.7-sonnet`.

    Names of other makers, who copy today's protocol, count as the newest.
    """
    found = _VERSION.search(model)
    if found is None:
        return _NEWEST
    return int(found[1] or found[3] or found[4]), int(found[2] or found[5] or 0)
