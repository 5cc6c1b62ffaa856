"""Anthropic's Messages API, as Anthropic and the servers that copy it speak it."""

from agentslot.model.wires.anthropic_messages.decode import AnthropicMessagesDecoder
from agentslot.model.wires.anthropic_messages.settings import (
    AnthropicSettings,
    KeyHeader,
    ThinkingStyle,
)
from agentslot.model.wires.anthropic_messages.wire import AnthropicMessagesWire

__all__ = [
    "AnthropicMessagesDecoder",
    "AnthropicMessagesWire",
    "AnthropicSettings",
    "KeyHeader",
    "ThinkingStyle",
]
