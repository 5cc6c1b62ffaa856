"""OpenAI's Responses API, as OpenAI and the servers that copy it speak it."""

from agentslot.model.wires.openai_responses.decode import OpenAIResponsesDecoder
from agentslot.model.wires.openai_responses.settings import ResponsesSettings
from agentslot.model.wires.openai_responses.wire import OpenAIResponsesWire

__all__ = ["OpenAIResponsesDecoder", "OpenAIResponsesWire", "ResponsesSettings"]
