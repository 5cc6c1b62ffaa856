"""One turn as the contents of this wire."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from agentslot._json import dumps, replace_lone_surrogates
from agentslot.model.rendering import object_arguments
from agentslot.model.turns import Turn, sendable_parts
from agentslot.model.wires.attachments import Attachments
from agentslot.model.wires.google_generative_ai.names import function_name
from agentslot.model.wires.google_generative_ai.parts import CALL, ORDER, SIGNATURE, TEXT
from agentslot.model.wires.reading import JsonObject, as_object
from agentslot.session import (
    AttachmentPart,
    Message,
    Role,
    TextPart,
    ToolCall,
    ToolResult,
    ToolStatus,
)

MEDIA_TYPES = frozenset(
    {
        *("image/png", "image/jpeg", "image/webp"),
        *("audio/wav", "audio/mpeg", "audio/aac", "audio/flac", "audio/ogg", "audio/aiff"),
    }
)
"""Media types that the models see and hear; a GIF is refused."""

_ROLES = {Role.USER: "user", Role.ASSISTANT: "model"}


@dataclass(frozen=True, slots=True)
class ContentEncoder:
    """Encodes turns for one model; every encoded content has a comma behind it.

    Results are told apart by their order alone, so there is one for each call, in one content. An
    id goes back only where the model gave one itself.

    Attributes:
        unsigned_call: the signature of the first call of a turn that has none; empty for none.
    """

    provider: str
    model: str
    attachments: Attachments
    unsigned_call: str

    def encode(self, turn: Turn, last: Role | None) -> tuple[bytes, Role | None]:
        """The contents of a turn, and whose the last one is.

        Args:
            turn: what to encode; it may come to nothing.
            last: whose the content before the turn is, None at the beginning.
        """
        encoded = ""
        if turn.message.role is Role.ASSISTANT:
            blocks = ORDER.of(turn.message, self.provider, self.model, len(turn.calls))
            if said := self._model(turn, blocks):
                # A model speaks after a user only, and History may have been trimmed.
                if last is not Role.USER:
                    encoded += user_content("Continue." if last else "[Earlier messages are gone.]")
                encoded += _content(Role.ASSISTANT, said)
                last = Role.ASSISTANT
            if turn.calls:
                encoded += _content(Role.USER, self._responses(turn, blocks))
                last = Role.USER
        for parts in self._user_contents(turn):
            encoded += _content(Role.USER, parts)
            last = Role.USER
        return encoded.encode(), last

    def _model(self, turn: Turn, blocks: list[JsonObject]) -> list[str]:
        """The parts of a model's content, in the order in which the model wrote them."""
        texts = (part for part in turn.message.parts if isinstance(part, TextPart))
        calls = iter(turn.calls)
        first = True
        encoded: list[str] = []
        empty = True
        for block in blocks:
            members = {name: value for name, value in block.items() if name != "type"}
            if block.get("type") == TEXT:
                said = [_text(part, members) for part in islice(texts, 1) if part.text.strip()]
            elif block.get("type") == CALL:
                if first and self.unsigned_call:
                    members.setdefault(SIGNATURE, self.unsigned_call)
                said = [_call(call, members) for call in islice(calls, 1)]
                first = False
            else:
                encoded += [dumps(kept)] if (kept := as_object(block.get("part"))) else []
                continue
            encoded += said
            empty = empty and not said
        return [] if empty else encoded

    def _responses(self, turn: Turn, blocks: list[JsonObject]) -> list[str]:
        given = [block.get("id") for block in blocks if block.get("type") == CALL]
        return [
            self._response(call, {"id": call_id} if call_id else {}, result)
            for call, call_id, result in zip(turn.calls, given, turn.results, strict=False)
        ]

    def _response(self, call: ToolCall, members: JsonObject, result: ToolResult | None) -> str:
        failed = result is None or result.status is not ToolStatus.SUCCEEDED
        response: JsonObject = {
            "error" if failed else "output": self.attachments.result_text(result)
        }
        members = {**members, "name": function_name(call.name), "response": response}
        return dumps({"functionResponse": members})

    def _user_contents(self, turn: Turn) -> Iterable[list[str]]:
        """The parts of each user content that the turn has, what tools made to be shown first."""
        if made := [part for result in turn.results for part in self.attachments.of_result(result)]:
            yield [dumps(self._part(part)) for part in made]
        users: Sequence[Message] = [turn.message] if turn.message.role is Role.USER else []
        for message in (*users, *turn.interjected):
            if parts := [dumps(self._part(part)) for part in sendable_parts(message)]:
                yield parts

    def _part(self, part: TextPart | AttachmentPart) -> JsonObject:
        if isinstance(part, TextPart):
            return {"text": replace_lone_surrogates(part.text)}
        if not self.attachments.shows(part):
            return {"text": self.attachments.in_place_of(part)}
        data = self.attachments.base64(part)
        return {"inlineData": {"mimeType": part.media_type, "data": data}}


def user_content(text: str) -> str:
    """A user content of our own, with a comma behind it."""
    return _content(Role.USER, [dumps({"text": text})])


def _content(role: Role, parts: Iterable[str]) -> str:
    return f'{{"role":"{_ROLES[role]}","parts":[{",".join(parts)}]}},'


def _text(part: TextPart, members: JsonObject) -> str:
    return dumps({"text": replace_lone_surrogates(part.text), **members})


def _call(call: ToolCall, members: JsonObject) -> str:
    """A call whose arguments go out as the model wrote them, in every byte."""
    call_id = members.pop("id", None)
    head = dumps({**({"id": call_id} if call_id else {}), "name": function_name(call.name)})
    function = f'{head[:-1]},"args":{object_arguments(call.arguments)}}}'
    rest = f",{dumps(members)[1:-1]}" if members else ""
    return f'{{"functionCall":{function}{rest}}}'
