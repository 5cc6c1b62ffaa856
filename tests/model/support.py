"""What the model tests share: requests, conversations in the case book's form, decoded answers."""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import anyio
import pytest

from agentslot import Application, Module
from agentslot.model import (
    Completion,
    Input,
    ModelConfig,
    ModelEvent,
    ModelRequest,
    ModelStream,
    ProvidersModule,
    ToolDefinition,
    Transcript,
)
from agentslot.model.wire import Answer, Decoder, Delta
from agentslot.model.wires.attachments import Media
from agentslot.model.wires.openai_completions import OpenAICompletionsDecoder
from agentslot.session import (
    ArtifactMetadata,
    AttemptId,
    Continuation,
    Message,
    MessageId,
    Modality,
    Part,
    Role,
    RunId,
    SessionId,
    StepId,
    TextPart,
    ToolCall,
    ToolCallId,
    ToolResult,
)
from tests.shared import SHARED, shared

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
CONFIG = ModelConfig(provider="openai", model="m")
PING = ToolDefinition("ping", "Answers pong.", {"type": "object", "additionalProperties": False})


def application(*modules: Module) -> Application:
    """An application that has these providers, and the default executor over them."""
    return Application("test", [ProvidersModule(), *modules])


def decode(
    data: bytes, size: int = 0, make: Callable[[AttemptId], Decoder] = OpenAICompletionsDecoder
) -> tuple[Answer, list[Delta]]:
    """Decode a whole answer, fed in pieces of `size` bytes to a decoder that `make` makes."""
    decoder = make(AttemptId("attempt-1"))
    step = size or max(len(data), 1)
    deltas: list[Delta] = []
    for start in range(0, len(data), step):
        deltas += decoder.feed(data[start : start + step])
    return decoder.finish(), deltas


def decode_cut(
    data: bytes, cuts: list[int], make: Callable[[AttemptId], Decoder]
) -> tuple[Answer, list[Delta]]:
    """Decode a whole answer, fed in pieces of the given sizes, over and over."""
    decoder = make(AttemptId("attempt-1"))
    deltas: list[Delta] = []
    for piece in _pieces(data, cuts):
        deltas += decoder.feed(piece)
    return decoder.finish(), deltas


def _pieces(data: bytes, cuts: list[int]) -> Iterator[bytes]:
    start = turn = 0
    while start < len(data):
        step = cuts[turn % len(cuts)]
        yield data[start : start + step]
        start, turn = start + step, turn + 1


def recorded_answers(vendor: str, pattern: str, mark: bytes) -> list[Any]:
    """Every answer in the recordings of a vendor as a parameter with its name.

    Args:
        vendor: folder of the captures.
        pattern: which files, as a glob.
        mark: what each answer begins with; some files hold several, one behind the other.
    """
    answers: list[Any] = []
    for path in sorted((SHARED / "captures" / vendor).glob(pattern)):
        _, *bodies = path.read_bytes().split(mark)
        name = f"{vendor}/{path.name.removesuffix('.response.txt')}"
        answers += [pytest.param(mark + b, id=f"{name}-{n}") for n, b in enumerate(bodies, 1)]
    return answers


def case(name: str) -> bytes:
    """One file of the case book."""
    return shared(f"cases/{name}").read_bytes()


def message(number: int, role: Role, *parts: Part | str, **more: Any) -> Message:
    """A message with an id made of its number."""
    whole = tuple(TextPart(part) if isinstance(part, str) else part for part in parts)
    run = None if role is Role.USER else RunId("run-1")
    return Message(MessageId(f"message-{number}"), role, whole, MOMENT, run, **more)


def in_base64(contents: Mapping[str, bytes] | None) -> Media:
    """Contents of artifacts as a wire takes them for a model that reads all; None for nothing."""
    if contents is None:
        return Media()
    encoded = {name: base64.b64encode(content) for name, content in contents.items()}
    return Media(encoded, frozenset(Modality))


def remembered(number: int, completion: Completion, config: ModelConfig = CONFIG) -> list[Input]:
    """An answer as History keeps it: its message, and its calls without results."""
    state = completion.continuation
    kept = None if state is None else Continuation(config.provider, config.model, state)
    owner = message(number, Role.ASSISTANT, *completion.parts, continuation=kept)
    calls = enumerate(completion.calls)
    return [owner, *(call(owner, n, c.name, c.arguments, c.correlation_id) for n, c in calls)]


def call(owner: Message, number: int, name: str, arguments: str, token: str = "") -> ToolCall:
    """A call of an assistant message."""
    return ToolCall(
        ToolCallId(f"{owner.id}-call-{number}"),
        token or f"t{number}",
        owner.id,
        RunId("run-1"),
        StepId("step-1"),
        name,
        arguments,
    )


def exchange(arguments: str, output: ToolResult | None = None, **more: Any) -> list[Input]:
    """A question, an assistant's call of `ping`, and its result."""
    owner = message(2, Role.ASSISTANT, **more)
    made = call(owner, 1, "ping", arguments)
    result = output or ToolResult.succeeded(made.id, "pong")
    return [message(1, Role.USER, "q"), owner, made, replace(result, call_id=made.id)]


def request(
    inputs: Iterable[Input], system: str | None = None, config: ModelConfig = CONFIG
) -> ModelRequest:
    """A request that shows `inputs`, with one tool."""
    transcript = inputs if isinstance(inputs, Transcript) else Transcript(inputs)
    return ModelRequest(
        SessionId("session-1"),
        RunId("run-1"),
        StepId("step-1"),
        config,
        system,
        transcript,
        (PING,),
    )


def conversation(name: str) -> list[Input]:
    """A history of the case book, whose form is Anthropic's, in ours."""
    inputs: list[Input] = []
    calls: dict[str, ToolCall] = {}
    for number, entry in enumerate(json.loads(case(name))):
        content = entry["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        texts = [block["text"] for block in blocks if block["type"] == "text"]
        inputs += [_result(block, calls) for block in blocks if block["type"] == "tool_result"]
        if entry["role"] == "assistant" or texts or not blocks:
            role = Role(entry["role"])
            owner = message(number, role, *texts)
            inputs.append(owner)
            for place, block in enumerate(b for b in blocks if b["type"] == "tool_use"):
                made = call(owner, place, block["name"], json.dumps(block["input"]), block["id"])
                calls[block["id"]] = made
                inputs.append(made)
    return inputs


def _result(block: dict[str, Any], calls: dict[str, ToolCall]) -> ToolResult:
    known = calls.get(block["tool_use_id"])
    call_id = known.id if known else ToolCallId("gone")
    content = block["content"]
    if isinstance(content, str):
        return ToolResult.succeeded(call_id, content)
    text = "".join(part["text"] for part in content if part["type"] == "text")
    image = ArtifactMetadata("picture-1", "image/png", "shot.png", 70)
    return ToolResult.succeeded(call_id, text, image)


async def collect(stream: ModelStream) -> list[ModelEvent]:
    """All events of a call."""
    events: list[ModelEvent] = []
    try:
        while True:
            events.append(await stream.receive())
    except anyio.EndOfStream:
        return events
    finally:
        await stream.aclose()
