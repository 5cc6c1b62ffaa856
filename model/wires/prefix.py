"""What is already encoded of a conversation: a turn encodes what is new, the rest is bytes."""

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from agentslot._json import dumps
from agentslot.model.contract import ModelRequest
from agentslot.model.transcript import Input, Ledger, Transcript
from agentslot.model.turns import Turn, read_turns
from agentslot.session import ToolDefinition

StateT = TypeVar("StateT")
KeptT = TypeVar("KeptT")


class TurnDigests:
    """Digests of encoded turns, each over all turns before it too: equal ones end equal bytes."""

    __slots__ = ("_digests", "_length")

    def __init__(self, digests: Sequence[bytes] = (), length: int = 0) -> None:
        """The first `length` of digests that others may be appended to."""
        self._digests = digests
        self._length = length

    def __len__(self) -> int:
        return self._length

    def continues(self, before: "TurnDigests") -> bool:
        """Whether these turns begin with those."""
        last = len(before) - 1
        return last < 0 or (last < self._length and self._digests[last] == before._digests[last])


@dataclass(frozen=True, slots=True)
class EncodedTurns(Generic[StateT]):
    """The encoded turns of one request, each element with a comma behind it.

    Attributes:
        state: what the encoder said after the last turn.
        digests: of the turns that every later request repeats.
    """

    state: StateT
    digests: TurnDigests
    _prefix: bytearray
    _size: int
    _tail: bytes

    def __bool__(self) -> bool:
        return bool(self._size or self._tail)

    def join(self, head: bytes, end: bytes, *, cut: int = 1) -> bytes:
        """`head`, the turns without their last `cut` bytes, and `end`; copied only once.

        Args:
            head: what stands before the first element.
            end: what stands behind.
            cut: 1 takes away the last comma, 0 leaves it; more makes room for a changed ending.
        """
        with memoryview(self._prefix) as prefix:
            if tail := self._tail:
                return b"".join((head, prefix[: self._size], tail[: len(tail) - cut], end))
            return b"".join((head, prefix[: max(self._size - cut, 0)], end))


class EncodedPrefix(Generic[StateT]):
    """The encoded finished turns of one conversation, for one model.

    The state is what an encoder must know of the turns before the one that it encodes.
    """

    def __init__(self, state: StateT) -> None:
        self._data = bytearray()
        self._inputs = [0]  # inputs used up, per finished turn
        self._ends = [0]  # length of the data, per finished turn
        self._states = [state]
        self._hash = hashlib.blake2b(digest_size=16)
        self._digests: list[bytes] = []  # of the data, per finished turn

    def fresh(self, inputs: Transcript) -> Sequence[Input]:
        """The elements that `extend` would encode, which are few from one turn to the next."""
        return inputs[self._inputs[self._known(inputs)] :]

    def extend(
        self,
        inputs: Transcript,
        encode: Callable[[Turn, StateT], tuple[bytes, StateT]],
        fill: Callable[[bytes], bytes],
    ) -> EncodedTurns[StateT]:
        """Bring the prefix up to `inputs`, and encode behind it what may still change.

        Args:
            inputs: the conversation.
            encode: encodes a turn.
            fill: puts in what is too large to be encoded.
        """
        known = self._known(inputs)
        newest = known == len(self._inputs) - 1
        size, state = self._ends[known], self._states[known]
        tail = bytearray()
        for turn in read_turns(inputs, self._inputs[known]):
            encoded, state = encode(turn, state)
            encoded = fill(encoded)
            if newest and turn.final and turn.end <= inputs.lasting and not tail:
                self._data += encoded
                self._hash.update(encoded)
                self._digests.append(self._hash.digest())
                self._inputs.append(turn.end)
                self._ends.append(len(self._data))
                self._states.append(state)
                size, known = len(self._data), known + 1
            else:
                tail += encoded
        digests = TurnDigests(self._digests, known)
        return EncodedTurns(state, digests, self._data, size, bytes(tail))

    def _known(self, inputs: Transcript) -> int:
        """How many turns of `inputs` are encoded already."""
        return bisect_right(self._inputs, inputs.lasting) - 1


class PerConversation(Generic[KeptT]):
    """What an encoder keeps for each conversation and model, as long as the conversation lives."""

    def __init__(self, make: Callable[[], KeptT]) -> None:
        self._make = make
        self._kept: WeakKeyDictionary[Ledger, dict[tuple[str, str], KeptT]] = WeakKeyDictionary()

    def of(self, request: ModelRequest) -> KeptT:
        """What is kept for the request's conversation and model; made if there is nothing yet."""
        models = self._kept.setdefault(request.inputs.ledger, {})
        key = (request.config.provider, request.config.model)
        if key not in models:
            models[key] = self._make()
        return models[key]


class ToolsText:
    """Tool definitions as a JSON array; each one is written once, whatever stands beside it."""

    def __init__(self, write: Callable[[ToolDefinition], Mapping[str, object]]) -> None:
        self._write = write
        self._written: dict[str, tuple[ToolDefinition, str]] = {}
        self._known: Sequence[ToolDefinition] = ()
        self._text = "[]"

    def of(self, tools: Sequence[ToolDefinition]) -> str:
        """The array. Equal definitions count as the same, whoever built them."""
        known = self._known
        if len(known) != len(tools) or any(
            a is not b and a != b for a, b in zip(known, tools, strict=True)
        ):
            self._text = f"[{','.join(map(self._one, tools))}]"
        self._known = tools
        return self._text

    def _one(self, tool: ToolDefinition) -> str:
        known = self._written.get(tool.name)
        if known is None or (known[0] is not tool and known[0] != tool):
            known = self._written[tool.name] = (tool, dumps(self._write(tool)))
        return known[1]


class MarkedTools:
    """The tools of requests as JSON arrays, with a mark behind those that every request has."""

    def __init__(self, write: Callable[[ToolDefinition], Mapping[str, object]], mark: str) -> None:
        """Take the mark as a member with a comma before it; empty for none."""
        self._mark = mark
        self._marked = ToolsText(write)
        self._others = ToolsText(write)

    def of(self, request: ModelRequest) -> str:
        """The array; see `ToolsText`."""
        tools = request.tools
        stable = len(tools) - request.late_tools
        if not stable or not self._mark:
            return self._others.of(tools)
        text = f"{self._marked.of(tools[:stable])[:-2]}{self._mark}}}]"
        if not request.late_tools:
            return text
        return f"{text[:-1]},{self._others.of(tools[stable:])[1:]}"
