"""The ids of tool calls in requests: the provider's own tokens, as far as they can be sent."""

import hashlib
import re

from agentslot.model.turns import Turn
from agentslot.session import MessageId


class CallIds:
    """Gives each call of one conversation an id that occurs once in its requests.

    A call keeps the token that came with it, unless the token has not the form that the provider
    takes (another provider's) or names an earlier call already (some servers begin at 0 in every
    answer). Then it gets one that is made from our own id of the call, the same each time.
    """

    def __init__(self, form: str) -> None:
        """Take the form of an id, a regular expression."""
        self._form = re.compile(form)
        self._owners: dict[str, MessageId] = {}

    def of(self, turn: Turn) -> list[str]:
        """The ids of the calls of a turn. Turns must come in their order when first asked for."""
        ids: list[str] = []
        for call in turn.calls:
            call_id = call.correlation_id
            owner = self._owners.setdefault(call_id, turn.message.id)
            if owner != turn.message.id or call_id in ids or not self._form.fullmatch(call_id):
                call_id = make_call_id(f"{call.id}/{call_id}")
            ids.append(call_id)
        return ids


def make_call_id(seed: str) -> str:
    """An id that every provider takes, the same for the same seed."""
    return f"call_{hashlib.sha256(seed.encode()).hexdigest()[:24]}"
