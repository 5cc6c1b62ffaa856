"""Messages: what a person, the model or a tool said, in the order it was said."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, cast

from agentslot._json import JsonError, loads
from agentslot.session.artifact import MAX_NAME_BYTES, is_media_type
from agentslot.session.errors import ClassifiedError, ErrorKind
from agentslot.session.identity import ClientMessageId, MessageId, RunId, StepId, is_identity
from agentslot.session.output import OutputFormat
from agentslot.session.text import is_safe_line, require_unicode


class Role(StrEnum):
    """Who speaks."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class TextPart:
    """Plain text."""

    text: str
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """Thinking that a model showed, for people and the record.

    What a provider wants replayed stands in the message's Continuation; only that goes back to it.
    """

    text: str
    kind: Literal["reasoning"] = "reasoning"


@dataclass(frozen=True, slots=True)
class AttachmentPart:
    """A reference to an artifact; the bytes live in the artifact store, never in a message."""

    artifact_id: str
    media_type: str
    name: str = ""
    kind: Literal["attachment"] = "attachment"


Part = TextPart | ReasoningPart | AttachmentPart


@dataclass(frozen=True, slots=True)
class Continuation:
    """Opaque provider state of one assistant message, replayed only to the model that wrote it.

    Attributes:
        provider: key of the provider that wrote it.
        model: id of the model that wrote it.
        state: one JSON value, kept byte for byte; nobody but that provider's wire reads it.
    """

    provider: str
    model: str
    state: str


@dataclass(frozen=True, slots=True)
class Message:
    """One durable message.

    A user message that a Run has taken up, and every assistant message, carries the run and step it
    belongs to. Empty parts are legal only for an assistant message that owns tool calls.

    Attributes:
        output: of a user message: the form that the answer of the Run which it begins must have.
    """

    id: MessageId
    role: Role
    parts: tuple[Part, ...]
    created_at: datetime
    run_id: RunId | None = None
    step_id: StepId | None = None
    client_message_id: ClientMessageId | None = None
    continuation: Continuation | None = None
    output: OutputFormat | None = None
    kind: Literal["message"] = "message"

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))


@dataclass(frozen=True, slots=True)
class MessageInput:
    """What a caller submits: at least one part. The Runtime gives it an id, a place and a time.

    Raises:
        ValueError: there is no part, one that is none, or an attachment that is malformed.
    """

    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("a message needs at least one part")
        for part in cast("Sequence[object]", self.parts):  # code without types gives anything
            match part:
                case AttachmentPart():
                    _check_attachment(part)
                case TextPart(text=str()) | ReasoningPart(text=str()):
                    pass
                case _:
                    raise ValueError(f"a message consists of parts, not of {type(part).__name__}")

    @classmethod
    def of(cls, content: "str | Part | Sequence[Part] | MessageInput") -> "MessageInput":
        """Accept the forms that people write: a text, one part, several parts."""
        match content:
            case MessageInput():
                return content
            case str():
                return cls((TextPart(content),))
            case TextPart() | ReasoningPart() | AttachmentPart():
                return cls((content,))
            case _:
                return cls(tuple(content))

    def require_unicode(self) -> None:
        """Refuse texts that no store could keep.

        Raises:
            ClassifiedError: `invalid_input/text_not_unicode`, with the path to the text.
        """
        require_unicode_parts(self.parts)


def require_unicode_parts(parts: Sequence[Part], where: str = "$") -> None:
    """Refuse parts with a text that no store could keep.

    Raises:
        ClassifiedError: `invalid_input/text_not_unicode`, with the path to the text.
    """
    for number, part in enumerate(parts):
        if not isinstance(part, AttachmentPart):
            require_unicode(part.text, f"{where}.parts[{number}].text")
            continue
        for member in ("artifact_id", "media_type", "name"):
            require_unicode(getattr(part, member), f"{where}.parts[{number}].{member}")


def require_sound_copy(message: Message, where: str) -> None:
    """Refuse, likewise, a message that is told of instead of being appended: with all its names.

    Raises:
        ClassifiedError: as `require_sound_message` does.
    """
    for name in (message.id, message.run_id, message.client_message_id):
        require_unicode(name or "", f"a name of {where}")
    require_sound_message(message, where)


def require_sound_message(message: Message, where: str) -> None:
    """Refuse a message with a text that no store could keep, or a continuation that is no JSON.

    Raises:
        ClassifiedError: `invalid_input/text_not_unicode` or `invalid_input/invalid_continuation`,
            with the path to what is wrong.
    """
    require_unicode_parts(message.parts, where)
    if message.step_id is not None:
        require_unicode(message.step_id, f"{where}.step_id")
    if message.continuation is not None:
        _check_continuation(message.continuation, f"{where}.continuation")


def _check_continuation(continuation: Continuation, where: str) -> None:
    for member in ("provider", "model", "state"):
        require_unicode(getattr(continuation, member), f"{where}.{member}")
    try:
        loads(continuation.state)
    except JsonError as error:
        raise ClassifiedError(
            ErrorKind.INVALID_INPUT,
            "invalid_continuation",
            f"{where}.state is no JSON value: {error.reason} at {error.path} (byte {error.offset})",
        ) from error


def _check_attachment(part: AttachmentPart) -> None:
    if not is_identity(part.artifact_id):
        raise ValueError(f"an attachment needs the id of its artifact, not {part.artifact_id!r}")
    if not is_media_type(part.media_type):
        raise ValueError(f"{part.media_type!r} is no media type like 'image/png'")
    if not is_safe_line(part.name, MAX_NAME_BYTES):
        raise ValueError(f"the attachment's name {part.name!r} is not one short line")
