"""Decoding one answer: an object a line, the last of which says that it is done."""

from agentslot._json import JsonValue, dumps
from agentslot.model.contract import Completion, FinishReason, RequestedCall
from agentslot.model.vendorerrors import classify
from agentslot.model.wire import Answer
from agentslot.model.wires.body import LineReader, parse_object
from agentslot.model.wires.callids import make_call_id
from agentslot.model.wires.decoding import (
    MAX_OUTPUT_CHARACTERS,
    EventDecoder,
    broken_off,
    empty_answer,
)
from agentslot.model.wires.failure import find_failure, nameless_call
from agentslot.model.wires.parts import PartsBuilder
from agentslot.model.wires.reading import JsonObject, as_array, as_count, as_object, as_text
from agentslot.model.wires.verbatim import Verbatim
from agentslot.session import AttemptId, ReasoningPart, TextPart, TokenUsage

THINKING = "thinking"

_FINISH = {"stop": FinishReason.STOP, "length": FinishReason.LENGTH}


class OllamaChatDecoder(EventDecoder):
    """Decoder of one answer; complete once a line said `done`."""

    def __init__(self, attempt_id: AttemptId, max_output: int = MAX_OUTPUT_CHARACTERS) -> None:
        super().__init__(attempt_id, max_output, LineReader(max_output))
        self._parts = PartsBuilder()
        self._calls: list[RequestedCall] = []
        self._thinking: list[str] = []
        self._done_reason = ""
        self._served_model = ""

    @property
    def text(self) -> str:
        """The visible text so far."""
        return self._parts.text

    def _take(self, data: bytes, name: str) -> None:
        if data.strip():
            self._read(parse_object(data), data)

    def _take_document(self, document: JsonObject) -> None:
        if document and not self.done:
            self._read(document, self._body.rest)

    def _read(self, line: JsonObject, data: bytes) -> None:
        """Read one line, and what it was read from."""
        self.usage = _read_usage(line) or self.usage
        if failure := find_failure(line):
            raise classify(failure)
        self._served_model = as_text(line.get("model")) or self._served_model
        message = as_object(line.get("message"))
        if thought := as_text(message.get(THINKING)):
            self._thinking.append(thought)
            self._parts.add(ReasoningPart, thought)
            self._show_thinking(thought)
        if text := as_text(message.get("content")):
            self._parts.add(TextPart, text)
            self._show_text(text)
        if calls := as_array(message.get("tool_calls")):
            self._parts.close()
            self._grow(len(data))
            self._add_calls(calls, data)
        if line.get("done") is True:
            self._done_reason = as_text(line.get("done_reason"))
            self.done = True

    def _add_calls(self, calls: list[JsonValue], data: bytes) -> None:
        spelled = Verbatim.of(data).member("message", "tool_calls").elements()
        for call, written in zip(calls, spelled, strict=True):
            function = as_object(as_object(call).get("function"))
            name, arguments = as_text(function.get("name")), function.get("arguments")
            if not name:
                raise nameless_call()
            if not isinstance(arguments, str):
                known = arguments is not None
                arguments = written.member("function", "arguments").text if known else "{}"
            call_id = make_call_id(f"{self.attempt_id}/{len(self._calls)}")
            self._calls.append(RequestedCall(call_id, name, arguments))

    def _answer(self) -> Answer:
        if not self.done:
            raise broken_off()
        return Answer(self._completion(), self.usage, self._served_model)

    def _completion(self) -> Completion:
        calls = tuple(self._calls)
        finish = _FINISH.get(self._done_reason, FinishReason.OTHER)
        if calls and finish is not FinishReason.LENGTH:
            finish = FinishReason.TOOL_USE
        if not calls and not self.text:
            raise empty_answer(finish)
        state = dumps({THINKING: "".join(self._thinking)}) if self._thinking else None
        return Completion(self._parts.build(), calls, finish, self._done_reason, state)


def _read_usage(line: JsonObject) -> TokenUsage | None:
    """The figures of the last line; the server leaves out a zero, so one of the two is enough."""
    prompt, answer = as_count(line.get("prompt_eval_count")), as_count(line.get("eval_count"))
    if prompt is None and answer is None:
        return None
    read, written = prompt or 0, answer or 0
    return TokenUsage(input=read, output=written, total=read + written)
