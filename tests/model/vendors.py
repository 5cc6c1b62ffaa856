"""The vendors that a conversation may switch between, and every answer recorded of each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from agentslot.model import Completion, ModelConfig, ModelError
from agentslot.model.wire import Wire
from agentslot.model.wires.anthropic_messages import AnthropicMessagesWire
from agentslot.model.wires.google_generative_ai import GoogleGenerativeAIWire
from agentslot.model.wires.ollama_chat import OllamaChatWire
from agentslot.model.wires.openai_completions import OpenAICompletionsWire
from agentslot.model.wires.openai_responses import OpenAIResponsesWire
from tests.model import readback
from tests.model.readback import Said
from tests.model.support import decode
from tests.model.test_recordings import recordings as chat_recordings
from tests.shared import SHARED, shared


@dataclass(frozen=True)
class Vendor:
    """One vendor: its model, its wire, how its requests read, and what begins its recordings.

    Attributes:
        files: patterns of its recordings below the shared material.
        mark: what each answer in a file begins with; empty if there is one a file.
    """

    config: ModelConfig
    wire: Callable[[], Wire]
    read: Callable[[dict[str, Any]], list[Said]]
    files: tuple[str, ...]
    mark: bytes = b""


VENDORS = {
    "chat": Vendor(
        ModelConfig("openai", "gpt-4o"),
        lambda: OpenAICompletionsWire("https://api.openai.com/v1"),
        readback.read_chat,
        (),
    ),
    "deepseek": Vendor(
        ModelConfig("deepseek", "deepseek-chat"),
        lambda: OpenAICompletionsWire("https://api.deepseek.com"),
        readback.read_strict_chat,
        ("captures/deepseek/stream_*", "captures/deepseek/vai_*"),
    ),
    "mistral": Vendor(
        ModelConfig("mistral", "mistral-large"),
        lambda: OpenAICompletionsWire("https://api.mistral.ai/v1"),
        readback.read_strict_chat,
        ("captures/mistral/*",),
    ),
    "claude": Vendor(
        ModelConfig("anthropic", "claude-opus-5"),
        AnthropicMessagesWire,
        readback.read_messages,
        ("captures/anthropic/*",),
        b"event: message_start\n",
    ),
    "gpt": Vendor(
        ModelConfig("openai", "gpt-5"),
        OpenAIResponsesWire,
        readback.read_responses,
        ("captures/openai_responses/*", "captures/bedrock_mantle/*"),
        b"event: response.created\n",
    ),
    "gemini": Vendor(
        ModelConfig("google", "gemini-3.8-flash"),
        GoogleGenerativeAIWire,
        readback.read_contents,
        ("captures/gemini/*", "captures/gemini_vertex/*"),
    ),
    "ollama": Vendor(
        ModelConfig("ollama", "qwen3"), OllamaChatWire, readback.read_ollama, ("cases/W23/*",)
    ),
}


def _files_of(name: str) -> Iterator[Path]:
    """The recordings of a vendor."""
    if name == "chat":
        yield from chat_recordings()
    for pattern in VENDORS[name].files:
        yield from sorted((SHARED / pattern).parent.glob(Path(pattern).name))


@cache
def answers_of(name: str) -> tuple[Completion, ...]:
    """Every answer in the recordings of a vendor; recorded failures are none."""
    vendor = VENDORS[name]
    answers: list[Completion] = []
    for path in _files_of(name):
        if path.name.endswith((".meta.json", ".request.json")):
            continue
        whole = path.read_bytes()
        bodies = [vendor.mark + b for b in whole.split(vendor.mark)[1:]] if vendor.mark else [whole]
        for body in bodies:
            try:
                answer, _ = decode(body, make=vendor.wire().decoder)
            except ModelError:
                continue
            answers.append(answer.completion)
    if not answers:
        shared("captures")
    return tuple(answers)
