"""Making a Session of the rows that a database keeps of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from agentslot.session.codec import Decoder, UnreadableError
from agentslot.session.extensionjournal import ExtensionJournal
from agentslot.session.extensions import ExtensionEntry
from agentslot.session.facts import (
    ContextContribution,
    Fact,
    ModelAttempt,
    ModelConfigChanged,
    Payload,
    RunBudgetExceeded,
    RunFact,
    RunLimitExceeded,
)
from agentslot.session.history import History, Subject, run_boundary, started_attempt
from agentslot.session.identity import (
    Actor,
    ActorKind,
    AgentId,
    FactId,
    RunId,
    SessionId,
    StepId,
    ToolCallId,
    WorkspaceId,
)
from agentslot.session.listing import Listed
from agentslot.session.message import Message
from agentslot.session.modelconfig import ModelConfig
from agentslot.session.ondemand import read_in_pages
from agentslot.session.positions import CompactPositions
from agentslot.session.recent import Outcome, RecentCommits
from agentslot.session.sharedlist import SharedList
from agentslot.session.state import (
    ActiveRun,
    ContextView,
    Delivery,
    JournalEntry,
    JournalStatus,
    Lineage,
    QueueItem,
    SessionState,
)
from agentslot.session.store import SessionSummary
from agentslot.session.toolcall import ToolCall, ToolResult

T = TypeVar("T")

_PAYLOADS: dict[str, type[Payload]] = {
    "message": Message,
    "tool_call": ToolCall,
    "tool_result": ToolResult,
    "run": RunFact,
    "model_attempt": ModelAttempt,
    "model_config_changed": ModelConfigChanged,
    "context_contribution": ContextContribution,
    "run_budget_exceeded": RunBudgetExceeded,
    "run_limit_exceeded": RunLimitExceeded,
}


@dataclass(frozen=True, slots=True)
class SessionRow:
    """What a database keeps of a Session once; values are JSON where the fields say so."""

    id: SessionId
    agent: AgentId
    workspace: WorkspaceId
    revision: int
    created_at: datetime
    updated_at: datetime
    model_config_json: str
    active_run_json: str | None
    lineage_json: str | None

    def listed(self) -> Listed:
        """The row of the Session in a listing; a parent that cannot be read is left out."""
        lineage = decode_if_readable(Lineage, self.lineage_json)
        summary = SessionSummary(
            self.id,
            self.agent,
            self.workspace,
            self.revision,
            self.updated_at,
            lineage.parent if lineage else None,
        )
        return Listed(summary, self.created_at)


@dataclass(frozen=True, slots=True)
class FactRow:
    """One fact, its payload as JSON."""

    sequence: int
    kind: str
    run: RunId | None
    step: StepId | None
    at: datetime
    actor_kind: str
    actor: str
    origin: FactId | None
    payload_json: str


SubjectRow = tuple[int, str, RunId | None, StepId | None, str | None, str | None]
"""Sequence, kind, Run and step of a fact, what it is about, and the status of a Run or attempt."""


class FactIndex:
    """What is known of the facts of a Session that are not in memory.

    Attributes:
        length: how many there are.
        positions: what each is about.
    """

    def __init__(self) -> None:
        self.length = 0
        self.positions = CompactPositions()

    def take(self, rows: Iterable[SubjectRow]) -> None:
        """Take in the facts that follow.

        Raises:
            UnreadableError: they do not.
        """
        for sequence, kind, run, step, name, status in rows:
            _require_place(sequence, kind, self.length + 1)
            subject = _subject(kind, run, step, name, status)
            if subject is not None:
                self.positions.add(subject, self.length)
            self.length += 1


def _subject(
    kind: str, run: RunId | None, step: StepId | None, name: str | None, status: str | None
) -> Subject | None:
    """What `subject_of` says of the fact."""
    match kind:
        case "message":
            return kind, name or ""
        case "tool_call":
            return "call", name or ""
        case "tool_result":
            return "result", name or ""
        case "model_attempt":
            return started_attempt(name or "", status or "")
        case "run":
            return run_boundary(run or "", status or "")
        case "context_contribution":
            return "contribution", run or "", step or "", name or ""
        case _:
            return None


def _require_place(sequence: int, kind: str, due: int) -> None:
    if sequence != due or kind not in _PAYLOADS:
        raise UnreadableError(f"fact {sequence}, a {kind!r}, has no place there")


PAGE_FACTS = 1024

NEWEST_FACTS = 256
"""How many facts are in memory from the beginning, if they reach back to every unfinished call."""

PAGE_CONTEXTS = 256

NEWEST_CONTEXTS = 64
"""How many contexts are in memory from the beginning, the current one among them."""


def newest_from(length: int, journal: Iterable[tuple[ToolCallId, str, int]]) -> int:
    """The sequence of the first fact that should be in memory."""
    calls = (sequence for _, _, sequence in journal)
    return max(min(length - NEWEST_FACTS + 1, *calls, length + 1), 1)


def facts_of(session_id: SessionId, rows: Iterable[FactRow], first: int, last: int) -> list[Fact]:
    """The facts from one sequence to another.

    Raises:
        UnreadableError: they are not these.
    """
    facts = [fact_of(session_id, row, due) for due, row in enumerate(rows, first)]
    if len(facts) != last - first + 1:
        raise UnreadableError(f"of the facts {first} to {last} only {len(facts)} are there")
    return facts


def newest_contexts_from(first: int, last: int) -> int:
    """The version of the first context that should be in memory."""
    return max(first, last - NEWEST_CONTEXTS + 1)


ContextRow = tuple[int, str]
"""Version of a context, and its view as JSON."""


def contexts_of(rows: Iterable[ContextRow], first: int, last: int) -> list[ContextView]:
    """The contexts from one version to another.

    Raises:
        UnreadableError: they are not these.
    """
    found = list(rows)
    if [version for version, _ in found] != list(range(first, last + 1)):
        raise UnreadableError(f"of the contexts {first} to {last} some are not there any more")
    return [decode(ContextView, view) for _, view in found]


def fact_of(session_id: SessionId, row: FactRow, due: int) -> Fact:
    """The fact of a row.

    Raises:
        UnreadableError: it is none, or not the one with that sequence.
    """
    _require_place(row.sequence, row.kind, due)
    try:
        return Fact(
            session_id,
            row.sequence,
            row.run,
            row.step,
            row.at,
            Actor(ActorKind(row.actor_kind), row.actor),
            decode(_PAYLOADS[row.kind], row.payload_json),
            row.origin,
        )
    except (UnreadableError, ValueError) as error:
        raise UnreadableError(f"fact {row.sequence}: {error}") from error


@dataclass(frozen=True, slots=True)
class SessionRows:
    """What is read of one Session at once, each group in its order.

    Attributes:
        index: what is known of its facts.
        newest: the facts from `newest_from` on.
        read_facts: reads the facts from one sequence to another; it blocks.
        queue: messages as JSON, with their delivery.
        journal: ids of unfinished calls, with their status and the sequence of their fact.
        first_context: version of the oldest context; 0 if there is none.
        contexts: those from `newest_contexts_from` on; the last one is the current one.
        read_contexts: reads the contexts from one version to another; it blocks.
        texts: texts by digest.
        extensions: entries of the journal of hooks as JSON, with their sequence.
    """

    session: SessionRow
    index: FactIndex
    newest: Iterable[FactRow]
    read_facts: Callable[[int, int], Sequence[Fact]]
    queue: Iterable[tuple[str, str]]
    journal: Sequence[tuple[ToolCallId, str, int]]
    first_context: int
    contexts: Iterable[ContextRow]
    read_contexts: Callable[[int, int], Sequence[ContextView]]
    texts: Mapping[str, str]
    extensions: Iterable[tuple[int, str]]

    def state(self) -> SessionState:
        """The Session.

        Raises:
            UnreadableError: the rows do not make one.
            ValueError: nor do they, and no JSON is to blame.
        """
        row = self.session
        history = self._history()
        context, retained = self._contexts()
        return SessionState(
            row.id,
            row.agent,
            row.workspace,
            row.revision,
            history,
            decode(ModelConfig, row.model_config_json),
            row.created_at,
            row.updated_at,
            tuple(QueueItem(decode(Message, json), Delivery(d)) for json, d in self.queue),
            _journal(self.journal, history),
            None if row.active_run_json is None else decode(ActiveRun, row.active_run_json),
            None if row.lineage_json is None else decode(Lineage, row.lineage_json),
            context,
            retained,
            self.texts,
            _extensions(self.extensions),
        )

    def _history(self) -> History:
        index = self.index
        index.positions.sort()
        first = newest_from(index.length, self.journal)
        newest = facts_of(self.session.id, self.newest, first, index.length)

        def older(start: int, stop: int) -> Sequence[Fact]:
            return self.read_facts(start + 1, stop)

        head = read_in_pages(first - 1, older, PAGE_FACTS)
        return History(newest, head=head, find=index.positions)

    def _contexts(self) -> tuple[ContextView | None, SharedList[ContextView]]:
        """The current context and those before it, of which older ones are not in memory."""
        first, rows = self.first_context, list(self.contexts)
        if not rows:
            return None, SharedList()
        begin = rows[0][0]
        *retained, current = contexts_of(rows, begin, rows[-1][0])

        def older(start: int, stop: int) -> Sequence[ContextView]:
            return self.read_contexts(first + start, first + stop - 1)

        head = read_in_pages(begin - first, older, PAGE_CONTEXTS)
        return current, SharedList(retained, head=head)


def _journal(
    rows: Iterable[tuple[ToolCallId, str, int]], history: History
) -> dict[ToolCallId, JournalEntry]:
    journal: dict[ToolCallId, JournalEntry] = {}
    for call_id, status, _ in rows:
        call = history.call(call_id)
        if call is None or history.result(call_id) is not None:
            raise UnreadableError(f"tool call {call_id!r} is not what its journal entry says")
        journal[call_id] = JournalEntry(call, JournalStatus(status))
    return journal


def _extensions(rows: Iterable[tuple[int, str]]) -> ExtensionJournal:
    entries = {sequence: decode(ExtensionEntry, entry) for sequence, entry in rows}
    if list(entries) != list(range(1, len(entries) + 1)):
        raise UnreadableError("the journal of hooks has gaps")
    return ExtensionJournal().updated(entries) if entries else ExtensionJournal()


def recent_commits(rows: Iterable[tuple[str, bytes, int, int, int]]) -> RecentCommits[bytes]:
    """The newest commits, given oldest first: key, fingerprint, revision, first and last fact."""
    recent = RecentCommits[bytes]()
    for key, evidence, *outcome in rows:
        recent.add(key, evidence, Outcome(*outcome))
    return recent


_decoders: dict[type, Any] = {}  # each decodes the class it stands under


def decode(shape: type[T], text: str) -> T:
    """A value from its JSON.

    Raises:
        UnreadableError: the text is none of that shape.
    """
    decoder: Decoder[T] | None = _decoders.get(shape)
    if decoder is None:
        decoder = _decoders[shape] = Decoder(shape)
    return decoder(text.encode())


def decode_if_readable(shape: type[T], text: str | None) -> T | None:
    """A value from its JSON for a listing; None also if it is damaged, which loading tells."""
    with suppress(UnreadableError):
        return None if text is None else decode(shape, text)
    return None
