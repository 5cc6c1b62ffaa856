"""What a request costs to encode: what is new in it, however long the conversation is.

`ours` is the wire that grows most. Copying the bytes of the conversation, which every client must
do, is measured by itself and taken off.
"""

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from agentslot.model import Input, ModelConfig, ModelRequest, ToolDefinition, Transcript
from agentslot.model.wire import Wire
from agentslot.model.wires.anthropic_messages import AnthropicMessagesWire
from agentslot.model.wires.google_generative_ai import GoogleGenerativeAIWire
from agentslot.model.wires.ollama_chat import OllamaChatWire
from agentslot.model.wires.openai_completions import OpenAICompletionsWire
from agentslot.model.wires.openai_responses import OpenAIResponsesWire
from agentslot.session import (
    Message,
    MessageId,
    Role,
    RunId,
    SessionId,
    StepId,
    TextPart,
    ToolCall,
    ToolCallId,
    ToolResult,
)
from benchmarks import Row

WIRES: dict[str, Callable[[], Wire]] = {
    "anthropic-messages": AnthropicMessagesWire,
    "google-generative-ai": GoogleGenerativeAIWire,
    "ollama-chat": OllamaChatWire,
    "openai-completions": lambda: OpenAICompletionsWire("https://api.openai.com/v1"),
    "openai-responses": OpenAIResponsesWire,
}
DEPTH = 500
LONG, MANY_TOOLS = 1_000, 128
NEAR = 10
"""Over how many turns a cost is measured, near the first and near the last."""
REPEATS = 15


class Schema(Mapping[str, Any]):
    """A schema that counts how often somebody reads it."""

    reads = 0

    def __init__(self, members: dict[str, Any]) -> None:
        self._members = members

    def __getitem__(self, name: str) -> Any:
        return self._members[name]

    def __iter__(self) -> Iterator[str]:
        Schema.reads += 1
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)


def tools(count: int) -> tuple[ToolDefinition, ...]:
    """Tools with a schema of ordinary size."""
    members = {f"field_{n}": {"type": "string", "description": "A field."} for n in range(6)}
    schema = {"type": "object", "properties": members, "additionalProperties": False}
    return tuple(ToolDefinition(f"tool_{n}", "Does it.", Schema(schema)) for n in range(count))


def turn(number: int) -> list[Input]:
    """An answer with a call, and the call's result."""
    moment, run, step = datetime(2026, 1, 1, tzinfo=UTC), RunId("run-1"), StepId("step-1")
    identity = MessageId(f"message-{number}")
    said = TextPart(f"Looking at page {number} of the report.")
    call_id, arguments = ToolCallId(f"call-{number}"), f'{{"page":{number}}}'
    return [
        Message(identity, Role.ASSISTANT, (said,), moment, run, step),
        ToolCall(call_id, f"t{number}", identity, run, step, "tool_0", arguments),
        ToolResult.succeeded(call_id, f"Page {number} says nothing new about the matter."),
    ]


def request(transcript: Transcript, offered: tuple[ToolDefinition, ...]) -> ModelRequest:
    """A request that shows the conversation."""
    config = ModelConfig("vendor", "gpt-5")
    ids = SessionId("session-1"), RunId("run-1"), StepId("step-1")
    return ModelRequest(*ids, config, "You read reports.", transcript, offered)


def beginning() -> Transcript:
    """A conversation that has only its question."""
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    return Transcript([Message(MessageId("q"), Role.USER, (TextPart("Read it all."),), moment)])


def conversation(wire: Wire) -> tuple[float, float, float]:
    """Seconds that a turn costs near the first and near the last one, and to copy the latter."""
    transcript, offered, costs = beginning(), tools(8), list[float]()
    body = b""
    for number in range(1, DEPTH + NEAR):
        transcript = transcript.appended(turn(number))
        asked = request(transcript, offered)
        started = time.perf_counter()
        body = wire.encode(asked).body
        costs.append(time.perf_counter() - started)
    return statistics.median(costs[:NEAR]), statistics.median(costs[-NEAR:]), copying(body)


def copying(body: bytes) -> float:
    """Seconds to put the body together out of its pieces."""
    kept, costs = bytearray(body), list[float]()
    for _ in range(NEAR):
        started = time.perf_counter()
        b"".join((b"head", memoryview(kept), b"end"))
        costs.append(time.perf_counter() - started)
    return statistics.median(costs)


def growth(wire: str) -> tuple[float, float, float]:
    """Medians over `REPEATS` conversations; see `conversation`."""
    samples: list[tuple[float, float, float]] = []
    for _ in range(REPEATS):
        gc.collect()
        samples.append(conversation(WIRES[wire]()))
    first, last, copied = (statistics.median(values) for values in zip(*samples, strict=True))
    return first, last, copied


def steady(wire: Wire) -> tuple[float, int]:
    """A turn added to a long conversation with many tools: seconds, cache marks and all.

    The second figure is how many schemas were read for it, over all repeats.
    """
    transcript, offered, costs = beginning(), tools(MANY_TOOLS), list[float]()
    for number in range(1, LONG // 2):
        transcript = transcript.appended(turn(number))
    wire.encode(request(transcript, offered))
    before = Schema.reads
    for number in range(LONG // 2, LONG // 2 + REPEATS):
        transcript = transcript.appended(turn(number))
        asked = request(transcript, tuple(offered))
        started = time.perf_counter()
        wire.encode(asked)
        costs.append(time.perf_counter() - started)
    return statistics.median(costs), Schema.reads - before


def rows() -> Iterator[Row]:
    worst, worst_ratio = "", 0.0
    costs: dict[str, float] = {}
    for name in WIRES:
        first, last, copied = growth(name)
        ratio, costs[name] = (last - copied) / first, last * 1e6
        yield _growth_row(name, costs[name], ratio)
        if ratio > worst_ratio:
            worst, worst_ratio = name, ratio
    read = 0
    for name, make in WIRES.items():
        spent, schemas = steady(make())
        read += schemas
        yield Row(
            name=f"{name}.steady", value=spent * 1e6, unit="us", ratio=spent * 1e3, against="1 ms"
        )
    yield Row(name="ours.schemas", value=read, unit="schemas")
    yield _growth_row("ours", costs[worst], worst_ratio)


def _growth_row(name: str, cost: float, ratio: float) -> Row:
    return Row(
        name=name,
        value=cost,
        unit="us/turn",
        turns=DEPTH,
        ratio=ratio,
        against="turn 1, copying apart",
    )
