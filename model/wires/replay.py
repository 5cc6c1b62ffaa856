"""What goes back to the model that wrote it, and to no other."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agentslot._json import JsonError, JsonValue, dumps, loads
from agentslot.model.wires.reading import JsonObject, as_object, as_objects
from agentslot.session import Message, TextPart

_CALL_TYPES = frozenset({"tool_use", "function_call", "functionCall"})
"""The types of the blocks that are calls, on all wires whose continuation has blocks."""


def own_state(message: Message, provider: str, model: str) -> JsonValue:
    """The continuation of a message if this very model wrote it, else None."""
    state = message.continuation
    if state is None or (state.provider, state.model) != (provider, model):
        return None
    try:
        return loads(state.state)
    except JsonError:
        return None  # what is stored must never stop a request


def without_calls(state: str | None, positions: Collection[int]) -> str | None:
    """A continuation without the places of some calls, given by their positions.

    On wires whose continuation has no places for calls it stays as it is.
    """
    blocks = None if state is None else loads(state)
    if not isinstance(blocks, list):
        return state
    kept: list[JsonValue] = []
    position = -1
    for block in blocks:
        is_call = as_object(block).get("type") in _CALL_TYPES
        position += is_call
        if not (is_call and position in positions):
            kept.append(block)
    return dumps(kept)


@dataclass(frozen=True, slots=True)
class BlockOrder:
    """Keeps the blocks of an answer for its continuation, in their order.

    Texts and calls stand in the message and its calls already, so of them only the place is kept
    (and members such as an id): the n-th text block is the n-th text of the message, the n-th call
    its n-th call. All other blocks are kept whole.

    Attributes:
        text: the type of a block of text on this wire.
        call: the type of a call.
    """

    text: str
    call: str

    def to_state(self, blocks: Sequence[JsonObject]) -> str | None:
        """The continuation; None if texts and then calls, with nothing to them, are all."""
        calls = self._count(blocks, self.call)
        return None if blocks == self._places(len(blocks) - calls, calls) else dumps(blocks)

    def of(self, message: Message, provider: str, model: str, calls: int) -> list[JsonObject]:
        """The blocks of a message, with a place for each text and call that it has today."""
        blocks = as_objects(own_state(message, provider, model))
        texts = sum(isinstance(part, TextPart) for part in message.parts)
        missing = (texts - self._count(blocks, self.text), calls - self._count(blocks, self.call))
        return blocks + self._places(*missing)

    def _count(self, blocks: Sequence[JsonObject], kind: str) -> int:
        return sum(block.get("type") == kind for block in blocks)

    def _places(self, texts: int, calls: int) -> list[JsonObject]:
        text: JsonObject = {"type": self.text}
        call: JsonObject = {"type": self.call}
        return [text] * texts + [call] * calls
