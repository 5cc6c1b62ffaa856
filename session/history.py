"""History: the append-only ledger, shared between revisions instead of copied.

A History is a SharedList of facts with an index beside it, by what a fact is about. The index is
shared like the facts: a view ignores what lies behind its end. Appending to an older view, which
happens only after a commit could not be made durable, copies both first.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

from agentslot.session.facts import AttemptStatus, Fact, Payload, RunStatus
from agentslot.session.identity import AttemptId, MessageId, RunId, StepId, ToolCallId
from agentslot.session.message import Message
from agentslot.session.output import OutputFormat
from agentslot.session.sharedlist import SharedList
from agentslot.session.toolcall import ToolCall, ToolResult

Subject = tuple[str, ...]
"""What a fact is about: a word for the kind of thing, and its identity."""


def subject_of(payload: Payload) -> Subject | None:
    """What one can ask History for; None if nobody asks for facts of that kind."""
    match payload.kind:
        case "message":
            return "message", payload.id
        case "model_attempt":
            return started_attempt(payload.attempt_id, payload.status)
        case "tool_call":
            return "call", payload.id
        case "tool_result":
            return "result", payload.call_id
        case "run":
            return run_boundary(payload.run_id, payload.status)
        case "context_contribution":
            return "contribution", payload.run_id, payload.step_id, payload.source_key
        case _:
            return None


def started_attempt(attempt_id: str, status: str) -> Subject | None:
    """The subject of an attempt's start; its end is found beside it."""
    return ("attempt", attempt_id) if status == AttemptStatus.STARTED else None


def run_boundary(run_id: str, status: str) -> Subject:
    """The subject of a Run's start or of its end."""
    return ("run_start" if status == RunStatus.STARTED else "run_end"), run_id


class Positions(Protocol):
    """Finds the facts of a head that is not in memory."""

    def __call__(self, subject: Subject) -> Iterable[int]:
        """Where facts about the subject are, told by 64 bits of its hash."""
        ...


class History(SharedList[Fact]):
    """The facts of a Session up to one revision; `history[0]` has sequence 1.

    Args:
        facts: what it holds.
        head: facts before them, read when they are asked for.
        find: where in the head a subject is.
    """

    __slots__ = ("_find", "_index")

    def __init__(
        self,
        facts: Iterable[Fact] = (),
        *,
        head: Sequence[Fact] = (),
        find: Positions | None = None,
    ) -> None:
        super().__init__(facts, head=head)
        self._find = find
        self._index: dict[Subject, int] = {}
        self._add(self._items, self._head_length)

    def appended(self, items: Iterable[Fact]) -> "History":
        """This History and the new facts behind it; this view itself does not change."""
        if not self._is_newest():
            own = History(self._own_items(), head=self._head, find=self._find)
            return own.appended(items)
        longer = History.__new__(History)
        longer._head, longer._head_length = self._head, self._head_length
        longer._find, longer._index, longer._items = self._find, self._index, self._items
        fresh = tuple(items)
        longer._items.extend(fresh)
        longer._add(fresh, self._length)
        longer._length = self._length + len(fresh)
        return longer

    def _add(self, facts: Iterable[Fact], position: int) -> None:
        index = self._index
        for fact in facts:
            subject = subject_of(fact.payload)
            if subject is not None:
                index[subject] = position
            position += 1

    @property
    def stored(self) -> int:
        """How many facts at its beginning are read from a medium when they are asked for."""
        return self._head_length

    @property
    def last_sequence(self) -> int:
        """Sequence of the newest fact, 0 if there is none."""
        return self._length

    def message(self, message_id: MessageId) -> Message | None:
        """The message with that id."""
        fact = self.fact_about(("message", message_id))
        return fact.payload if fact and isinstance(fact.payload, Message) else None

    def has_message(self, message_id: MessageId) -> bool:
        """Whether there is a message with that id."""
        return self._has(("message", message_id))

    def has_call(self, call_id: ToolCallId) -> bool:
        """Whether there is a tool call with that id."""
        return self._has(("call", call_id))

    def call(self, call_id: ToolCallId) -> ToolCall | None:
        """The tool call with that id."""
        fact = self.fact_about(("call", call_id))
        return fact.payload if fact and isinstance(fact.payload, ToolCall) else None

    def result(self, call_id: ToolCallId) -> ToolResult | None:
        """The result of that call."""
        fact = self.fact_about(("result", call_id))
        return fact.payload if fact and isinstance(fact.payload, ToolResult) else None

    def run_start(self, run_id: RunId) -> Fact | None:
        """The fact that started the Run."""
        return self.fact_about(("run_start", run_id))

    def wanted_output(self, run_id: RunId) -> OutputFormat | None:
        """The form that the message with which the Run began asks its answer to have."""
        start = self.run_start(run_id)
        if start is None or start.sequence >= self._length:
            return None
        began = self._at(start.sequence).payload
        return began.output if isinstance(began, Message) else None

    def run_end(self, run_id: RunId) -> Fact | None:
        """The fact that ended the Run."""
        return self.fact_about(("run_end", run_id))

    def attempt_start(self, attempt_id: AttemptId) -> Fact | None:
        """The fact that started the attempt."""
        return self.fact_about(("attempt", attempt_id))

    def contribution(self, run_id: RunId, step_id: StepId, source_key: str) -> Fact | None:
        """What that source added to that step."""
        return self.fact_about(("contribution", run_id, step_id, source_key))

    def _has(self, subject: Subject) -> bool:
        """Whether there is a fact about the subject, without reading one: every commit asks."""
        position = self._index.get(subject)
        if position is not None:
            return position < self._length
        return self._find is not None and any(True for _ in self._find(subject))

    def fact_about(self, subject: Subject) -> Fact | None:
        """The fact about a subject, such as `("call", call_id)`."""
        position = self._index.get(subject)
        if position is not None:
            return self._at(position) if position < self._length else None
        if self._find is not None:
            for position in self._find(subject):
                fact = self._at(position)
                if subject_of(fact.payload) == subject:
                    return fact
        return None
