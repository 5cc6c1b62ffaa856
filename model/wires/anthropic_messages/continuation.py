"""What goes back with an assistant message beside its text and calls, as text for its continuation.

A JSON array of the message's content blocks in their order. Of text and calls it has only the place
(and members such as citations): the n-th text block is the n-th text of the message, the n-th call
its n-th call.
"""

from collections.abc import Sequence

from agentslot._json import JsonError, dumps, loads
from agentslot.model.wires.anthropic_messages.blocks import TEXT, TOOL_USE
from agentslot.model.wires.reading import JsonObject, as_objects
from agentslot.session import Message

_PLACES: dict[str, JsonObject] = {kind: {"type": kind} for kind in (TEXT, TOOL_USE)}


def to_state(blocks: Sequence[JsonObject]) -> str | None:
    """The continuation; None if texts and then calls are all there is."""
    return None if list(blocks) == _plain_order(blocks) else dumps(blocks)


def from_state(message: Message, provider: str, model: str, calls: int) -> list[JsonObject]:
    """The blocks of a message in their order; without a state of its own, texts and then calls."""
    texts = sum(part.kind == "text" for part in message.parts)
    state = message.continuation
    if state is not None and (state.provider, state.model) == (provider, model):
        try:
            return as_objects(loads(state.state))
        except JsonError:
            pass  # what is stored must never stop a request
    return [_PLACES[TEXT]] * texts + [_PLACES[TOOL_USE]] * calls


def _plain_order(blocks: Sequence[JsonObject]) -> list[JsonObject]:
    texts = sum(block == _PLACES[TEXT] for block in blocks)
    return [_PLACES[TEXT]] * texts + [_PLACES[TOOL_USE]] * (len(blocks) - texts)
