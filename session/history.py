"""History: the append-only ledger, shared between revisions instead of copied.

A History is a view: a ledger and a length. Appending to the newest view extends the ledger in place
and costs what is new; older views keep their length and never see it. Appending to an older view,
which happens only after a commit could not be made durable, copies the ledger first.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar, overload

from agentslot.session.identity import AttemptId, MessageId, RunId, ToolCallId
from agentslot.session.message import Message
from agentslot.session.toolcall import ToolCall, ToolResult

if TYPE_CHECKING:  # facts name History's contents; History itself needs them for types only
    from agentslot.session.facts import Fact

K = TypeVar("K")


class _Ledger:
    """Facts in order, and where to find one by the identity of its subject."""

    __slots__ = ("calls", "facts", "messages", "results", "run_ends", "run_starts", "seen_attempts")

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.messages: dict[MessageId, int] = {}
        self.calls: dict[ToolCallId, int] = {}
        self.results: dict[ToolCallId, int] = {}
        self.run_starts: dict[RunId, int] = {}
        self.run_ends: dict[RunId, int] = {}
        self.seen_attempts: dict[AttemptId, int] = {}

    def add(self, fact: "Fact") -> None:
        position = len(self.facts)
        self.facts.append(fact)
        payload = fact.payload
        match payload.kind:
            case "message":
                self.messages[payload.id] = position
            case "tool_call":
                self.calls[payload.id] = position
            case "tool_result":
                self.results[payload.call_id] = position
            case "model_attempt":
                self.seen_attempts.setdefault(payload.attempt_id, position)
            case "run":
                ends = payload.status != "started"
                (self.run_ends if ends else self.run_starts)[payload.run_id] = position
            case _:
                pass


class History(Sequence["Fact"]):
    """The facts of a Session up to one revision; `history[0]` has sequence 1."""

    __slots__ = ("_ledger", "_length")

    def __init__(self, facts: Iterable["Fact"] = ()) -> None:
        self._ledger = _Ledger()
        for fact in facts:
            self._ledger.add(fact)
        self._length = len(self._ledger.facts)

    def appended(self, facts: Iterable["Fact"]) -> "History":
        """This History and `facts` behind it; this view itself does not change."""
        longer = History.__new__(History)
        if len(self._ledger.facts) == self._length:
            longer._ledger = self._ledger
        else:
            longer._ledger = History(self)._ledger
        for fact in facts:
            longer._ledger.add(fact)
        longer._length = len(longer._ledger.facts)
        return longer

    @property
    def last_sequence(self) -> int:
        """Sequence of the newest fact, 0 if there is none."""
        return self._length

    def message(self, message_id: MessageId) -> Message | None:
        """The message with that id."""
        fact = self._find(self._ledger.messages, message_id)
        return fact.payload if fact and isinstance(fact.payload, Message) else None

    def call(self, call_id: ToolCallId) -> ToolCall | None:
        """The tool call with that id."""
        fact = self._find(self._ledger.calls, call_id)
        return fact.payload if fact and isinstance(fact.payload, ToolCall) else None

    def result(self, call_id: ToolCallId) -> ToolResult | None:
        """The result of that call."""
        fact = self._find(self._ledger.results, call_id)
        return fact.payload if fact and isinstance(fact.payload, ToolResult) else None

    def run_start(self, run_id: RunId) -> "Fact | None":
        """The fact that started the Run."""
        return self._find(self._ledger.run_starts, run_id)

    def run_end(self, run_id: RunId) -> "Fact | None":
        """The fact that ended the Run."""
        return self._find(self._ledger.run_ends, run_id)

    def has_attempt(self, attempt_id: AttemptId) -> bool:
        """Whether an attempt with that id has started."""
        return self._find(self._ledger.seen_attempts, attempt_id) is not None

    def _find(self, index: Mapping[K, int], key: K) -> "Fact | None":
        position = index.get(key)
        if position is None or position >= self._length:
            return None
        return self._ledger.facts[position]

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> "Fact": ...
    @overload
    def __getitem__(self, index: slice) -> "Sequence[Fact]": ...
    def __getitem__(self, index: int | slice) -> "Fact | Sequence[Fact]":
        if isinstance(index, slice):
            start, stop, step = index.indices(self._length)
            return self._ledger.facts[start:stop:step]
        position = index + self._length if index < 0 else index
        if not 0 <= position < self._length:
            raise IndexError(index)
        return self._ledger.facts[position]

    def __iter__(self) -> Iterator["Fact"]:
        facts = self._ledger.facts
        for position in range(self._length):
            yield facts[position]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, History):
            return NotImplemented
        return self._length == other._length and all(
            a == b for a, b in zip(self, other, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]  # compared by content, like a list
