"""Decoding one answer of the Messages API."""

import logging
from functools import partial

from agentslot._json import JsonValue
from agentslot.model.contract import Completion, FinishReason, RequestedCall
from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.model.vendorerrors import VendorError, classify
from agentslot.model.wire import Answer
from agentslot.model.wires.anthropic_messages.blocks import ORDER, TEXT, THINKING, TOOL_USE, Block
from agentslot.model.wires.anthropic_messages.usage import UsageReader
from agentslot.model.wires.body import parse_object
from agentslot.model.wires.callids import make_call_id
from agentslot.model.wires.decoding import (
    MAX_OUTPUT_CHARACTERS,
    EventDecoder,
    broken_off,
    empty_answer,
)
from agentslot.model.wires.failure import find_failure
from agentslot.model.wires.reading import JsonObject, as_array, as_count, as_object, as_text
from agentslot.model.wires.verbatim import Verbatim
from agentslot.session import AttemptId, Part, ReasoningPart, TextPart, safe_line

_log = logging.getLogger(__name__)

_FINISH = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "tool_use": FinishReason.TOOL_USE,
    "refusal": FinishReason.REFUSAL,
}


class AnthropicMessagesDecoder(EventDecoder):
    """Decoder of one answer; complete once `message_stop` was seen."""

    def __init__(self, attempt_id: AttemptId, max_output: int = MAX_OUTPUT_CHARACTERS) -> None:
        super().__init__(attempt_id, max_output)
        self._blocks: dict[int, Block] = {}
        self._usage = UsageReader()
        self._stop_reason = ""
        self._refusal = ""
        self._served_model = ""
        self._request_id = ""

    @property
    def text(self) -> str:
        """The visible text so far."""
        return "".join(block.text for block in self._blocks.values() if block.kind == TEXT)

    def _take(self, data: bytes, name: str) -> None:
        if data.strip():
            self._read(parse_object(data, name), name, data)

    def _take_document(self, document: JsonObject) -> None:
        self._read(document, "", self._body.rest)

    def _read(self, message: JsonObject, named: str, data: bytes) -> None:
        """Read one event, and what it was read from.

        Those of unknown kinds are let pass, as the vendor asks of clients.
        """
        match as_text(message.get("type")) or named:
            case "message_start":
                self._begin(as_object(message.get("message")), data, "message", "content")
            case "content_block_start":
                content = as_object(message.get("content_block"))
                [written] = _inputs([content], data, "content_block")
                self._open(as_count(message.get("index")), content, written)
            case "content_block_delta":
                block, delta = self._block(message), as_object(message.get("delta"))
                piece = self._grow_block(block, delta)
                if piece and self._envelope.wanted:
                    again = partial(self._grow_again, block, delta)
                    self._envelope.remember(data, named, piece, again)
            case "content_block_stop":
                self._block(message).closed = True
            case "message_delta":
                self._read_usage(message)
                self._read_stop(as_object(message.get("delta")))
            case "message_stop":
                self.done = True
            case "message":  # the whole answer, of a server that does not stream
                self._begin(message, data, "content")
                self.done = True
            case "error":
                raise classify(find_failure(message) or VendorError(status=0))
            case _:
                pass

    def _begin(self, message: JsonObject, data: bytes, *path: str) -> None:
        """Read a message, whose content stands in `data` at the end of the path."""
        self._served_model = as_text(message.get("model"))
        self._request_id = as_text(message.get("id"))
        self._read_usage(message)
        self._read_stop(message)
        blocks = list(map(as_object, as_array(message.get("content"))))
        for index, written in enumerate(_inputs(blocks, data, *path)):
            self._open(index, blocks[index], written).closed = True

    def _open(self, index: int | None, content: JsonObject, written: str) -> Block:
        if index is None or index in self._blocks:
            raise _out_of_order(index)
        block = self._blocks[index] = Block(content, written)
        self._show(block, block.text)
        if not block.text:
            self._grow(_size(content))
        return block

    def _block(self, message: JsonObject) -> Block:
        index = as_count(message.get("index"))
        block = None if index is None else self._blocks.get(index)
        if block is None or block.closed:
            raise _out_of_order(message.get("index"))
        return block

    def _grow_block(self, block: Block, delta: JsonObject) -> str:
        known, piece = block.known, block.add(delta)
        self._show(block, piece)
        if not piece:
            self._grow(_size(delta))
        if known and not block.known:
            _log.debug("unknown %r in a content block %r", delta.get("type"), block.kind)
        return piece

    def _grow_again(self, block: Block, delta: JsonObject, piece: str) -> None:
        """Take a delta that is like another one but for the piece of text in it."""
        self._grow_block(block, {**delta, block.member: piece})

    def _show(self, block: Block, piece: str) -> None:
        if block.kind == TEXT:
            self._show_text(piece)
        elif block.kind == THINKING:
            self._show_thinking(piece)
        else:
            self._grow(len(piece))

    def _read_usage(self, message: JsonObject) -> None:
        self.usage = self._usage.read(as_object(message.get("usage")))

    def _read_stop(self, delta: JsonObject) -> None:
        self._stop_reason = as_text(delta.get("stop_reason")) or self._stop_reason
        details = as_object(delta.get("stop_details"))
        self._refusal = as_text(details.get("explanation")) or self._refusal

    def _answer(self) -> Answer:
        if not self.done or not all(block.closed for block in self._blocks.values()):
            raise broken_off()
        return Answer(self._completion(), self.usage, self._served_model, self._request_id)

    def _completion(self) -> Completion:
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        finish = _FINISH.get(self._stop_reason, FinishReason.OTHER)
        calls = () if finish is FinishReason.REFUSAL else self._calls(blocks)
        if calls and finish in (FinishReason.STOP, FinishReason.OTHER):
            finish = FinishReason.TOOL_USE
        if not calls and not self.text:
            raise self._empty(finish)
        kept = [kept for block in blocks if (kept := block.kept()) is not None]
        return Completion(_parts(blocks), calls, finish, self._stop_reason, ORDER.to_state(kept))

    def _calls(self, blocks: list[Block]) -> tuple[RequestedCall, ...]:
        calls: list[RequestedCall] = []
        taken: set[str] = set()
        for position, block in enumerate(blocks):
            if block.kind == TOOL_USE:
                call_id = block.call_id
                if not call_id or call_id in taken:
                    call_id = make_call_id(f"{self.attempt_id}/{position}")
                taken.add(call_id)
                calls.append(block.call(call_id))
        return tuple(calls)

    def _empty(self, finish: FinishReason) -> ModelError:
        error = empty_answer(finish)
        explanation = safe_line(self._refusal, 512)
        return ModelError(ModelErrorCode.REFUSED, explanation) if explanation else error


def _inputs(blocks: list[JsonObject], data: bytes, *path: str) -> list[str]:
    """The `input` of each block as it is spelled; empty where there is nothing in it.

    Args:
        blocks: one block, or all that stand in an array.
        data: what they were read from.
        path: where the block or the array stands in it.
    """
    if not any(block.get("input") for block in blocks):
        return [""] * len(blocks)
    found = Verbatim.of(data).member(*path)
    return [
        place.member("input").text if block.get("input") else ""
        for block, place in zip(blocks, list(found.elements()) or [found], strict=True)
    ]


def _parts(blocks: list[Block]) -> tuple[Part, ...]:
    kinds: dict[str, type[TextPart] | type[ReasoningPart]] = {
        TEXT: TextPart,
        THINKING: ReasoningPart,
    }
    return tuple(kinds[b.kind](b.text) for b in blocks if b.kind in kinds and b.text)


def _size(members: JsonObject) -> int:
    return sum(len(value) for value in members.values() if isinstance(value, str))


def _out_of_order(index: JsonValue) -> ModelError:
    message = f"the provider sent content blocks out of order, at index {index!r}"
    return ModelError(ModelErrorCode.INVALID_ANSWER, message)
