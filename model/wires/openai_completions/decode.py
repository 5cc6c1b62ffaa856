"""Decoding one answer: a stream of chunks, or one JSON document where a server does not stream."""

from collections.abc import Callable
from dataclasses import replace

from agentslot._json import JsonValue
from agentslot.model.contract import Completion, FinishReason
from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.model.vendorerrors import classify
from agentslot.model.wire import Answer
from agentslot.model.wires.body import parse_object
from agentslot.model.wires.decoding import (
    MAX_OUTPUT_CHARACTERS,
    EventDecoder,
    broken_off,
    empty_answer,
)
from agentslot.model.wires.failure import find_failure
from agentslot.model.wires.openai_completions import thinking
from agentslot.model.wires.openai_completions.calls import CallAssembler, fragments_of
from agentslot.model.wires.openai_completions.thinking import ThinkingCollector
from agentslot.model.wires.openai_completions.usage import read_usage
from agentslot.model.wires.parts import PartsBuilder
from agentslot.model.wires.reading import JsonObject, as_object, as_objects, as_text, first_object
from agentslot.model.wires.servicetier import served_tier
from agentslot.session import AttemptId, ReasoningPart, TextPart, TokenUsage

_FINISH = {
    "stop": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_USE,
    "function_call": FinishReason.TOOL_USE,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "content_filter": FinishReason.REFUSAL,
    "sensitive": FinishReason.REFUSAL,
}
_BROKEN_OFF = {
    "error": ModelErrorCode.BROKEN_STREAM,
    "abort": ModelErrorCode.BROKEN_STREAM,
    "network_error": ModelErrorCode.BROKEN_STREAM,
    "insufficient_system_resource": ModelErrorCode.OVERLOADED,
}
"""Reasons that say that the answer is not whole: OpenRouter, vLLM, Z.ai, DeepSeek."""


class OpenAICompletionsDecoder(EventDecoder):
    """Decoder of one answer of the chat completions protocol.

    The answer counts as complete once a finish reason or `[DONE]` was seen.
    """

    def __init__(
        self,
        attempt_id: AttemptId,
        max_output: int = MAX_OUTPUT_CHARACTERS,
        hour_of_cache: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """Expect the answer to one attempt.

        Args:
            attempt_id: the attempt.
            max_output: most characters to take.
            hour_of_cache: whether a model, named as the server does, was asked to keep for an hour
                what it writes to its cache.
        """
        super().__init__(attempt_id, max_output)
        self._hour_of_cache = hour_of_cache
        self._parts = PartsBuilder()
        self._calls = CallAssembler()
        self._thinking = ThinkingCollector()
        self._finish = ""
        self._refused = False
        self._tier = ""
        self._served_model = ""
        self._request_id = ""

    @property
    def text(self) -> str:
        """The visible text so far."""
        return self._parts.text

    def _take(self, data: bytes, name: str) -> None:
        said = data.strip()
        if not said or said == b"[DONE]":
            self.done = bool(said)
            return
        chunk = parse_object(data, name)
        if name == "error" and "error" not in chunk:
            chunk = JsonObject(error=chunk)
        choices = chunk.get("choices")
        if choices is None or "error" in chunk:
            self._raise_failure(chunk)
        if choice := first_object(choices):
            member = "message" if choice.get("delta") is None else "delta"
            delta = as_object(choice.get(member))
            self._read(delta, data, member)
            if finish := choice.get("finish_reason"):
                self._read_finish(finish)
            elif self._envelope.wanted and not chunk.get("usage") and _is_only_text(delta):
                self._envelope.remember(data, name, as_text(delta["content"]), self._add_text)
        self._read_envelope(chunk)

    def _take_document(self, document: JsonObject) -> None:
        self._raise_failure(document)
        if choice := first_object(document.get("choices")):
            message = as_object(choice.get("message"))
            thought_first = sorted(message, key=lambda name: name not in thinking.FIELDS)
            ordered = {name: message[name] for name in thought_first}
            self._read(ordered, self._body.rest, "message")
            self._read_finish(choice.get("finish_reason"))
            self.done = True
        self._read_envelope(document)

    def _answer(self) -> Answer:
        if not self.settled and not (self.done and self._calls.arguments_complete()):
            raise broken_off()
        return Answer(self._completion(), self.usage, self._served_model, self._request_id)

    def _raise_failure(self, chunk: JsonObject) -> None:
        failure = find_failure(chunk)
        if failure is not None:
            self.usage = self._read_usage(chunk) or self.usage
            raise classify(failure)

    def _read_envelope(self, chunk: JsonObject) -> None:
        if tier := chunk.get("service_tier"):  # stands in every chunk where it stands at all
            self._tier = served_tier(tier) or self._tier
        if not self._served_model:
            self._served_model = as_text(chunk.get("model"))
        if chunk.get("usage"):
            self.usage = self._read_usage(chunk) or self.usage
        if self.usage is not None and self._tier != self.usage.service_tier:
            self.usage = replace(self.usage, service_tier=self._tier)
        if not self._request_id:
            self._request_id = as_text(chunk.get("id"))

    def _read_usage(self, chunk: JsonObject) -> TokenUsage | None:
        return read_usage(chunk.get("usage"), hour=self._hour_of_cache(self._served_model))

    def _read_finish(self, reason: JsonValue) -> None:
        self._finish = as_text(reason) or self._finish
        self.settled = bool(self._finish)
        if code := _BROKEN_OFF.get(self._finish):
            word = self._finish
            message = f"the provider broke the answer off, and said no more than {word!r}"
            raise ModelError(code, message, retryable=True, vendor_code=word)

    def _read(self, delta: JsonObject, document: bytes, member: str) -> None:
        """Read the members of a delta in the order in which they stand.

        Args:
            delta: what is new of the first choice.
            document: what it was read from.
            member: its name in the choice.
        """
        thought = False
        for name, value in delta.items():
            if value is None or value == "":
                continue
            if name == "content" and isinstance(value, str):
                self._add_text(value)
            elif name == "content":
                self._read_blocks(value)
            elif name in thinking.FIELDS:
                if not thought:
                    thought = True
                    self._add_thinking(self._thinking.add(delta))
            elif name == "tool_calls":
                self._parts.close()
                for fragment in fragments_of(value, document, member):
                    self._grow(self._calls.add(fragment))
            elif name == "refusal" and isinstance(value, str):
                self._refused = True
                self._add_text(value)

    def _read_blocks(self, content: JsonValue) -> None:
        """The blocks in which Mistral sends text and thinking."""
        for block in as_objects(content):
            if block.get("type") == "text":
                self._add_text(as_text(block.get("text")))
            elif block.get("type") == "thinking":
                for piece in as_objects(block.get("thinking")):
                    self._add_thinking(as_text(piece.get("text")))

    def _add_text(self, text: str) -> None:
        if text:
            self._show_text(text)
            self._parts.add(TextPart, text)

    def _add_thinking(self, text: str) -> None:
        if text:
            self._show_thinking(text)
            self._parts.add(ReasoningPart, text)

    def _completion(self) -> Completion:
        finish = _FINISH.get(self._finish, FinishReason.OTHER)
        if not self._finish:
            finish = FinishReason.STOP  # some servers only say [DONE]
        if self._refused:
            finish = FinishReason.REFUSAL
        calls = () if finish is FinishReason.REFUSAL else self._calls.finish(self.attempt_id)
        if calls and finish in (FinishReason.STOP, FinishReason.OTHER):
            finish = FinishReason.TOOL_USE
        parts = self._parts.build()
        if not calls and not self._parts.text:
            raise empty_answer(finish)
        return Completion(parts, calls, finish, self._finish, self._thinking.continuation())


def _is_only_text(delta: JsonObject) -> bool:
    """Whether a delta does nothing but bring text."""
    said = [name for name, value in delta.items() if value is not None and value != ""]
    return (
        "content" in said and {*said} <= {"role", "content"} and isinstance(delta["content"], str)
    )
