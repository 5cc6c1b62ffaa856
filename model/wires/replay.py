"""What goes back to the model that wrote it, and to no other."""

from agentslot._json import JsonError, JsonValue, loads
from agentslot.session import Message


def own_state(message: Message, provider: str, model: str) -> JsonValue:
    """The continuation of a message if this very model wrote it, else None."""
    state = message.continuation
    if state is None or (state.provider, state.model) != (provider, model):
        return None
    try:
        return loads(state.state)
    except JsonError:
        return None  # what is stored must never stop a request
