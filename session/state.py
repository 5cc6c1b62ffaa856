"""The Session as a value: everything that the aggregate decides on, immutable."""

from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum

from agentslot.session.extensionjournal import ExtensionJournal
from agentslot.session.history import History
from agentslot.session.identity import (
    AgentId,
    AttemptId,
    MessageId,
    RunId,
    SessionId,
    StepId,
    ToolCallId,
    WorkspaceId,
)
from agentslot.session.message import Message
from agentslot.session.modelconfig import ModelConfig
from agentslot.session.record import record
from agentslot.session.sharedlist import SharedList
from agentslot.session.toolcall import ToolCall


class Delivery(StrEnum):
    """When a queued message reaches the model.

    `normal` starts a Run of its own; `steer` joins the active Run at its next safe boundary; `held`
    waits until somebody reclassifies it.
    """

    NORMAL = "normal"
    STEER = "steer"
    HELD = "held"


@record
class QueueItem:
    """A durable input that no Run has taken up yet."""

    message: Message
    delivery: Delivery


class JournalStatus(StrEnum):
    """How far an unfinished tool call has come.

    `prepared`: recorded, its effect has not begun; it may be resumed. `pending`: its effect may
    have begun; it is never run again. A finished call has its result in History and no entry here.
    """

    PREPARED = "prepared"
    PENDING = "pending"


@record
class JournalEntry:
    """Recovery evidence of one unfinished tool call of the active Run."""

    call: ToolCall
    status: JournalStatus


@record
class ActiveRun:
    """The Run in progress, with the counts that its budgets and limits are checked against.

    Attributes:
        open_attempts: attempts that have started and not ended; at most one in practice.
        attempts: physical requests started so far.
        tool_calls: calls recorded so far.
        tokens: sum of the totals of all ended attempts.
        budget_exceeded: whether the fact that says so has been written; it is written once.
    """

    id: RunId
    config: ModelConfig
    config_revision: int
    open_attempts: tuple[AttemptId, ...] = ()
    attempts: int = 0
    tool_calls: int = 0
    tokens: int = 0
    budget_exceeded: bool = False

    def with_attempt(self, attempt_id: AttemptId) -> "ActiveRun":
        """The Run with one more attempt, which is open."""
        return ActiveRun(
            self.id,
            self.config,
            self.config_revision,
            (*self.open_attempts, attempt_id),
            self.attempts + 1,
            self.tool_calls,
            self.tokens,
            self.budget_exceeded,
        )

    def without_attempt(self, attempt_id: AttemptId, tokens: int) -> "ActiveRun":
        """The Run after an attempt that has ended and used so many tokens."""
        return ActiveRun(
            self.id,
            self.config,
            self.config_revision,
            tuple(open_id for open_id in self.open_attempts if open_id != attempt_id),
            self.attempts,
            self.tool_calls,
            self.tokens + tokens,
            self.budget_exceeded,
        )

    def with_call(self) -> "ActiveRun":
        """The Run with one more tool call."""
        return ActiveRun(
            self.id,
            self.config,
            self.config_revision,
            self.open_attempts,
            self.attempts,
            self.tool_calls + 1,
            self.tokens,
            self.budget_exceeded,
        )

    def over_budget(self) -> "ActiveRun":
        """The Run when it has been written down that its budget is used up."""
        return replace(self, budget_exceeded=True)


@record
class Lineage:
    """Where a forked or derived Session comes from.

    Attributes:
        copied: how many facts at the head of History are copies; 0 for a summary start.
    """

    parent: SessionId
    parent_revision: int
    copied: int


@record
class ContextRange:
    """The projection of the facts `first` to `last`, both inclusive."""

    first: int
    last: int


@record
class ContextView:
    """What one request showed the model, stored as references.

    The exact request is rebuilt from the ranges of History and the texts named by digest.

    Attributes:
        version: grows by one with each request.
        source_revision: revision of the Session that it was prepared from.
        inputs: ranges of History, and whole messages that a compactor put in their place.
        prompt: digest of the system prompt, or None.
        tools: digest of the tool definitions, or None.
        token_count: tokens of the whole request as counted before it was sent.
        step_id: the step whose contributions are shown too, or None if there are none.
        token_count_exact: whether it had just as many; if not, it had at most that many.
    """

    version: int
    source_revision: int
    run_id: RunId
    config: ModelConfig
    inputs: tuple[ContextRange | Message, ...]
    prompt: str | None = None
    tools: str | None = None
    token_count: int = 0
    step_id: StepId | None = None
    token_count_exact: bool = False


@record
class SessionState:
    """One Session at one revision.

    Attributes:
        revision: 1 when created, plus one for each applied commit.
        queue: inputs waiting, in arrival order.
        journal: unfinished tool calls of the active Run, in call order.
        texts: contents by `sha256:` digest: prompts and tool definitions that contexts refer to.
        extensions: what hooks were asked and what became of it.
        updated_at: time of the last commit, UTC.
    """

    id: SessionId
    agent: AgentId
    workspace: WorkspaceId
    revision: int
    history: History
    model_config: ModelConfig
    created_at: datetime
    updated_at: datetime
    queue: tuple[QueueItem, ...] = ()
    journal: Mapping[ToolCallId, JournalEntry] = field(
        default_factory=dict[ToolCallId, JournalEntry]
    )
    active_run: ActiveRun | None = None
    lineage: Lineage | None = None
    context: ContextView | None = None
    retained_contexts: SharedList[ContextView] = field(default_factory=SharedList[ContextView])
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    extensions: ExtensionJournal = field(default_factory=ExtensionJournal)

    def queued(self, message_id: MessageId) -> QueueItem | None:
        """The queued item with that message id, if it still waits."""
        return next((item for item in self.queue if item.message.id == message_id), None)
