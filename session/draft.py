"""The working copy on which the changes of one commit are tried.

A draft collects; it shares everything with the state it started from and touches none of it. Only
when all changes have passed and the commit as a whole holds together does it become a new state.
"""

from datetime import datetime

from agentslot.session.extensions import ExtensionEntry
from agentslot.session.facts import Fact, Payload
from agentslot.session.identity import (
    Actor,
    FactId,
    MessageId,
    RunId,
    StepId,
    ToolCallId,
    is_identity,
)
from agentslot.session.message import Message
from agentslot.session.refusal import history_broken, invalid_change, run_not_active
from agentslot.session.state import ActiveRun, JournalEntry, SessionState
from agentslot.session.text import require_unicode


class Draft:
    """A Session in the middle of a commit; it may go on to the next one (`next_commit`).

    Attributes:
        history: History as it was before this commit.
        revision: the revision that this commit is decided on.
        facts: what the commit appends so far.
        messages: the messages among them, by id.
        calls: ids of the calls among them.
        owing: empty assistant messages of this commit that no call belongs to yet.
        origin_id: the fact that the next one copies; only while a fork is created.
        consumed: messages taken out of the queue that this commit has to append.
        extension_journal: the journal of hooks as it was before this commit.
        extensions: its entries that the commit changes or adds, by sequence.
    """

    __slots__ = (
        "_origin",
        "actor",
        "calls",
        "consumed",
        "context",
        "extension_journal",
        "extensions",
        "facts",
        "history",
        "journal",
        "messages",
        "model_config",
        "now",
        "origin_id",
        "owing",
        "queue",
        "retained_contexts",
        "revision",
        "run",
        "texts",
    )

    def __init__(self, state: SessionState, actor: Actor, now: datetime) -> None:
        self._origin = state
        self.actor = actor
        self.now = now
        self.origin_id: FactId | None = None
        self.history = state.history
        self.revision = state.revision
        self.facts: list[Fact] = []
        self.messages: dict[MessageId, Message] = {}
        self.calls: set[ToolCallId] = set()
        self.owing: set[MessageId] = set()
        self.consumed: list[Message] = []
        self.extension_journal = state.extensions
        self.extensions: dict[int, ExtensionEntry] = {}
        self.queue = state.queue
        self.journal = state.journal
        self.run = state.active_run
        self.model_config = state.model_config
        self.context = state.context
        self.retained_contexts = state.retained_contexts
        self.texts = state.texts

    def append(self, payload: Payload, run_id: RunId | None, step_id: StepId | None = None) -> None:
        """Give the payload its envelope and put it behind the facts so far."""
        sequence = self.history.last_sequence + len(self.facts) + 1
        self.facts.append(
            Fact(
                self._origin.id,
                sequence,
                run_id,
                step_id,
                self.now,
                self.actor,
                payload,
                self.origin_id,
            )
        )

    def active(self, run_id: RunId | None) -> ActiveRun:
        """The active Run, if it is that one."""
        run = self.run
        if run is None or run.id != run_id:
            raise run_not_active(run_id)
        return run

    def message(self, message_id: MessageId) -> Message | None:
        """A message of History or of this commit."""
        return self.messages.get(message_id) or self.history.message(message_id)

    def has_message(self, message_id: MessageId) -> bool:
        """Whether History or this commit holds that message."""
        return message_id in self.messages or self.history.has_message(message_id)

    def put_entry(self, entry: JournalEntry) -> None:
        """Enter or replace the journal entry of a call."""
        journal = dict(self.journal)
        journal[entry.call.id] = entry
        self.journal = journal

    def drop_entry(self, call_id: ToolCallId) -> None:
        """Take the journal entry of a finished call out."""
        journal = dict(self.journal)
        del journal[call_id]
        self.journal = journal

    def open_extensions(self) -> list[ExtensionEntry]:
        """The entries of the journal of hooks that are open now."""
        if not self.extensions and not self.extension_journal.open:
            return []
        entries = {**self.extension_journal.open, **self.extensions}
        return [entry for entry in entries.values() if entry.is_open]

    def next_commit(self) -> None:
        """End this commit and begin the next one.

        Raises:
            ClassifiedError: the changes pass one by one, but not together.
        """
        if self.owing:
            owing = min(self.owing)
            raise history_broken(f"assistant message {owing!r} has neither parts nor a call")
        if self.consumed or (self.queue and self.messages):
            self._check_queue_against_messages()
        if self.facts:
            self.history = self.history.appended(self.facts)
            self.facts = []
            self.messages = {}
            self.calls = set()
            self.consumed = []
        if self.extensions:
            self.extension_journal = self.extension_journal.updated(self.extensions)
            self.extensions = {}
        self.revision += 1

    def finished(self) -> SessionState:
        """The Session after this commit, which ends here.

        Raises:
            ClassifiedError: the changes pass one by one, but not together.
        """
        self.next_commit()
        return self.so_far()

    def so_far(self) -> SessionState:
        """The Session after all commits that have ended."""
        origin = self._origin
        return SessionState(
            origin.id,
            origin.agent,
            origin.workspace,
            self.revision,
            self.history,
            self.model_config,
            origin.created_at,
            self.now,
            self.queue,
            self.journal,
            self.run,
            origin.lineage,
            self.context,
            self.retained_contexts,
            self.texts,
            self.extension_journal,
        )

    def _check_queue_against_messages(self) -> None:
        for queued in self.consumed:
            message = self.messages.get(queued.id)
            if message is None or not _says_the_same(message, queued):
                raise history_broken(f"queued message {queued.id!r} was taken but not appended")
        for item in self.queue:
            if item.message.id in self.messages:
                raise history_broken(f"message {item.message.id!r} is appended and still queued")


def _says_the_same(message: Message, queued: Message) -> bool:
    return (
        message.parts == queued.parts
        and message.output == queued.output
        and message.client_message_id == queued.client_message_id
    )


def require_identity(what: str, text: str) -> None:
    """Refuse a text that cannot serve as an identity."""
    if not is_identity(text):
        raise invalid_change(f"{what} must be a trimmed, non-empty text, not {text!r}")
    require_unicode(text, f"the {what}")
