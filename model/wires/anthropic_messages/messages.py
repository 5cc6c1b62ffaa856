"""One turn as the messages of this wire."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from agentslot._json import dumps, replace_lone_surrogates
from agentslot.model.rendering import object_arguments, sendable_name
from agentslot.model.turns import Turn, sendable_parts
from agentslot.model.wires.anthropic_messages.blocks import ORDER, TEXT, THOUGHTS, TOOL_USE
from agentslot.model.wires.attachments import Attachments
from agentslot.model.wires.callids import CallIds
from agentslot.model.wires.reading import JsonObject
from agentslot.session import AttachmentPart, Role, TextPart, ToolCall, ToolResult, ToolStatus

CALL_ID = r"[A-Za-z0-9_-]{1,64}"
"""The form of a call's id; the server refuses any other."""


class Ending(NamedTuple):
    """How the messages so far end.

    Attributes:
        last: whose the last one is, None at the beginning.
        calling: whether the newest message of the assistant has calls.
        thought: whether the first of its messages since the user spoke begins with thinking.
    """

    last: Role | None = None
    calling: bool = False
    thought: bool = False

    @property
    def bars_thinking(self) -> bool:
        """Whether the server refuses to have a model think now that thinks by a budget.

        It then wants thinking before the calls whose results it is told, and another model has
        made these.
        """
        return self.calling and not self.thought


@dataclass(frozen=True, slots=True)
class MessageEncoder:
    """Encodes turns for one model; every encoded message has a comma behind it."""

    provider: str
    model: str
    attachments: Attachments
    ids: CallIds

    def encode(self, turn: Turn, ending: Ending) -> tuple[bytes, Ending]:
        """The messages of a turn, and how all of them end.

        Args:
            turn: what to encode; it may come to nothing.
            ending: how the messages before the turn end.
        """
        encoded = ""
        last, calling, thought = ending
        if turn.message.role is Role.ASSISTANT:
            ids = self.ids.of(turn)
            blocks = ORDER.of(turn.message, self.provider, self.model, len(ids))
            if said := self._assistant(turn, ids, blocks):
                # The first message must be a user's, and History may have been trimmed.
                encoded += "" if last else user_message("[Earlier messages are not shown.]")
                encoded += _message(Role.ASSISTANT, said)
                last = Role.ASSISTANT
                thought = thought if calling else blocks[0].get("type") in THOUGHTS
                calling = bool(ids)
            results = [self._result(*pair) for pair in zip(ids, turn.results, strict=True)]
            if results:
                encoded += _message(Role.USER, results)
                last = Role.USER
        users = [turn.message] if turn.message.role is Role.USER else []
        for message in (*users, *turn.interjected):
            if parts := [dumps(self._block(part)) for part in sendable_parts(message)]:
                encoded += _message(Role.USER, parts)
                last = Role.USER
        return encoded.encode(), Ending(last, calling, thought)

    def _assistant(self, turn: Turn, ids: Sequence[str], blocks: Iterable[JsonObject]) -> list[str]:
        """The blocks of an assistant's message, in the order in which the model wrote them."""
        texts = (part for part in turn.message.parts if isinstance(part, TextPart))
        calls = zip(ids, turn.calls, strict=True)
        encoded: list[str] = []
        empty = True
        for block in blocks:
            kind = block.get("type")
            if kind == TEXT:
                said = [_text(block, part) for part in islice(texts, 1) if part.text.strip()]
            elif kind == TOOL_USE:
                said = [_tool_use(block, *call) for call in islice(calls, 1)]
            else:
                encoded.append(dumps(block))
                continue
            encoded += said
            empty = empty and not said
        return [] if empty else encoded

    def _result(self, call_id: str, result: ToolResult | None) -> str:
        block: JsonObject = {"type": "tool_result", "tool_use_id": call_id}
        text = self.attachments.result_text(result)
        made = self.attachments.of_result(result)
        if made:
            texts: list[JsonObject] = [{"type": "text", "text": text}] if text.strip() else []
            block["content"] = [*texts, *(self._block(part) for part in made)]
        elif text.strip():  # an empty text would be refused
            block["content"] = text
        if result is None or result.status is not ToolStatus.SUCCEEDED:
            block["is_error"] = True
        return dumps(block)

    def _block(self, part: TextPart | AttachmentPart) -> JsonObject:
        if isinstance(part, TextPart):
            return {"type": "text", "text": replace_lone_surrogates(part.text)}
        if not self.attachments.shows(part):
            return {"type": "text", "text": self.attachments.in_place_of(part)}
        source: JsonObject = {
            "type": "base64",
            "media_type": part.media_type,
            "data": self.attachments.base64(part),
        }
        return {"type": "image", "source": source}


def user_message(text: str) -> str:
    """A user message of our own, with a comma behind it."""
    return _message(Role.USER, [dumps({"type": "text", "text": text})])


def _message(role: Role, blocks: Iterable[str]) -> str:
    return f'{{"role":"{role}","content":[{",".join(blocks)}]}},'


def _text(block: JsonObject, part: TextPart) -> str:
    return dumps({**block, "text": replace_lone_surrogates(part.text)})


def _tool_use(block: JsonObject, call_id: str, call: ToolCall) -> str:
    """A call whose arguments go out as the model wrote them, in every byte."""
    head = {**block, "type": TOOL_USE, "id": call_id, "name": sendable_name(call.name)}
    return f'{dumps(head)[:-1]},"input":{object_arguments(call.arguments)}}}'
