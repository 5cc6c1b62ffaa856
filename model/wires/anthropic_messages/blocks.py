"""The content blocks of an answer: put together from deltas, and what goes back of each.

The server checks its thinking when it comes back: blocks must stand in their order, and thinking
must be unchanged in every byte.
"""

from agentslot._json import JsonError, loads
from agentslot.model.contract import RequestedCall
from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.model.wires.failure import nameless_call
from agentslot.model.wires.reading import JsonObject, as_text
from agentslot.model.wires.replay import BlockOrder

TEXT, THINKING, TOOL_USE = "text", "thinking", "tool_use"
THOUGHTS = frozenset({THINKING, "redacted_thinking"})
ORDER = BlockOrder(TEXT, TOOL_USE)

_PIECES = {TEXT: ("text_delta", "text"), THINKING: ("thinking_delta", "thinking")}
_ARGUMENTS = ("input_json_delta", "partial_json")
_KEPT_ELSEWHERE = {TEXT: ("text",), TOOL_USE: ("id", "name", "input")}


class Block:
    """One content block.

    Attributes:
        kind: its type.
        closed: whether the server has said that it is complete.
        known: whether every delta was understood.
        member: where a delta has its piece of the text.
    """

    def __init__(self, start: JsonObject, written: str = "") -> None:
        """Take the block as the server announced it.

        Args:
            start: the block.
            written: its `input` as it is spelled, if there is something in it.

        Raises:
            ModelError: it is none (`invalid_answer`).
        """
        self.kind = as_text(start.get("type"))
        if not self.kind:
            message = "the provider announced a content block without a type"
            raise ModelError(ModelErrorCode.INVALID_ANSWER, message)
        self.closed = False
        self.known = True
        self._members = dict(start)
        self._written = written
        self._delta, self.member = _PIECES.get(self.kind, _ARGUMENTS)
        self._pieces = [as_text(start.get(self.member))]

    @property
    def text(self) -> str:
        """Text, thinking, or the arguments of a call, as far as they have come."""
        return "".join(self._pieces)

    @property
    def call_id(self) -> str:
        """The server's token of a call."""
        return as_text(self._members.get("id"))

    def add(self, delta: JsonObject) -> str:
        """Take a delta; returns what it adds to the text."""
        kind = as_text(delta.get("type"))
        if kind == self._delta:
            self._pieces.append(as_text(delta.get(self.member)))
            return self._pieces[-1]
        if kind == "signature_delta":
            self._members["signature"] = delta.get("signature")
        elif kind == "citations_delta":
            cited = self._members.get("citations")
            before = cited if isinstance(cited, list) else []
            self._members["citations"] = [*before, delta.get("citation")]
        elif kind == "compaction_delta":
            self._members.update({name: delta[name] for name in delta if name != "type"})
        else:
            self.known = False
        return ""

    def call(self, call_id: str) -> RequestedCall:
        """The call that the block is.

        Raises:
            ModelError: it has no name (`invalid_answer`).
        """
        name = as_text(self._members.get("name"))
        if not name:
            raise nameless_call()
        arguments = self.text
        if not arguments.strip():  # none, or all of them in the announcement
            arguments = self._written or "{}"
        return RequestedCall(call_id, name, arguments)

    def kept(self) -> JsonObject | None:
        """What must go back of the block, less text and call; None if it cannot go back."""
        if self.kind == THINKING:
            signed = as_text(self._members.get("signature"))
            return {**self._members, THINKING: self.text} if signed else None
        if elsewhere := _KEPT_ELSEWHERE.get(self.kind):
            if self.kind == TEXT and not self.text:
                return None
            members = self._members.items()
            return {k: v for k, v in members if k not in elsewhere and v is not None}
        return self._opaque() if self.known else None

    def _opaque(self) -> JsonObject | None:
        """A block of a kind that is none of our business, such as a search that the server ran."""
        if not self.text.strip():
            return self._members
        try:
            return {**self._members, "input": loads(self.text)}
        except JsonError:
            return None
