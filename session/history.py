"""History: the append-only ledger, shared between revisions instead of copied.

A History is a SharedList of facts with an index beside it, by the identity of what a fact is about.
The index is shared like the facts: a view ignores what lies behind its end. Appending to an older
view, which happens only after a commit could not be made durable, copies both first.
"""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from agentslot.session.facts import Fact, RunStatus
from agentslot.session.identity import AttemptId, MessageId, RunId, StepId, ToolCallId
from agentslot.session.message import Message
from agentslot.session.output import OutputFormat
from agentslot.session.sharedlist import SharedList
from agentslot.session.toolcall import ToolCall, ToolResult

K = TypeVar("K")


class _Index:
    """Positions in History by the identity of the subject."""

    __slots__ = (
        "attempts",
        "calls",
        "contributions",
        "messages",
        "results",
        "run_ends",
        "run_starts",
    )

    def __init__(self) -> None:
        self.messages: dict[MessageId, int] = {}
        self.calls: dict[ToolCallId, int] = {}
        self.results: dict[ToolCallId, int] = {}
        self.run_starts: dict[RunId, int] = {}
        self.run_ends: dict[RunId, int] = {}
        self.attempts: dict[AttemptId, int] = {}
        self.contributions: dict[tuple[RunId, StepId, str], int] = {}

    def add(self, fact: Fact, position: int) -> None:
        payload = fact.payload
        match payload.kind:
            case "message":
                self.messages[payload.id] = position
            case "model_attempt":
                self.attempts.setdefault(payload.attempt_id, position)
            case "tool_call":
                self.calls[payload.id] = position
            case "tool_result":
                self.results[payload.call_id] = position
            case "run":
                started = payload.status is RunStatus.STARTED
                (self.run_starts if started else self.run_ends)[payload.run_id] = position
            case "context_contribution":
                key = (payload.run_id, payload.step_id, payload.source_key)
                self.contributions[key] = position
            case _:
                pass


class History(SharedList[Fact]):
    """The facts of a Session up to one revision; `history[0]` has sequence 1."""

    __slots__ = ("_index",)

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        super().__init__(facts)
        self._index = _Index()
        for position, fact in enumerate(self._items):
            self._index.add(fact, position)

    def appended(self, items: Iterable[Fact]) -> "History":
        """This History and the new facts behind it; this view itself does not change."""
        if len(self._items) > self._length:
            return History(self[:]).appended(items)
        longer = History.__new__(History)
        longer._items = self._items
        longer._index = self._index
        for position, fact in enumerate(items, self._length):
            longer._items.append(fact)
            longer._index.add(fact, position)
        longer._length = len(longer._items)
        return longer

    @property
    def last_sequence(self) -> int:
        """Sequence of the newest fact, 0 if there is none."""
        return self._length

    def message(self, message_id: MessageId) -> Message | None:
        """The message with that id."""
        fact = self._find(self._index.messages, message_id)
        return fact.payload if fact and isinstance(fact.payload, Message) else None

    def has_message(self, message_id: MessageId) -> bool:
        """Whether there is a message with that id."""
        return self._find(self._index.messages, message_id) is not None

    def has_call(self, call_id: ToolCallId) -> bool:
        """Whether there is a tool call with that id."""
        return self._find(self._index.calls, call_id) is not None

    def call(self, call_id: ToolCallId) -> ToolCall | None:
        """The tool call with that id."""
        fact = self._find(self._index.calls, call_id)
        return fact.payload if fact and isinstance(fact.payload, ToolCall) else None

    def result(self, call_id: ToolCallId) -> ToolResult | None:
        """The result of that call."""
        fact = self._find(self._index.results, call_id)
        return fact.payload if fact and isinstance(fact.payload, ToolResult) else None

    def run_start(self, run_id: RunId) -> Fact | None:
        """The fact that started the Run."""
        return self._find(self._index.run_starts, run_id)

    def wanted_output(self, run_id: RunId) -> OutputFormat | None:
        """The form that the message with which the Run began asks its answer to have."""
        start = self.run_start(run_id)
        if start is None or start.sequence >= self._length:
            return None
        began = self._items[start.sequence].payload
        return began.output if isinstance(began, Message) else None

    def run_end(self, run_id: RunId) -> Fact | None:
        """The fact that ended the Run."""
        return self._find(self._index.run_ends, run_id)

    def attempt_start(self, attempt_id: AttemptId) -> Fact | None:
        """The fact that started the attempt."""
        return self._find(self._index.attempts, attempt_id)

    def contribution(self, run_id: RunId, step_id: StepId, source_key: str) -> Fact | None:
        """What that source added to that step."""
        return self._find(self._index.contributions, (run_id, step_id, source_key))

    def _find(self, index: Mapping[K, int], key: K) -> Fact | None:
        position = index.get(key)
        if position is None or position >= self._length:
            return None
        return self._items[position]
