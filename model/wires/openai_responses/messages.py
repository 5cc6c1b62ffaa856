"""One turn as the input items of this wire."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from agentslot._json import JsonValue, dumps, replace_lone_surrogates
from agentslot.model.rendering import object_arguments, sendable_name
from agentslot.model.turns import Turn, sendable_parts
from agentslot.model.wires.attachments import Attachments
from agentslot.model.wires.callids import CallIds
from agentslot.model.wires.openai_responses.items import CALL, MESSAGE, ORDER, REASONING
from agentslot.model.wires.reading import JsonObject
from agentslot.session import AttachmentPart, Role, TextPart, ToolCall, ToolResult

CALL_ID = r"[!-~]{1,64}"
"""The form of a call's id; the server refuses longer ones."""


@dataclass(frozen=True, slots=True)
class ItemEncoder:
    """Encodes turns for one model; every encoded item has a comma behind it."""

    provider: str
    model: str
    attachments: Attachments
    ids: CallIds

    def encode(self, turn: Turn, state: None) -> tuple[bytes, None]:
        """The items of a turn; it may come to nothing."""
        items: list[JsonObject] = []
        if turn.message.role is Role.ASSISTANT:
            ids = self.ids.of(turn)
            items += self._assistant(turn, ids)
            items += [self._result(*pair) for pair in zip(ids, turn.results, strict=True)]
        users = [turn.message] if turn.message.role is Role.USER else []
        for message in (*users, *turn.interjected):
            if contents := [self._content(part) for part in sendable_parts(message)]:
                items.append({"role": "user", "content": list[JsonValue](contents)})
        return "".join(f"{dumps(item)}," for item in items).encode(), state

    def _assistant(self, turn: Turn, ids: Sequence[str]) -> list[JsonObject]:
        """What an assistant said and called, in the order in which the model wrote it.

        A reasoning item without the item that it led to would be refused, so it goes with that.
        """
        texts = (part for part in turn.message.parts if isinstance(part, TextPart))
        calls = zip(ids, turn.calls, strict=True)
        items: list[JsonObject] = []
        thoughts: list[JsonObject] = []
        for block in ORDER.of(turn.message, self.provider, self.model, len(ids)):
            kind = block.get("type")
            if kind == REASONING:
                thoughts.append(block)
                continue
            if kind == MESSAGE:
                said = [_message(block, part) for part in islice(texts, 1) if part.text.strip()]
            elif kind == CALL:
                said = [_call(block, *call) for call in islice(calls, 1)]
            else:
                said = [block]
            items += [*thoughts, *said] if said else []
            thoughts = []
        return items

    def _result(self, call_id: str, result: ToolResult | None) -> JsonObject:
        output: JsonValue = self.attachments.result_text(result)
        if made := self.attachments.of_result(result):
            output = [_text(str(output)), *(self._content(part) for part in made)]
        return {"type": "function_call_output", "call_id": call_id, "output": output}

    def _content(self, part: TextPart | AttachmentPart) -> JsonObject:
        if isinstance(part, TextPart):
            return _text(part.text)
        if not self.attachments.shows(part):
            return _text(self.attachments.in_place_of(part))
        url = f"data:{part.media_type};base64,{self.attachments.base64(part)}"
        return {"type": "input_image", "image_url": url, "detail": "auto"}


def _text(text: str) -> JsonObject:
    return {"type": "input_text", "text": replace_lone_surrogates(text)}


def _message(block: JsonObject, part: TextPart) -> JsonObject:
    """A text as the server's own message if it has an id, else in the short form."""
    content: JsonObject = {"type": "output_text", "text": replace_lone_surrogates(part.text)}
    if "id" not in block:
        more = {name: value for name, value in block.items() if name != "type"}
        return {"role": "assistant", **more, "content": [content]}
    content["annotations"] = []
    return {**block, "role": "assistant", "status": "completed", "content": [content]}


def _call(block: JsonObject, call_id: str, call: ToolCall) -> JsonObject:
    arguments = object_arguments(call.arguments)
    name = sendable_name(call.name)
    return {**block, "call_id": call_id, "name": name, "arguments": arguments}
