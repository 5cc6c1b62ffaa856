"""Our side: what our wires send for a transcript, and what they make of an answer."""

import json
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agentslot.model import (
    Completion,
    Input,
    ModelConfig,
    ModelError,
    ModelRequest,
    OutputFormat,
    OutputStrategy,
    Reasoning,
    ToolDefinition,
    Transcript,
)
from agentslot.model.wire import Answer, Wire
from agentslot.model.wires.anthropic_messages import AnthropicMessagesWire, AnthropicSettings
from agentslot.model.wires.attachments import Media
from agentslot.model.wires.caching import CacheRetention
from agentslot.model.wires.google_generative_ai import GoogleGenerativeAIWire, GoogleSettings
from agentslot.model.wires.ollama_chat import OllamaChatWire
from agentslot.model.wires.openai_completions import OpenAICompletionsWire
from agentslot.model.wires.openai_responses import OpenAIResponsesWire, ResponsesSettings
from agentslot.session import (
    ArtifactMetadata,
    AttachmentPart,
    AttemptId,
    Modality,
    ReasoningPart,
    Role,
    RunId,
    SessionId,
    StepId,
    TextPart,
    ToolCall,
    ToolResult,
)
from tests.difftest.answers import answer_of
from tests.difftest.exchange import KEY, SESSION, Exchange
from tests.difftest.scenarios import PIXEL, SILENCE, Json, Scenario
from tests.model.support import decode, message, remembered

CONTENTS = {"pixel": b64encode(PIXEL), "shot": b64encode(PIXEL), "silence": b64encode(SILENCE)}


@dataclass(frozen=True, slots=True)
class Vendor:
    """How a vendor is asked.

    Attributes:
        model: its usual model.
        base: what stands before the path of the wire.
        wire: makes the wire for a retention and a service tier.
    """

    model: str
    base: str
    wire: Callable[[CacheRetention, Any], Wire]  # some vendors have names for all their tiers


VENDORS = {
    "openai-chat": Vendor(
        "gpt-5",
        "/v1",
        lambda cache, tier: OpenAICompletionsWire("https://api.openai.com/v1", service_tier=tier),
    ),
    "openai-responses": Vendor(
        "gpt-5",
        "/v1",
        lambda cache, tier: OpenAIResponsesWire(ResponsesSettings(cache, service_tier=tier)),
    ),
    "anthropic": Vendor(
        "claude-opus-5",
        "",
        lambda cache, tier: AnthropicMessagesWire(
            AnthropicSettings(cache=cache, service_tier=tier)
        ),
    ),
    "google": Vendor(
        "gemini-3-pro",
        "",
        lambda cache, tier: GoogleGenerativeAIWire(GoogleSettings(service_tier=tier)),
    ),
    "ollama": Vendor("qwen3", "", lambda cache, tier: OllamaChatWire()),
}


def encode(vendor: str, scenario: Scenario) -> Exchange:
    """The request that we send for a transcript."""
    asked = VENDORS[vendor]
    wire = asked.wire(CacheRetention(scenario.cache or "none"), scenario.tier)
    config = ModelConfig(
        vendor,
        scenario.model or asked.model,
        Reasoning(scenario.effort or "default"),
        scenario.temperature,
        scenario.max_tokens,
        tuple(scenario.stop),
    )
    request = ModelRequest(
        SessionId(SESSION),
        RunId("run-1"),
        StepId("step-1"),
        config,
        scenario.system,
        Transcript(_History(vendor, wire, config).of(scenario.turns)),
        tuple(ToolDefinition(t["name"], t["description"], t["schema"]) for t in scenario.tools),
        output=_output(scenario),
    )
    sent = wire.encode(request, Media(CONTENTS, frozenset(Modality)))
    headers = {"content-type": "application/json", **sent.headers, **wire.authorization(KEY)}
    return Exchange(f"{asked.base}{sent.path}", headers, sent.body)


def _output(scenario: Scenario) -> OutputFormat | None:
    """The form that is asked for, in the way that the scenario means."""
    if scenario.output:
        name, native = scenario.output.get("title", "answer"), OutputStrategy.NATIVE
        return OutputFormat(json.dumps(scenario.output), name, native)
    if scenario.must_call:
        schema = json.dumps(scenario.tools[-1]["schema"])
        return OutputFormat(schema, strategy=OutputStrategy.TOOL)
    return None


class _History:
    """A transcript as History keeps it, each answer decoded from what the vendor sends."""

    def __init__(self, vendor: str, wire: Wire, config: ModelConfig) -> None:
        self._vendor, self._wire, self._config = vendor, wire, config
        self._inputs: list[Input] = []
        self._calls: list[ToolCall] = []

    def of(self, turns: Sequence[Json]) -> list[Input]:
        for number, turn in enumerate(turns):
            if turn["role"] == "user":
                parts = [_part(part) for part in turn["parts"]]
                self._inputs.append(message(number, Role.USER, *parts))
            elif turn["role"] == "assistant":
                self._answer(number, turn["parts"])
            else:
                pairs = zip(self._calls, turn["results"], strict=True)
                self._inputs += [_result(made, given) for made, given in pairs]
        return self._inputs

    def _answer(self, number: int, parts: Sequence[Json]) -> None:
        answer, _ = decode(answer_of(self._vendor, parts), make=self._wire.decoder)
        entries = remembered(number, answer.completion, self._config)
        self._calls = [entry for entry in entries if isinstance(entry, ToolCall)]
        self._inputs += entries


def _part(part: Json) -> TextPart | AttachmentPart:
    if part["kind"] == "picture":
        return AttachmentPart("pixel", part["type"], "dot.png")
    if part["kind"] == "sound":
        return AttachmentPart("silence", part["type"], "silence.wav")
    return TextPart(part["text"])


def _result(made: ToolCall, given: Json) -> ToolResult:
    if "error" in given:
        return ToolResult.failed(made.id, given["error"]["code"], given["error"]["message"])
    if "picture" in given:
        shot = ArtifactMetadata("shot", given["picture"]["type"], "shot.png", len(PIXEL))
        assert given["picture"]["data"].encode() == CONTENTS[shot.id]
        return ToolResult.succeeded(made.id, given["output"], shot)
    return ToolResult.succeeded(made.id, given["text"])


def read(vendor: str, body: bytes) -> bytes:
    """What our decoder makes of a recorded answer, in the form of the clients' scripts.

    JSON; null if the decoder says that it is no answer.
    """
    wire = VENDORS[vendor].wire(CacheRetention.NONE, None)
    decoder = wire.decoder(AttemptId("attempt-1"))
    try:
        decoder.feed(body)
        answer = decoder.finish()
    except ModelError:
        return b"null"
    return _describe(answer).encode()


def _describe(answer: Answer) -> str:
    completion = answer.completion
    calls = ",".join(
        f'{{"name":{json.dumps(call.name)},"arguments":{_arguments(call.arguments)}}}'
        for call in completion.calls
    )
    described: dict[str, Any] = {
        "text": _joined(completion, TextPart),
        "thinking": _joined(completion, ReasoningPart),
        "stop": completion.raw_finish,
        "model": answer.served_model,
        "usage": answer.usage and {"input": answer.usage.input, "output": answer.usage.output},
    }
    return f'{json.dumps(described)[:-1]},"calls":[{calls}]}}'


def _joined(completion: Completion, kind: type[TextPart | ReasoningPart]) -> str:
    return "".join(part.text for part in completion.parts if isinstance(part, kind))


def _arguments(text: str) -> str:
    """The arguments as they are spelled, or as a text if they are no JSON."""
    try:
        json.loads(text)
    except ValueError:
        return json.dumps(text)
    return text
