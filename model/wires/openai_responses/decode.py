"""Decoding one answer of the Responses API."""

from agentslot.model.contract import Completion, FinishReason, RequestedCall
from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.model.vendorerrors import VendorError, classify
from agentslot.model.wire import Answer
from agentslot.model.wires.body import parse_object
from agentslot.model.wires.callids import make_call_id
from agentslot.model.wires.decoding import (
    MAX_OUTPUT_CHARACTERS,
    EventDecoder,
    broken_off,
    empty_answer,
)
from agentslot.model.wires.failure import find_failure
from agentslot.model.wires.openai_responses.items import (
    CALL,
    MESSAGE,
    ORDER,
    REASONING,
    OutputItem,
)
from agentslot.model.wires.openai_responses.usage import read_usage
from agentslot.model.wires.reading import JsonObject, as_count, as_object, as_objects, as_text
from agentslot.model.wires.servicetier import served_tier
from agentslot.session import AttemptId

_DELTAS = {
    "response.output_text.delta": MESSAGE,
    "response.refusal.delta": MESSAGE,
    "response.reasoning_summary_text.delta": REASONING,
    "response.reasoning_text.delta": REASONING,
    "response.function_call_arguments.delta": CALL,
}
_OURS = MESSAGE, REASONING, CALL
_LENGTH = "max_output_tokens", "max_tokens"


class OpenAIResponsesDecoder(EventDecoder):
    """Decoder of one answer; complete once the whole response was said to be over.

    Pieces belong to the item at their `output_index`, since some gateways give a new id in every
    event; where there is no index, as in llama.cpp's events, they belong to the item of that id.
    """

    def __init__(self, attempt_id: AttemptId, max_output: int = MAX_OUTPUT_CHARACTERS) -> None:
        super().__init__(attempt_id, max_output)
        self._items: dict[int, OutputItem] = {}
        self._places: dict[str, int] = {}  # of items that have no index, by their id
        self._ended: JsonObject = {}
        self._served_model = ""
        self._request_id = ""

    @property
    def text(self) -> str:
        """The visible text so far."""
        return "".join(item.text for item in self._ordered() if item.kind != REASONING)

    def _take(self, data: bytes, name: str) -> None:
        said = data.strip()
        if said and said != b"[DONE]":
            self._read(parse_object(data, name), name, len(data))

    def _take_document(self, document: JsonObject) -> None:
        if document.get("object") == "response":
            self._end(document)
        elif document:
            self._read(document, "", 0)

    def _read(self, message: JsonObject, named: str, size: int) -> None:
        """Read one event; those of other kinds, for tools of the server, are let pass."""
        kind = as_text(message.get("type")) or named
        if item_kind := _DELTAS.get(kind):
            self._add(message, item_kind, as_text(message.get("delta")))
        elif kind == "response.output_item.added":
            self._announce(message)
        elif kind == "response.output_item.done":
            self._grow(size)
            self._item(message).settle(as_object(message.get("item")))
        elif kind == "response.reasoning_summary_part.added":
            if as_count(message.get("summary_index")):
                self._add(message, REASONING, "\n\n")
        elif kind in ("response.completed", "response.incomplete"):
            self._end(as_object(message.get("response")))
        elif kind == "response.failed":
            self._end({**as_object(message.get("response")), "status": "failed"})
        elif kind == "response.created":
            self._begin(as_object(message.get("response")))
        elif kind == "error" or "error" in message:
            raise classify(find_failure(message) or VendorError(status=0))

    def _add(self, message: JsonObject, kind: str, piece: str) -> None:
        self._item(message).add(kind, piece)
        if kind == MESSAGE:
            self._show_text(piece)
        elif kind == REASONING:
            self._show_thinking(piece)
        else:
            self._grow(len(piece))

    def _announce(self, message: JsonObject) -> None:
        item = as_object(message.get("item"))
        index = as_count(message.get("output_index"))
        if index is None:
            index = self._places[as_text(item.get("id"))] = max(self._items, default=-1) + 1
        self._items.setdefault(index, OutputItem()).announce(item)

    def _item(self, message: JsonObject) -> OutputItem:
        """The item that an event is about; without an index and a known id it is the newest one."""
        index = as_count(message.get("output_index"))
        if index is None:
            item_id = message.get("item_id") or as_object(message.get("item")).get("id")
            index = self._places.get(as_text(item_id), max(self._items, default=0))
        return self._items.setdefault(index, OutputItem())

    def _begin(self, response: JsonObject) -> None:
        self._served_model = as_text(response.get("model")) or self._served_model
        self._request_id = as_text(response.get("id")) or self._request_id

    def _end(self, response: JsonObject) -> None:
        self._begin(response)
        tier = served_tier(response.get("service_tier"))
        self.usage = read_usage(response.get("usage"), tier) or self.usage
        if response.get("status") == "failed" or response.get("error"):
            error = VendorError(status=0, message="the provider failed without saying why")
            raise classify(find_failure(response) or error)
        streamed = bool(self._items)
        for index, item in enumerate(as_objects(response.get("output"))):
            if not streamed or index in self._items:
                self._items.setdefault(index, OutputItem()).settle(item)
        self._ended = response
        self.done = True

    def _ordered(self) -> list[OutputItem]:
        return [self._items[index] for index in sorted(self._items)]

    def _answer(self) -> Answer:
        if not self.done:
            raise broken_off()
        cut = [item for item in self._ordered() if item.kind in _OURS and not item.complete]
        if cut and self._ended.get("status") != "incomplete":
            raise broken_off()
        return Answer(self._completion(), self.usage, self._served_model, self._request_id)

    def _completion(self) -> Completion:
        items = self._ordered()
        reason = as_text(as_object(self._ended.get("incomplete_details")).get("reason"))
        finish = self._finish(reason)
        calls = () if finish is FinishReason.REFUSAL else self._calls()
        if calls and finish is FinishReason.STOP:
            finish = FinishReason.TOOL_USE
        if not calls and not self.text:
            raise self._empty(finish)
        parts = tuple(part for item in items if (part := item.part()) is not None)
        kept = [kept for item in items if item.complete and (kept := item.kept()) is not None]
        raw = reason or as_text(self._ended.get("status"))
        return Completion(parts, calls, finish, raw, ORDER.to_state(kept))

    def _finish(self, reason: str) -> FinishReason:
        if reason in _LENGTH:
            return FinishReason.LENGTH
        if reason == "content_filter" or any(item.refused for item in self._items.values()):
            return FinishReason.REFUSAL
        return FinishReason.OTHER if reason else FinishReason.STOP

    def _calls(self) -> tuple[RequestedCall, ...]:
        calls: list[RequestedCall] = []
        taken: set[str] = set()
        for index in sorted(self._items):
            item = self._items[index]
            if item.kind == CALL:
                call_id = item.call_id
                if not call_id or call_id in taken:
                    call_id = make_call_id(f"{self.attempt_id}/{index}")
                taken.add(call_id)
                calls.append(item.call(call_id))
        return tuple(calls)

    def _empty(self, finish: FinishReason) -> ModelError:
        """Why there is nothing to show: the model may have used what nobody offered it."""
        other = [item.kind for item in self._ordered() if item.kind not in _OURS]
        if finish is not FinishReason.STOP or not other:
            return empty_answer(finish)
        message = f"the answer is nothing but {other[-1]!r}, which was not asked for"
        return ModelError(ModelErrorCode.INVALID_ANSWER, message)
