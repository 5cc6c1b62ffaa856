"""Ollama's own chat protocol: one JSON object a line."""

from agentslot.model.wires.ollama_chat.decode import OllamaChatDecoder
from agentslot.model.wires.ollama_chat.settings import OllamaSettings, ollama_url
from agentslot.model.wires.ollama_chat.wire import OllamaChatWire

__all__ = ["OllamaChatDecoder", "OllamaChatWire", "OllamaSettings", "ollama_url"]
