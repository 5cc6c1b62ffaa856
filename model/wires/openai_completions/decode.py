"""Decoding one answer: a stream of chunks, or one JSON document where a server does not stream."""

from collections.abc import Sequence

from agentslot._json import JsonError, JsonValue, loads
from agentslot._sse import EventTooLargeError, ServerSentEvent, SseDecoder
from agentslot.model.contract import Completion, FinishReason, ReasoningDelta, TextDelta
from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.model.vendorerrors import classify
from agentslot.model.wire import Answer, Delta
from agentslot.model.wires.openai_completions import thinking
from agentslot.model.wires.openai_completions.calls import CallAssembler
from agentslot.model.wires.openai_completions.failure import find_failure
from agentslot.model.wires.openai_completions.thinking import ThinkingCollector
from agentslot.model.wires.openai_completions.usage import read_usage
from agentslot.model.wires.parts import PartsBuilder
from agentslot.model.wires.reading import JsonObject, as_object, as_objects, as_text
from agentslot.session import AttemptId, TokenUsage

MAX_OUTPUT_CHARACTERS = 16 * 1024 * 1024

_FINISH = {
    "stop": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_USE,
    "function_call": FinishReason.TOOL_USE,
    "content_filter": FinishReason.REFUSAL,
}


class OpenAICompletionsDecoder:
    """Decoder of one answer of the chat completions protocol; see `agentslot.model.wire.Decoder`.

    The answer counts as complete once a finish reason or `[DONE]` was seen.
    """

    def __init__(self, attempt_id: AttemptId, max_output: int = MAX_OUTPUT_CHARACTERS) -> None:
        self._attempt_id = attempt_id
        self._max_output = max_output
        self._size = 0
        self._sse: SseDecoder | None = None
        self._document = bytearray()  # the whole body, until it turns out to be a stream
        self._parts = PartsBuilder()
        self._calls = CallAssembler()
        self._thinking = ThinkingCollector()
        self._finish = ""
        self._refused = False
        self._served_model = ""
        self._request_id = ""
        self._failure: ModelError | None = None
        self.done = False
        self.usage: TokenUsage | None = None

    @property
    def settled(self) -> bool:
        """Whether the answer is complete; at most the usage may still follow."""
        return self.done or bool(self._finish)

    @property
    def text(self) -> str:
        """The visible text so far."""
        return self._parts.text

    def feed(self, chunk: bytes) -> Sequence[Delta]:
        """Take the next bytes and return what they show.

        Raises:
            ModelError: the provider reports a failure, or sends what is no answer.
        """
        sse = self._sse or self._detect(chunk)
        if sse is None:
            return ()
        if self._document:
            chunk = bytes(self._document)
            self._document.clear()
        try:
            events = sse.feed(chunk)
        except EventTooLargeError as error:
            raise ModelError(ModelErrorCode.INVALID_ANSWER, str(error)) from error
        deltas: list[Delta] = []
        try:
            for event in events:
                if self.done:
                    break
                self._take(event, deltas)
        except ModelError as error:
            if not deltas:
                raise
            self._failure = error  # what came before it is shown first, however the bytes were cut
            self.done = True
        return deltas

    def finish(self) -> Answer:
        """End the answer.

        Raises:
            ModelError: it ended early, is empty, or is none.
        """
        if self._failure is not None:
            raise self._failure
        if self._sse is None:
            self._take_document()
        if not self.settled or (not self._finish and not self._calls.arguments_complete()):
            raise ModelError(
                ModelErrorCode.BROKEN_STREAM,
                "the answer ended before it was complete",
                retryable=True,
            )
        return Answer(self._completion(), self.usage, self._served_model, self._request_id)

    def _detect(self, chunk: bytes) -> SseDecoder | None:
        """Keep the bytes of a document, which begins with a brace: no line of a stream does."""
        self._document += chunk if self._document else chunk.lstrip()
        if not self._document or self._document.startswith(b"{"):
            if len(self._document) > self._max_output:
                raise _too_large()
            return None
        self._sse = SseDecoder()
        return self._sse

    def _take(self, event: ServerSentEvent, deltas: list[Delta]) -> None:
        data = event.data.strip()
        if not data or data == b"[DONE]":
            self.done = bool(data)
            return
        chunk: JsonObject = _parse(data)
        if event.event == "error" and "error" not in chunk:
            chunk = JsonObject(error=chunk)
        self._raise_failure(chunk)
        for choice in as_objects(chunk.get("choices"))[:1]:
            delta = choice.get("delta")
            self._read(as_object(choice.get("message") if delta is None else delta), deltas)
            self._read_finish(choice)
        self._read_envelope(chunk)

    def _take_document(self) -> None:
        document = _parse(bytes(self._document)) if self._document else {}
        self._raise_failure(document)
        for choice in as_objects(document.get("choices"))[:1]:
            message = as_object(choice.get("message"))
            thought_first = sorted(message, key=lambda name: name not in thinking.FIELDS)
            self._read({name: message[name] for name in thought_first}, [])
            self._read_finish(choice)
            self.done = True
        self._read_envelope(document)

    def _raise_failure(self, chunk: JsonObject) -> None:
        failure = find_failure(chunk)
        if failure is not None:
            self.usage = read_usage(chunk.get("usage")) or self.usage
            raise classify(failure)

    def _read_envelope(self, chunk: JsonObject) -> None:
        if usage := chunk.get("usage"):
            self.usage = read_usage(usage) or self.usage
        self._served_model = self._served_model or as_text(chunk.get("model"))
        self._request_id = self._request_id or as_text(chunk.get("id"))

    def _read_finish(self, choice: JsonObject) -> None:
        self._finish = as_text(choice.get("finish_reason")) or self._finish
        if self._finish == "error":
            message = "the provider broke the answer off without saying why"
            raise ModelError(ModelErrorCode.BROKEN_STREAM, message, retryable=True)

    def _read(self, delta: JsonObject, deltas: list[Delta]) -> None:
        """Read the members of a delta in the order in which they stand."""
        thought = False
        for name, value in delta.items():
            if value is None or value == "":
                continue
            if name == "content":
                self._read_content(value, deltas)
            elif name in thinking.FIELDS:
                if not thought:
                    thought = True
                    self._show_thinking(self._thinking.add(delta), deltas)
            elif name == "tool_calls":
                self._parts.close()
                for fragment in as_objects(value):
                    self._grow(self._calls.add(fragment))
            elif name == "refusal" and isinstance(value, str):
                self._refused = True
                self._show_text(value, deltas)

    def _read_content(self, content: JsonValue, deltas: list[Delta]) -> None:
        """Text, or the blocks in which Mistral sends text and thinking."""
        if isinstance(content, str):
            self._show_text(content, deltas)
            return
        for block in as_objects(content):
            if block.get("type") == "text":
                self._show_text(as_text(block.get("text")), deltas)
            elif block.get("type") == "thinking":
                for piece in as_objects(block.get("thinking")):
                    self._show_thinking(as_text(piece.get("text")), deltas)

    def _show_text(self, text: str, deltas: list[Delta]) -> None:
        if text:
            self._grow(len(text))
            self._parts.add_text(text)
            deltas.append(TextDelta(self._attempt_id, text))

    def _show_thinking(self, text: str, deltas: list[Delta]) -> None:
        if text:
            self._grow(len(text))
            self._parts.add_reasoning(text)
            deltas.append(ReasoningDelta(self._attempt_id, text))

    def _grow(self, characters: int) -> None:
        self._size += characters
        if self._size > self._max_output:
            raise _too_large()

    def _completion(self) -> Completion:
        finish = _FINISH.get(self._finish, FinishReason.OTHER)
        if not self._finish:
            finish = FinishReason.STOP  # some servers only say [DONE]
        if self._refused:
            finish = FinishReason.REFUSAL
        calls = () if finish is FinishReason.REFUSAL else self._calls.finish(self._attempt_id)
        if calls and finish in (FinishReason.STOP, FinishReason.OTHER):
            finish = FinishReason.TOOL_USE
        parts = self._parts.build()
        if not calls and not self._parts.text:
            raise _empty(finish)
        return Completion(parts, calls, finish, self._finish, self._thinking.continuation())


def _parse(data: bytes) -> JsonObject:
    try:
        value = loads(data)
    except JsonError as error:
        message = f"the provider sent what cannot be read: {error}"
        raise ModelError(ModelErrorCode.INVALID_ANSWER, message) from error
    if not isinstance(value, dict):
        message = "the provider sent JSON that is no object"
        raise ModelError(ModelErrorCode.INVALID_ANSWER, message)
    return value


def _too_large() -> ModelError:
    return ModelError(ModelErrorCode.INVALID_ANSWER, "the answer is larger than 16 MiB")


def _empty(finish: FinishReason) -> ModelError:
    if finish is FinishReason.REFUSAL:
        return ModelError(
            ModelErrorCode.REFUSED, "the provider's content filter held the answer back"
        )
    if finish is FinishReason.LENGTH:
        message = "the output limit was reached before any text: raise max_tokens"
    else:
        message = "the model gave an empty answer"
    return ModelError(ModelErrorCode.EMPTY_ANSWER, message)
