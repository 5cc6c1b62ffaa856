"""The Gateway as channels see it: requests, answers and the operations between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from agentslot import One
from agentslot.interaction.command import CommandDescriptor, CommandResult, InvokeCommand
from agentslot.interaction.events import Event
from agentslot.interaction.goals import ChangeGoal, SetGoal
from agentslot.interaction.receipts import MessageReceipt, RunReceipt, RunResult
from agentslot.session import (
    Actor,
    AgentId,
    AttachmentPart,
    ClientMessageId,
    Delivery,
    ExtensionDiagnostic,
    Fact,
    ForkMode,
    Goal,
    MessageId,
    MessageInput,
    ModelConfig,
    OutputFormat,
    QueueItem,
    Repair,
    RunId,
    SessionId,
    SessionPage,
    ToolCall,
    WorkspaceId,
    is_identity,
)
from agentslot.session.text import require_unicode
from agentslot.tool import Attachment

MAX_ATTACHMENT_BYTES = 20 * 1024 * 1024
"""Most bytes of what goes along with a message."""


@dataclass(frozen=True, slots=True)
class CreateSession:
    """Open a new Session; without a config it uses the application's default model."""

    agent: AgentId
    workspace: WorkspaceId
    model_config: ModelConfig | None = None


@dataclass(frozen=True, slots=True)
class ForkSession:
    """Copy a Session's past into a new one.

    Attributes:
        cutoff: with `history_prefix`, the last fact to copy (0: none). With `full_history`, 0.
        messages: what is said behind the copied past, before anybody sends anything.
    """

    source: SessionId
    mode: ForkMode | Literal["full_history", "history_prefix"]
    agent: AgentId
    workspace: WorkspaceId
    cutoff: int = 0
    model_config: ModelConfig | None = None
    messages: tuple[MessageInput, ...] = ()


@dataclass(frozen=True, slots=True)
class StartFromSummary:
    """Open a new Session that begins with the given messages instead of a past."""

    agent: AgentId
    workspace: WorkspaceId
    messages: tuple[MessageInput, ...]
    source: SessionId | None = None
    model_config: ModelConfig | None = None


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """A Session is open and can be worked with.

    Attributes:
        repairs: what had to be mended to read it; worth telling the user.
        diagnostics: the lifecycle hooks that were asked for this opening, newest first.
    """

    session_id: SessionId
    revision: int
    repairs: tuple[Repair, ...] = ()
    diagnostics: tuple[ExtensionDiagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionClosed:
    """A Session has ended its work here; it can be resumed.

    Attributes:
        revision: its final revision.
        diagnostics: the lifecycle hooks that were asked for this closing, newest first.
    """

    session_id: SessionId
    revision: int
    diagnostics: tuple[ExtensionDiagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class SendMessage:
    """Submit a message.

    Attributes:
        expected_revision: the revision that the caller decided on; another current one is a
            conflict. None: whatever the Session is at, for callers who act on what happens now.
        output: the form that the answer of the Run which the message begins must have. How close
            it comes is the model's affair: whoever asks validates.

    Raises:
        ValueError: the client message id is empty, has white space around it, or is no text.
        ClassifiedError: `invalid_input/text_not_unicode`: one of the texts holds half a surrogate
            pair.
    """

    session_id: SessionId
    input: MessageInput
    expected_revision: int | None = None
    actor: Actor | None = None
    client_message_id: ClientMessageId | None = None
    output: OutputFormat | None = None

    def __post_init__(self) -> None:
        self.input.require_unicode()
        given = self.client_message_id
        if given is None:
            return
        if not isinstance(given, str) or not is_identity(given):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped code
            raise ValueError(f"client message id must be a trimmed, non-empty text, not {given!r}")
        require_unicode(given, "$.client_message_id")


@dataclass(frozen=True, slots=True)
class SessionCommand:
    """An operation on a Session that needs no more than its revision; see SendMessage."""

    session_id: SessionId
    expected_revision: int | None = None
    actor: Actor | None = None


@dataclass(frozen=True, slots=True)
class QueuedCommand:
    """An operation on one queued message; see SendMessage."""

    session_id: SessionId
    message_id: MessageId
    expected_revision: int | None = None
    actor: Actor | None = None


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """A call that waits for a person."""

    call: ToolCall
    reason: str
    digest: str


@dataclass(frozen=True, slots=True)
class AnswerApproval:
    """Decide on a waiting call. A digest that no longer waits is refused."""

    session_id: SessionId
    digest: str
    approved: bool
    reason: str = ""
    actor: Actor | None = None


@dataclass(frozen=True, slots=True)
class SessionView:
    """A Session as a person looks at it.

    Attributes:
        recent_history: facts of at most the last 100 steps, oldest first; page on with `history`.
        approvals: calls that wait for a person.
        recent_extension_diagnostics: at most 32 invocations of hooks, newest first; page on with
            `extension_diagnostics`.
    """

    session_id: SessionId
    agent: AgentId
    workspace: WorkspaceId
    revision: int
    recent_history: Sequence[Fact]
    has_more_history: bool
    queue: tuple[QueueItem, ...]
    model_config: ModelConfig
    active_run: RunId | None
    approvals: tuple[PendingApproval, ...]
    recent_extension_diagnostics: tuple[ExtensionDiagnostic, ...] = ()
    has_more_extension_diagnostics: bool = False


@dataclass(frozen=True, slots=True)
class SessionModel:
    """The model that the next Run of a Session uses."""

    session_id: SessionId
    revision: int
    config: ModelConfig


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """Facts before a cursor, whole steps only, oldest first."""

    session_id: SessionId
    revision: int
    facts: Sequence[Fact]
    has_more: bool


@dataclass(frozen=True, slots=True)
class ExtensionDiagnosticsPage:
    """Invocations of hooks before a cursor, newest first, without any content."""

    session_id: SessionId
    revision: int
    diagnostics: tuple[ExtensionDiagnostic, ...]
    has_more: bool


class EventStream(Protocol):
    """Events of one Session, in order, until it is closed."""

    async def receive(self) -> Event:
        """Wait for the next event.

        Raises:
            anyio.EndOfStream: the stream or the Session was closed.
            EventStreamOverflow: the subscriber was too slow to be told of a commit; look at the
                view and subscribe again.
        """
        ...

    def __aiter__(self) -> "EventStream": ...

    async def __anext__(self) -> Event: ...

    async def aclose(self) -> None:
        """Stop listening. Never cancels a Run."""
        ...


class GatewayAccess(Protocol):
    """Every operation that a channel has. All raise ClassifiedError; see each for its codes.

    Operations on a Session need it open (`not_found/session_not_open`); those that write raise
    RevisionConflictError when the caller's revision is not the current one, and write nothing then.
    Cancelling a call stops the waiting, never the Run.
    """

    async def list_sessions(
        self, agent: AgentId, workspace: WorkspaceId, *, limit: int = 50, cursor: str = ""
    ) -> SessionPage:
        """A page of the Sessions of a scope, newest change first; opens nothing."""
        ...

    async def create_session(self, request: CreateSession) -> SessionOpened:
        """Open a new Session."""
        ...

    async def resume_session(self, session_id: SessionId) -> SessionOpened:
        """Open a stored Session, settle what a crash left open, go on with what was prepared."""
        ...

    async def fork_session(self, request: ForkSession) -> SessionOpened:
        """Open a new Session with a copy of another one's past."""
        ...

    async def start_from_summary(self, request: StartFromSummary) -> SessionOpened:
        """Open a new Session that begins with given messages."""
        ...

    async def keep_attachment(
        self, session_id: SessionId, attachment: Attachment
    ) -> AttachmentPart:
        """Keep content for a message of that Session; what comes back is a part of the message.

        Raises:
            ClassifiedError: `unavailable/artifacts_unavailable` without an artifact store,
                `invalid_input/invalid_attachment` for what is more than 20 MiB, or no image or
                audio although it says so.
        """
        ...

    async def send(self, request: SendMessage) -> MessageReceipt:
        """Submit a message: an idle Session starts a Run with it, a running one queues it.

        Returns once the message is durable and, if a Run started, its first request is recorded.

        Raises:
            InputGateError: an input gate did not let the message through; also of `steer` and
                `edit_queued`, and of `send_and_wait`.
        """
        ...

    async def send_and_wait(self, request: SendMessage) -> RunResult:
        """Send, and wait until the Session is idle again.

        Raises:
            ClassifiedError: `conflict/no_pending_work` if the message never started a Run.
        """
        ...

    async def steer(self, request: SendMessage) -> MessageReceipt:
        """Let a message join the active Run at its next safe point (`conflict/no_active_run`)."""
        ...

    async def run_pending(self, request: SessionCommand) -> RunReceipt:
        """Start a Run on the first queued message (`conflict/active_run`, `no_pending_work`)."""
        ...

    async def cancel(self, request: SessionCommand) -> None:
        """Ask the active Run to end as canceled; without one nothing happens."""
        ...

    async def when_idle(self, session_id: SessionId) -> int:
        """Wait until no Run is active; returns the revision then."""
        ...

    async def edit_queued(self, request: QueuedCommand, content: MessageInput) -> int:
        """Replace a queued message; returns the new revision."""
        ...

    async def delete_queued(self, request: QueuedCommand) -> int:
        """Drop a queued message; returns the new revision."""
        ...

    async def reclassify_queued(self, request: QueuedCommand, delivery: Delivery) -> int:
        """Change when a queued message is delivered; returns the new revision."""
        ...

    async def model_config(self, session_id: SessionId) -> SessionModel:
        """The model that the next Run uses."""
        ...

    async def update_model_config(
        self,
        request: SessionCommand,
        config: ModelConfig,
        *,
        accept_compatibility_loss: bool = False,
    ) -> int:
        """Switch an idle Session to another model; returns the new revision.

        Raises:
            CompatibilityError: the model cannot read attachments that the Session holds, and
                `accept_compatibility_loss` does not say that this may be so.
        """
        ...

    async def goal(self, session_id: SessionId) -> Goal | None:
        """What the Session is to achieve (`unavailable/goals_not_installed`; of the next two too).

        A goal has a version of its own; it does not move the Session's revision.
        """
        ...

    async def set_goal(self, request: SetGoal) -> Goal:
        """Give the Session a goal; Runs that would complete go on until it is met.

        Raises:
            ClassifiedError: `conflict/goal_version_conflict`, `invalid_input/invalid_goal`.
        """
        ...

    async def change_goal(self, request: ChangeGoal) -> Goal:
        """Pause, activate, complete or cancel the goal.

        Raises:
            ClassifiedError: `conflict/goal_version_conflict`, `conflict/goal_transition`,
                `not_found/goal_not_found`.
        """
        ...

    async def commands(self) -> Sequence[CommandDescriptor]:
        """The commands of the application, by key."""
        ...

    async def invoke_command(self, request: InvokeCommand) -> CommandResult:
        """Carry out a command (`not_found/command_not_found`), or what it refuses."""
        ...

    async def answer_approval(self, request: AnswerApproval) -> None:
        """Approve or deny a waiting call (`not_found/approval_not_found`)."""
        ...

    async def revision(self, session_id: SessionId) -> int:
        """The current revision, nothing else."""
        ...

    async def view(self, session_id: SessionId) -> SessionView:
        """The Session as it stands."""
        ...

    async def history(
        self, session_id: SessionId, *, before_sequence: int = 0, step_limit: int = 100
    ) -> HistoryPage:
        """Older facts: before that sequence (0: from the end), 1 to 100 whole steps."""
        ...

    async def extension_diagnostics(
        self, session_id: SessionId, *, before_sequence: int = 0, limit: int = 50
    ) -> ExtensionDiagnosticsPage:
        """What hooks were asked: before that sequence (0: from the end), 1 to 100 invocations."""
        ...

    async def subscribe(
        self, session_id: SessionId, *, after_revision: int | None = None
    ) -> EventStream:
        """Hear what happens from now on.

        Args:
            session_id: the Session to listen to.
            after_revision: the revision of the view that the caller holds; another current one is a
                conflict, so that nothing is missed in between. None: from now on.
        """
        ...

    async def close_session(self, request: SessionCommand) -> SessionClosed:
        """End the active Run, ask the lifecycle hooks, close the Session."""
        ...


GATEWAY_ACCESS = One[GatewayAccess]("standardagent.internal.gateway-access")
"""Anchor inside the Assembly through which channels are bound; not a slot for users to fill."""
