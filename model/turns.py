"""Reading a conversation as turns: a view that any provider accepts, whatever History holds.

History may lack the result of a call that was cut off, or hold a result whose call was trimmed
away. Every wire reads it through here, so that the repair is the same each time and on each wire;
nothing stored is changed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentslot.model.transcript import Input
from agentslot.session import (
    AttachmentPart,
    Message,
    ReasoningPart,
    Role,
    TextPart,
    ToolCall,
    ToolResult,
)


@dataclass(frozen=True, slots=True)
class Turn:
    """A message, and if it is an assistant's, its calls with one result each.

    Attributes:
        results: as many as calls and in their order; None where there is none.
        interjected: user messages that were written before the last result had come. They belong
            behind the results.
        end: how many inputs of the conversation are used up with this turn.
        final: whether nothing that may still be appended can change this turn.
    """

    message: Message
    calls: tuple[ToolCall, ...]
    results: tuple[ToolResult | None, ...]
    interjected: tuple[Message, ...]
    end: int
    final: bool


def read_turns(inputs: Sequence[Input], start: int = 0) -> Iterator[Turn]:
    """The turns from position `start`, which must be the `end` of a final turn or 0.

    Calls without their message and results without their call are left out, and of several results
    of one call the first counts.
    """
    position = start
    while position < len(inputs):
        item = inputs[position]
        position += 1
        if isinstance(item, Message):
            turn = _read_turn(item, inputs, position)
            position = turn.end
            yield turn


def _read_turn(message: Message, inputs: Sequence[Input], position: int) -> Turn:
    calls: list[ToolCall] = []
    results: dict[str, ToolResult] = {}
    interjected: list[Message] = []
    if message.role is Role.ASSISTANT:
        known: set[str] = set()
        while position < len(inputs):
            item = inputs[position]
            if isinstance(item, ToolCall):
                # The calls of a message come together, so a late one cannot change a done turn.
                if item.message_id == message.id and item.id not in known and not results:
                    calls.append(item)
                    known.add(item.id)
            elif isinstance(item, ToolResult):
                if item.call_id in known:
                    results.setdefault(item.call_id, item)
            elif len(results) == len(known) or item.role is Role.ASSISTANT:
                break
            else:
                interjected.append(item)
            position += 1
    complete = bool(calls) and len(results) == len(calls)
    return Turn(
        message,
        tuple(calls),
        tuple(results.get(call.id) for call in calls),
        tuple(interjected),
        position,
        final=complete or message.role is Role.USER or position < len(inputs),
    )


def sendable_text(message: Message, separator: str) -> str:
    """The text parts that are not blank, joined; empty if there is nothing to send."""
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    return separator.join(text for text in texts if text.strip())


def sendable_parts(message: Message) -> list[TextPart | AttachmentPart]:
    """The parts that any provider takes: attachments, and text that is not blank."""
    parts = [part for part in message.parts if not isinstance(part, ReasoningPart)]
    return [part for part in parts if isinstance(part, AttachmentPart) or part.text.strip()]
