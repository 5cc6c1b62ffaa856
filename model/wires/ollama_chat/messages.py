"""One turn as the messages of this wire."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agentslot._json import dumps, replace_lone_surrogates
from agentslot.model.rendering import object_arguments, sendable_name
from agentslot.model.turns import Turn, sendable_parts, sendable_text
from agentslot.model.wires.attachments import Attachments
from agentslot.model.wires.ollama_chat.decode import THINKING
from agentslot.model.wires.reading import JsonObject, as_object, as_text
from agentslot.model.wires.replay import own_state
from agentslot.session import AttachmentPart, Message, Role, TextPart, ToolCall

PICTURES = frozenset({"image/png", "image/jpeg", "image/webp"})
"""Media types that the server decodes."""


@dataclass(frozen=True, slots=True)
class MessageEncoder:
    """Encodes turns for one model; every encoded message has a comma behind it.

    Calls have no ids here: results are told apart by their order alone, so there is one for each.
    """

    provider: str
    model: str
    attachments: Attachments

    def encode(self, turn: Turn, last: Role | None) -> tuple[bytes, Role | None]:
        """The messages of a turn, and whose the last one is; a tool's counts as a user's.

        Args:
            turn: what to encode; it may come to nothing.
            last: whose the message before the turn is, None at the beginning.
        """
        encoded = ""
        if turn.message.role is Role.ASSISTANT and (said := self._assistant(turn)):
            encoded += said
            last = Role.ASSISTANT
        for call, result in zip(turn.calls, turn.results, strict=True):
            encoded += tool_message(sendable_name(call.name), self.attachments.result_text(result))
            last = Role.USER
        for message in self._users(turn):
            encoded += message
            last = Role.USER
        return encoded.encode(), last

    def _assistant(self, turn: Turn) -> str:
        text = replace_lone_surrogates(sendable_text(turn.message, ""))
        if not text and not turn.calls:
            return ""
        message: JsonObject = {"role": "assistant", "content": text}
        kept = as_object(own_state(turn.message, self.provider, self.model))
        if thought := as_text(kept.get(THINKING)):
            message[THINKING] = thought
        calls = f',"tool_calls":[{",".join(map(_call, turn.calls))}]' if turn.calls else ""
        return f"{dumps(message)[:-1]}{calls}}},"

    def _users(self, turn: Turn) -> Iterable[str]:
        """What user messages the turn has, pictures that tools made among them."""
        if made := [part for result in turn.results for part in self.attachments.of_result(result)]:
            yield self._user(made)
        users: Sequence[Message] = [turn.message] if turn.message.role is Role.USER else []
        for message in (*users, *turn.interjected):
            if parts := sendable_parts(message):
                yield self._user(parts)

    def _user(self, parts: Sequence[TextPart | AttachmentPart]) -> str:
        shown = [part for part in parts if self.attachments.shows(part)]
        texts = [
            part.text if isinstance(part, TextPart) else self.attachments.in_place_of(part)
            for part in parts
            if part not in shown
        ]
        images = [
            self.attachments.base64(part) for part in shown if isinstance(part, AttachmentPart)
        ]
        return user_message("\n\n".join(texts), images)


def user_message(text: str, images: Sequence[str] = ()) -> str:
    """A user's message with a comma behind it."""
    message: JsonObject = {"role": "user", "content": replace_lone_surrogates(text)}
    if images:
        message["images"] = list(images)
    return f"{dumps(message)},"


def tool_message(name: str, text: str) -> str:
    """The result of a tool with a comma behind it."""
    return f"{dumps({'role': 'tool', 'content': text, 'tool_name': name})},"


def _call(call: ToolCall) -> str:
    """A call whose arguments go out as the model wrote them, in every byte."""
    name = dumps(sendable_name(call.name))
    return f'{{"function":{{"name":{name},"arguments":{object_arguments(call.arguments)}}}}}'
