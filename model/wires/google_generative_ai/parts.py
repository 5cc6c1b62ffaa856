"""The parts of an answer: put together from pieces, and what goes back of each.

A signature belongs to the part that it came with. Such a part is never joined with another one, and
goes back with its signature unchanged in every byte.
"""

from agentslot.model.contract import RequestedCall
from agentslot.model.wires.callids import make_call_id
from agentslot.model.wires.failure import nameless_call
from agentslot.model.wires.google_generative_ai.arguments import PartialArguments
from agentslot.model.wires.google_generative_ai.names import tool_name
from agentslot.model.wires.reading import JsonObject, as_object, as_objects, as_text
from agentslot.model.wires.replay import BlockOrder
from agentslot.session import Part, ReasoningPart, TextPart

TEXT, CALL, SIGNATURE = "text", "functionCall", "thoughtSignature"
THOUGHT, OTHER = "thought", "part"
ORDER = BlockOrder(TEXT, CALL)


class AnswerPart:
    """One part.

    Attributes:
        kind: TEXT, THOUGHT, CALL, or OTHER for what is none of our business.
        closed: whether nothing can be added to it.
    """

    def __init__(self, kind: str, members: JsonObject) -> None:
        self.kind = kind
        self.signature = as_text(members.get(SIGNATURE))
        self.closed = bool(self.signature)
        self._members = members
        self._pieces: list[str] = []
        self._partial = PartialArguments()

    @property
    def text(self) -> str:
        """Text or thought; empty for any other kind."""
        return "".join(self._pieces) if self.kind in (TEXT, THOUGHT) else ""

    def add_text(self, piece: str) -> None:
        """More of a text or thought has come."""
        self._pieces.append(piece)

    def add_call(self, part: JsonObject, arguments: str) -> None:
        """A piece of a call has come.

        Args:
            part: the piece.
            arguments: all arguments as the provider spelled them; empty if they come in pieces.
        """
        call = as_object(part.get(CALL))
        if arguments:
            self._pieces = [arguments]
        for piece in as_objects(call.get("partialArgs")):
            self._partial.add(piece)
        self.signature = self.signature or as_text(part.get(SIGNATURE))
        self.closed = call.get("willContinue") is not True

    def visible(self) -> Part | None:
        """What people see of it."""
        if not self.text:
            return None
        return ReasoningPart(self.text) if self.kind == THOUGHT else TextPart(self.text)

    @property
    def call_id(self) -> str:
        """The provider's token of a call, if it gave one."""
        return as_text(as_object(self._members.get(CALL)).get("id"))

    def call(self, call_id: str) -> RequestedCall:
        """The call that it is.

        Raises:
            ModelError: its arguments are no object (`invalid_answer`).
        """
        name = as_text(as_object(self._members.get(CALL)).get("name"))
        return RequestedCall(
            call_id, tool_name(name), "".join(self._pieces) or self._partial.text()
        )

    def kept(self) -> JsonObject:
        """What must go back of the part, less text and call."""
        signed: JsonObject = {SIGNATURE: self.signature} if self.signature else {}
        if self.kind == TEXT:
            return {"type": TEXT, **signed}
        if self.kind == CALL:
            given: JsonObject = {"id": self.call_id} if self.call_id else {}
            return {"type": CALL, **given, **signed}
        whole = {"text": self.text, "thought": True, **signed}
        return {"type": OTHER, "part": whole if self.kind == THOUGHT else self._members}


class AnswerParts:
    """The parts of one answer in their order."""

    def __init__(self) -> None:
        self._parts: list[AnswerPart] = []

    @property
    def text(self) -> str:
        """The visible text so far."""
        return "".join(part.text for part in self._parts if part.kind == TEXT)

    def visible(self) -> tuple[Part, ...]:
        """What people see."""
        seen = (part.visible() for part in self._parts)
        return tuple(part for part in seen if part is not None)

    @property
    def open_call(self) -> bool:
        """Whether the last part is a call of which more was announced."""
        return bool(self._parts) and self._parts[-1].kind == CALL and not self._parts[-1].closed

    def add(self, members: JsonObject, arguments: str) -> None:
        """Take a part, or a piece of one.

        Raises:
            ModelError: it is a call without a name (`invalid_answer`).
        """
        text = members.get(TEXT)
        if isinstance(members.get(CALL), dict):
            self._add_call(members, arguments)
        elif isinstance(text, str) and text:
            self._add_text(members, text)
        elif members.get(SIGNATURE) or members.keys() - {TEXT, THOUGHT}:
            self._parts.append(AnswerPart(OTHER, members))

    def calls(self, seed: str) -> tuple[RequestedCall, ...]:
        """The calls, each with an id that is unique in this answer.

        Args:
            seed: something unique from which missing ids are made, so that they are stable.

        Raises:
            ModelError: arguments are no object (`invalid_answer`).
        """
        calls: list[RequestedCall] = []
        taken: set[str] = set()
        for position, part in enumerate(part for part in self._parts if part.kind == CALL):
            call_id = part.call_id
            if not call_id or call_id in taken:
                call_id = make_call_id(f"{seed}/{position}")
            taken.add(call_id)
            calls.append(part.call(call_id))
        return tuple(calls)

    def state(self) -> str | None:
        """The continuation; an id that came twice goes back once, since it can name one call."""
        blocks: list[JsonObject] = []
        taken: set[str] = set()
        for part in self._parts:
            blocks.append(part.kept())
            if part.call_id in taken:
                blocks[-1].pop("id", None)
            taken.add(part.call_id)
        return ORDER.to_state(blocks)

    def _add_text(self, members: JsonObject, text: str) -> None:
        kind = THOUGHT if members.get(THOUGHT) is True else TEXT
        last = self._parts[-1] if self._parts else None
        if members.get(SIGNATURE) or last is None or last.kind != kind or last.closed:
            last = AnswerPart(kind, members)
            self._parts.append(last)
        last.add_text(text)

    def _add_call(self, members: JsonObject, arguments: str) -> None:
        call = as_object(members.get(CALL))
        if as_text(call.get("name")):
            self._parts.append(AnswerPart(CALL, members))
        elif not self.open_call:
            if not call:
                return  # an end mark of what has ended
            raise nameless_call()
        self._parts[-1].add_call(members, arguments)
