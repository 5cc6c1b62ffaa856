"""Putting tool calls together from fragments, for servers that each cut them their own way.

A fragment belongs to a call by its `index`, by its `id`, or, if it has neither, to the call that
was opened last. Servers leave out any of them, repeat id and name in every fragment, give two calls
one id, or send arguments as an object instead of text.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from agentslot._json import JsonError, JsonValue, loads
from agentslot.model.contract import RequestedCall
from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.model.wires.failure import nameless_call
from agentslot.model.wires.reading import JsonObject, as_count, as_object, as_objects, as_text
from agentslot.model.wires.verbatim import Verbatim


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        return "".join(self.arguments)


class CallAssembler:
    """Collects the calls of one answer in the order in which they were opened."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, fragment: JsonObject) -> int:
        """Take one of `fragments_of`; returns how many characters of arguments it brought.

        Raises:
            ModelError: It cannot be told which call the fragment belongs to (`invalid_answer`).
        """
        function = as_object(fragment.get("function"))
        name = as_text(function.get("name"))
        arguments = as_text(function.get("arguments"))
        call = self._find(fragment, name, arguments)
        call.id = call.id or as_text(fragment.get("id"))
        if name != call.name:
            call.name += name
        if arguments:
            call.arguments.append(arguments)
        return len(arguments)

    def _find(self, fragment: JsonObject, name: str, arguments: str) -> _Call:
        call_id = as_text(fragment.get("id"))
        index = as_count(fragment.get("index"))
        if index is not None:
            call = self._by_index.get(index)
            # Some servers give every call index 0, and only the new id tells them apart.
            if call is None or (call_id and call.id and call_id != call.id and name):
                call = self._by_index[index] = self._open()
            return call
        if not self._calls:
            return self._open()
        last = self._calls[-1]
        if call_id and call_id != last.id:
            known = next((call for call in self._calls if call.id == call_id), None)
            return known or self._open()
        return self._continue(last, name, arguments)

    def _continue(self, last: _Call, name: str, arguments: str) -> _Call:
        """Without an index and a new id: the last call goes on, unless it is visibly complete."""
        if not name or not last.arguments:
            return last
        if arguments and _is_complete(last.text):
            return self._open()
        if name == last.name:
            return last
        raise ModelError(
            ModelErrorCode.INVALID_ANSWER,
            "the provider sent fragments of tool calls that cannot be told apart",
        )

    def _open(self) -> _Call:
        self._calls.append(_Call())
        return self._calls[-1]

    def arguments_complete(self) -> bool:
        """Whether the arguments of every call are JSON, or empty."""
        return all(not call.text.strip() or _is_complete(call.text) for call in self._calls)

    def finish(self, seed: str) -> tuple[RequestedCall, ...]:
        """The calls, each with an id that is unique in this answer.

        Args:
            seed: Something unique from which missing ids are made, so that they are stable.

        Raises:
            ModelError: A call has no name (`invalid_answer`).
        """
        taken: set[str] = set()
        requested: list[RequestedCall] = []
        for position, call in enumerate(self._calls):
            if not call.name:
                if not call.text.strip():
                    continue  # a placeholder that announced nothing
                raise nameless_call()
            call_id = call.id
            if not call_id or call_id in taken:
                call_id = _make_id(f"{seed}/{position}")
            taken.add(call_id)
            arguments = call.text
            requested.append(
                RequestedCall(call_id, call.name, arguments if arguments.strip() else "{}")
            )
        return tuple(requested)


def fragments_of(calls: JsonValue, document: bytes, member: str) -> Sequence[JsonObject]:
    """The fragments of calls, their arguments as text.

    Args:
        calls: `tool_calls` of the first choice.
        document: what they were read from: arguments that are no text are taken as it spells them.
        member: what holds them in the choice, `delta` or `message`.
    """
    fragments = as_objects(calls)
    if all(isinstance(_arguments(fragment), str | None) for fragment in fragments):
        return fragments
    choice = next(Verbatim.of(document).member("choices").objects())
    spelled = choice.member(member, "tool_calls").objects()
    return [_spelled(*both) for both in zip(fragments, spelled, strict=True)]


def _spelled(fragment: JsonObject, written: Verbatim) -> JsonObject:
    if isinstance(_arguments(fragment), str | None):
        return fragment
    arguments = written.member("function", "arguments").text
    return {**fragment, "function": {**as_object(fragment["function"]), "arguments": arguments}}


def _arguments(fragment: JsonObject) -> JsonValue:
    return as_object(fragment.get("function")).get("arguments")


def _is_complete(text: str) -> bool:
    try:
        loads(text)
    except JsonError:
        return False
    return True


def _make_id(seed: str) -> str:
    """Nine letters and digits: the one form that every vendor of this protocol accepts."""
    return hashlib.sha256(seed.encode()).hexdigest()[:9]
