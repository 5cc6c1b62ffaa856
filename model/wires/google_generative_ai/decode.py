"""Decoding one answer: a stream of chunks, or the whole as one document."""

from agentslot._json import JsonValue
from agentslot.model.contract import Completion, FinishReason
from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.model.wire import Answer
from agentslot.model.wires.body import parse_object
from agentslot.model.wires.decoding import (
    MAX_OUTPUT_CHARACTERS,
    EventDecoder,
    broken_off,
    empty_answer,
)
from agentslot.model.wires.google_generative_ai.failure import explain, refused
from agentslot.model.wires.google_generative_ai.parts import CALL, TEXT, THOUGHT, AnswerParts
from agentslot.model.wires.google_generative_ai.usage import read_usage
from agentslot.model.wires.reading import JsonObject, as_array, as_object, as_text
from agentslot.model.wires.verbatim import Verbatim
from agentslot.session import AttemptId, safe_line

_FINISH = {
    "STOP": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.LENGTH,
    "SAFETY": FinishReason.REFUSAL,
    "RECITATION": FinishReason.REFUSAL,
    "LANGUAGE": FinishReason.REFUSAL,
    "BLOCKLIST": FinishReason.REFUSAL,
    "PROHIBITED_CONTENT": FinishReason.REFUSAL,
    "SPII": FinishReason.REFUSAL,
    "MODEL_ARMOR": FinishReason.REFUSAL,
}
_MISWRITTEN = {
    "MALFORMED_FUNCTION_CALL": "the model wrote a tool call that cannot be read",
    "MALFORMED_RESPONSE": "the model wrote an answer that cannot be read",
    "UNEXPECTED_TOOL_CALL": "the model called a tool that it was not offered",
    "TOO_MANY_TOOL_CALLS": "the model called too many tools",
    "MISSING_THOUGHT_SIGNATURE": "the provider misses a signature in the conversation",
}
_BY_CHANCE = frozenset({"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL"})


class GoogleGenerativeAIDecoder(EventDecoder):
    """Decoder of one answer of Gemini models; complete once a finish reason was seen."""

    def __init__(self, attempt_id: AttemptId, max_output: int = MAX_OUTPUT_CHARACTERS) -> None:
        super().__init__(attempt_id, max_output)
        self._parts = AnswerParts()
        self._finish = ""
        self._finish_message = ""
        self._served_model = ""
        self._request_id = ""

    @property
    def text(self) -> str:
        """The visible text so far."""
        return self._parts.text

    def _take(self, data: bytes, name: str) -> None:
        said = data.strip()
        if said and said != b"[DONE]":
            self._read(parse_object(data, name), data)

    def _take_document(self, document: JsonObject) -> None:
        if document:
            self._read(document, self._body.rest)

    def _read(self, chunk: JsonObject, data: bytes) -> None:
        """Read one chunk, and what it was read from."""
        self.usage = read_usage(chunk.get("usageMetadata")) or self.usage
        self._served_model = as_text(chunk.get("modelVersion")) or self._served_model
        self._request_id = as_text(chunk.get("responseId")) or self._request_id
        if error := chunk.get("error"):
            raise explain(error if isinstance(error, dict) else {"message": error})
        candidates = as_array(chunk.get("candidates"))
        if not candidates and (
            blocked := as_object(chunk.get("promptFeedback")).get("blockReason")
        ):
            raise refused(blocked, "prompt")
        candidate = as_object(candidates[0]) if candidates else {}
        self._read_parts(as_array(as_object(candidate.get("content")).get("parts")), data)
        self._finish = as_text(candidate.get("finishReason")) or self._finish
        self.settled = bool(self._finish)
        self._finish_message = as_text(candidate.get("finishMessage")) or self._finish_message

    def _read_parts(self, parts: list[JsonValue], data: bytes) -> None:
        arguments = [""] * len(parts)
        if any(as_object(as_object(part).get(CALL)).get("args") for part in parts):
            arguments = _arguments(data)
        for part, written in zip(map(as_object, parts), arguments, strict=True):
            self._parts.add(part, written)
            text = as_text(part.get(TEXT))
            if part.get(THOUGHT) is True:
                self._show_thinking(text)
            else:
                self._show_text(text)
        if any(as_object(part).keys() - {TEXT, THOUGHT} for part in parts):
            self._grow(len(data))  # calls, signatures and whatever else is kept

    def _answer(self) -> Answer:
        if not self._finish:
            raise broken_off()
        if message := _MISWRITTEN.get(self._finish):
            said = safe_line(self._finish_message, 512)
            raise ModelError(
                ModelErrorCode.INVALID_ANSWER,
                f"{message}: {said}" if said else message,
                retryable=self._finish in _BY_CHANCE,
                vendor_code=self._finish,
                failed_generation=self._finish_message,
            )
        return Answer(self._completion(), self.usage, self._served_model, self._request_id)

    def _completion(self) -> Completion:
        finish = _FINISH.get(self._finish, FinishReason.OTHER)
        if self._parts.open_call and finish is FinishReason.STOP:
            raise broken_off()
        calls = () if finish is FinishReason.REFUSAL else self._parts.calls(self.attempt_id)
        if calls and finish in (FinishReason.STOP, FinishReason.OTHER):
            finish = FinishReason.TOOL_USE
        if not calls and not self.text:
            raise self._empty(finish)
        return Completion(self._parts.visible(), calls, finish, self._finish, self._parts.state())

    def _empty(self, finish: FinishReason) -> ModelError:
        if finish is FinishReason.REFUSAL:
            return refused(self._finish, "answer")
        return empty_answer(finish)


def _arguments(data: bytes) -> list[str]:
    """The arguments of each part of a chunk as they are spelled; empty where there are none."""
    first = next(Verbatim.of(data).member("candidates").elements())
    written: list[str] = []
    for part in first.member("content", "parts").elements():
        try:
            arguments = part.member(CALL, "args").text
        except KeyError:
            arguments = ""
        written.append("" if arguments == "null" else arguments)
    return written
