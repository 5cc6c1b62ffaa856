"""What goes back with an assistant message beside its text and calls, as text for its continuation.

A JSON array of the message's content blocks in their order. Of text and calls it has only the place
(and members such as citations): the n-th text block is the n-th text of the message, the n-th call
its n-th call.
"""

from collections.abc import Sequence

from agentslot._json import dumps
from agentslot.model.wires.anthropic_messages.blocks import TEXT, TOOL_USE
from agentslot.model.wires.reading import JsonObject, as_objects
from agentslot.model.wires.replay import own_state
from agentslot.session import Message, TextPart


def to_state(blocks: Sequence[JsonObject]) -> str | None:
    """The continuation; None if texts and then calls are all there is."""
    calls = _count(blocks, TOOL_USE)
    return None if blocks == _places(len(blocks) - calls, calls) else dumps(blocks)


def from_state(message: Message, provider: str, model: str, calls: int) -> list[JsonObject]:
    """The blocks of a message in their order, with a place for each of its texts and calls."""
    blocks = as_objects(own_state(message, provider, model))
    texts = sum(isinstance(part, TextPart) for part in message.parts)
    return blocks + _places(texts - _count(blocks, TEXT), calls - _count(blocks, TOOL_USE))


def _count(blocks: Sequence[JsonObject], kind: str) -> int:
    return sum(block.get("type") == kind for block in blocks)


def _places(texts: int, calls: int) -> list[JsonObject]:
    text: JsonObject = {"type": TEXT}
    call: JsonObject = {"type": TOOL_USE}
    return [text] * texts + [call] * calls
