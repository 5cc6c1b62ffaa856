"""Making a Session of the rows that a database keeps of it."""

from collections.abc import Iterable, Mapping
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
from agentslot.session.history import History
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
        """The row of the Session in a listing."""
        lineage = None if self.lineage_json is None else decode(Lineage, self.lineage_json)
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


@dataclass(frozen=True, slots=True)
class SessionRows:
    """All rows of one Session, each group in its order.

    Attributes:
        queue: messages as JSON, with their delivery.
        journal: ids of unfinished calls, with their status.
        contexts: views as JSON; the last one is the current one, those before it are retained.
        texts: texts by digest.
        extensions: entries of the journal of hooks as JSON, with their sequence.
    """

    session: SessionRow
    facts: Iterable[FactRow]
    queue: Iterable[tuple[str, str]]
    journal: Iterable[tuple[ToolCallId, str]]
    contexts: Iterable[str]
    texts: Mapping[str, str]
    extensions: Iterable[tuple[int, str]]

    def state(self) -> SessionState:
        """The Session.

        Raises:
            UnreadableError: the rows do not make one.
            ValueError: nor do they, and no JSON is to blame.
        """
        row = self.session
        history = History(map(self._fact, range(1, 1 << 63), self.facts))
        views = [decode(ContextView, view) for view in self.contexts]
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
            views[-1] if views else None,
            SharedList(views[:-1]),
            self.texts,
            _extensions(self.extensions),
        )

    def _fact(self, due: int, row: FactRow) -> Fact:
        if row.sequence != due or row.kind not in _PAYLOADS:
            raise UnreadableError(f"fact {row.sequence}, a {row.kind!r}, has no place there")
        return Fact(
            self.session.id,
            row.sequence,
            row.run,
            row.step,
            row.at,
            Actor(ActorKind(row.actor_kind), row.actor),
            decode(_PAYLOADS[row.kind], row.payload_json),
            row.origin,
        )


def _journal(
    rows: Iterable[tuple[ToolCallId, str]], history: History
) -> dict[ToolCallId, JournalEntry]:
    journal: dict[ToolCallId, JournalEntry] = {}
    for call_id, status in rows:
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
