"""The OpenAI chat completions protocol, as OpenAI and a hundred compatible servers speak it."""

from agentslot.model.wires.openai_completions.decode import OpenAICompletionsDecoder
from agentslot.model.wires.openai_completions.profile import (
    CompatibilityProfile,
    ThinkingReplay,
    profile_for,
)
from agentslot.model.wires.openai_completions.wire import OpenAICompletionsWire

__all__ = [
    "CompatibilityProfile",
    "OpenAICompletionsDecoder",
    "OpenAICompletionsWire",
    "ThinkingReplay",
    "profile_for",
]
