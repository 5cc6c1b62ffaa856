"""The output items of an answer: put together from deltas, and what goes back of each."""

from agentslot._json import JsonValue
from agentslot.model.contract import RequestedCall
from agentslot.model.wires.failure import nameless_call
from agentslot.model.wires.reading import JsonObject, as_objects, as_text
from agentslot.model.wires.replay import BlockOrder
from agentslot.session import Part, ReasoningPart, TextPart

MESSAGE, REASONING, CALL = "message", "reasoning", "function_call"
ORDER = BlockOrder(MESSAGE, CALL)

_MAX_ID = 64
_KEPT = {MESSAGE: ("id", "phase"), CALL: ("id", "caller", "namespace")}


class OutputItem:
    """One output item.

    Attributes:
        complete: whether the server has sent the whole item.
    """

    def __init__(self) -> None:
        self.complete = False
        self._members: JsonObject = {}
        self._pieces: list[str] = []

    @property
    def kind(self) -> str:
        """Its type."""
        return as_text(self._members.get("type"))

    @property
    def refused(self) -> bool:
        """Whether it says that the model refuses."""
        contents = as_objects(self._members.get("content"))
        return any(content.get("type") == "refusal" for content in contents)

    def announce(self, members: JsonObject) -> None:
        """The server has begun the item. Its arguments are a placeholder still."""
        if not self.complete:
            self._members = {**members, "content": None, "summary": None, "arguments": None}

    def add(self, kind: str, piece: str) -> None:
        """More of its text, thinking or arguments has come."""
        self._members.setdefault("type", kind)
        self._pieces.append(piece)

    def settle(self, members: JsonObject) -> None:
        """The server has sent the whole item; the first such word counts."""
        if not self.complete:
            self._members = members
            self.complete = True

    @property
    def text(self) -> str:
        """The visible text of a message, or the thinking of a reasoning item."""
        if self.kind == REASONING:
            return "".join(self._pieces) or _joined(self._members, "content", "summary")
        if self.kind == MESSAGE:
            return _joined(self._members, "content") if self.complete else "".join(self._pieces)
        return ""

    def part(self) -> Part | None:
        """What people see of it."""
        if not self.text:
            return None
        return ReasoningPart(self.text) if self.kind == REASONING else TextPart(self.text)

    def call(self, call_id: str) -> RequestedCall:
        """The call that it is.

        Raises:
            ModelError: it has no name (`invalid_answer`).
        """
        name = as_text(self._members.get("name"))
        if not name:
            raise nameless_call()
        written = self._members.get("arguments") if self.complete else "".join(self._pieces)
        arguments = as_text(written)
        return RequestedCall(call_id, name, arguments if arguments.strip() else "{}")

    @property
    def call_id(self) -> str:
        """The server's token of a call; its result is told by this one, and not by the item's."""
        return as_text(self._members.get("call_id"))

    def kept(self) -> JsonObject | None:
        """What must go back of the item, less text and call; None if it cannot go back.

        Nothing is stored at the server, so a reasoning item goes back whole or not at all; and an
        item that waits for a result of its own kind would never get one.
        """
        if names := _KEPT.get(self.kind):
            if self.kind == MESSAGE and not self.text:
                return None
            kept = {n: v for n in names if (v := self._members.get(n)) and _is_short(v)}
            return {"type": self.kind, **kept}
        if self.kind == REASONING:
            return _reasoning(self._members)
        return None if self.call_id else self._members


def _is_short(value: JsonValue) -> bool:
    return not isinstance(value, str) or len(value) <= _MAX_ID


def _joined(members: JsonObject, *names: str) -> str:
    """The texts in the first of some members that has any."""
    for name in names:
        texts = [
            as_text(content.get("refusal" if content.get("type") == "refusal" else "text"))
            for content in as_objects(members.get(name))
        ]
        if any(texts):
            return ("\n\n" if name == "summary" else "").join(texts)
    return ""


def _reasoning(members: JsonObject) -> JsonObject | None:
    replay: JsonObject = {"type": REASONING}
    if (item_id := as_text(members.get("id"))) and _is_short(item_id):
        replay["id"] = item_id
    replay["summary"] = [dict(summary) for summary in as_objects(members.get("summary"))]
    if contents := as_objects(members.get("content")):
        replay["content"] = [dict(content) for content in contents]
    if encrypted := as_text(members.get("encrypted_content")):
        replay["encrypted_content"] = encrypted
    return replay if contents or encrypted else None
