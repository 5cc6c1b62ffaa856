"""One turn as the messages of this wire."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from agentslot._json import JsonValue, dumps, replace_lone_surrogates
from agentslot.model.rendering import object_arguments, sendable_name
from agentslot.model.turns import Turn, sendable_parts, sendable_text
from agentslot.model.wires.attachments import PICTURES, Attachments
from agentslot.model.wires.openai_completions import thinking
from agentslot.model.wires.openai_completions.profile import CompatibilityProfile, ThinkingReplay
from agentslot.model.wires.reading import JsonObject, as_object, as_text
from agentslot.model.wires.replay import own_state
from agentslot.session import AttachmentPart, Message, Role, TextPart, ToolCall

_AUDIO = {"audio/wav": "wav", "audio/mpeg": "mp3"}
MEDIA_TYPES = PICTURES | _AUDIO.keys()
"""Media types that the protocol has a place for."""


class Ending(NamedTuple):
    """The last message: its role, empty if there is none, and whether it ends with a text block."""

    role: str = ""
    markable: bool = False


@dataclass(frozen=True, slots=True)
class MessageEncoder:
    """Encodes turns for one model; every encoded message has a comma behind it.

    Where cache marks are set, users and tools speak in blocks, for nothing else can carry a mark.
    """

    profile: CompatibilityProfile
    provider: str
    model: str
    attachments: Attachments
    marked: bool = False

    def system(self, prompt: str | None, cache_mark: JsonObject | None) -> bytes:
        """The system prompt, if there is one, with the mark that says how to cache it."""
        if not prompt:
            return b""
        role = "developer" if self.profile.developer_role else "system"
        content: JsonValue = replace_lone_surrogates(prompt)
        if cache_mark:
            content = [{"type": "text", "text": content, "cache_control": cache_mark}]
        return _join([{"role": role, "content": content}])

    def encode(self, turn: Turn, last: Ending) -> tuple[bytes, Ending]:
        """The messages of a turn, and how they end.

        Args:
            turn: what to encode; it may come to nothing.
            last: the message before the turn.
        """
        encoded = bytearray()
        if turn.message.role is Role.ASSISTANT:
            ids = self._ids(turn.calls)
            messages = self._assistant(turn, ids)
            for call, call_id, result in zip(turn.calls, ids, turn.results, strict=True):
                messages.append(self._result(call, call_id, self.attachments.result_text(result)))
            encoded += _join(messages)
            if messages:
                role = "tool" if turn.calls else "assistant"
                last = Ending(role, role == "tool" and _ends_with_text(messages[-1]["content"]))
        for content in self._user_contents(turn):
            if last.role == "tool" and not self.profile.user_after_tool:
                encoded += _join([{"role": "assistant", "content": "Understood."}])
            encoded += _join([{"role": "user", "content": content}])
            last = Ending("user", _ends_with_text(content))
        return bytes(encoded), last

    def _user_contents(self, turn: Turn) -> Iterator[JsonValue]:
        """What user messages the turn has, what tools made to be shown among them."""
        made = [part for result in turn.results for part in self.attachments.of_result(result)]
        if made:
            yield [self._block(part) for part in made]
        users = [turn.message] if turn.message.role is Role.USER else []
        for message in (*users, *turn.interjected):
            if content := self._user_content(message):
                yield content

    def _assistant(self, turn: Turn, ids: list[str]) -> list[JsonObject]:
        text = replace_lone_surrogates(sendable_text(turn.message, ""))
        if not text and not turn.calls:
            return []
        message: JsonObject = {"role": "assistant", "content": text}
        if not text and self.profile.null_content:
            message["content"] = None
        message.update(self._thinking(turn))
        if turn.calls:
            message["tool_calls"] = [
                {
                    "id": call_id,
                    "type": "function",
                    "function": {
                        "name": sendable_name(call.name),
                        "arguments": object_arguments(call.arguments),
                    },
                }
                for call, call_id in zip(turn.calls, ids, strict=True)
            ]
        return [message]

    def _result(self, call: ToolCall, call_id: str, text: str) -> JsonObject:
        message: JsonObject = {"role": "tool", "tool_call_id": call_id}
        if self.profile.tool_result_name:
            message["name"] = sendable_name(call.name)
        return {**message, "content": self._text(text)}

    def _user_content(self, message: Message) -> JsonValue:
        """Text, or blocks if there is something to show; empty if everything is blank."""
        parts = sendable_parts(message)
        if any(self.attachments.shows(part) for part in parts):
            return [self._block(part) for part in parts]
        texts = [
            p.text if isinstance(p, TextPart) else self.attachments.in_place_of(p) for p in parts
        ]
        return self._text(replace_lone_surrogates("\n\n".join(texts)))

    def _text(self, text: str) -> JsonValue:
        """A content that is nothing but a text. A blank one cannot be a block."""
        return [{"type": "text", "text": text}] if self.marked and text.strip() else text

    def _block(self, part: TextPart | AttachmentPart) -> JsonObject:
        if isinstance(part, TextPart):
            return {"type": "text", "text": replace_lone_surrogates(part.text)}
        if not self.attachments.shows(part):
            return {"type": "text", "text": self.attachments.in_place_of(part)}
        data = self.attachments.base64(part)
        if audio := _AUDIO.get(part.media_type):
            return {"type": "input_audio", "input_audio": {"data": data, "format": audio}}
        url = f"data:{part.media_type};base64,{data}"
        return {"type": "image_url", "image_url": {"url": url}}

    def _thinking(self, turn: Turn) -> JsonObject:
        replay = self.profile.thinking_replay
        if replay is ThinkingReplay.NEVER:
            return {}
        kept = as_object(own_state(turn.message, self.provider, self.model))
        if replay is ThinkingReplay.WITH_CALLS:
            name = thinking.TEXT_FIELDS[0]
            return {name: as_text(kept.get(name))} if turn.calls else {}
        return {name: value for name, value in kept.items() if name in thinking.FIELDS}

    def _ids(self, calls: Iterable[ToolCall]) -> list[str]:
        """One id a call, unique in its turn and of the form that the server wants."""
        ids: list[str] = []
        for call in calls:
            call_id = call.correlation_id
            if not re.fullmatch(self.profile.tool_call_id, call_id) or call_id in ids:
                # Nine letters and digits fit everywhere, and come out the same each time.
                call_id = hashlib.sha256(f"{call.id}/{call_id}".encode()).hexdigest()[:9]
            ids.append(call_id)
        return ids


def _ends_with_text(content: JsonValue) -> bool:
    return isinstance(content, list) and as_object(content[-1]).get("type") == "text"


def _join(messages: Iterable[JsonObject]) -> bytes:
    return b"".join(f"{dumps(message)},".encode() for message in messages)
