"""A Session as a program holds it: the Gateway's operations with a person's habits.

The handle remembers the last revision it saw and sends it along when it writes to an idle Session,
so that a change by somebody else is a conflict which the caller sees. It never retries one.
"""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar, overload

import anyio
from typing_extensions import TypeForm

from agentslot._json import JsonValue, dumps
from agentslot.interaction.command import CommandDescriptor, CommandResult, InvokeCommand
from agentslot.interaction.errors import InputGateError
from agentslot.interaction.gateway import (
    AnswerApproval,
    GatewayAccess,
    HistoryPage,
    QueuedCommand,
    SendMessage,
    SessionCommand,
    SessionOpened,
    SessionView,
)
from agentslot.interaction.goals import DEFAULT_FOLLOW_ONS, ChangeGoal, SetGoal
from agentslot.interaction.receipts import MessageReceipt, RunReceipt, RunResult
from agentslot.interaction.rewinding import rewinding
from agentslot.interaction.sessionevents import SessionEvents
from agentslot.interaction.typed import AnswerType, TypedResult, typed_answer
from agentslot.session import (
    Actor,
    AttachmentPart,
    ClientMessageId,
    Delivery,
    Goal,
    GoalStatus,
    MessageId,
    MessageInput,
    ModelConfig,
    OutputFormat,
    OutputStrategy,
    Part,
    ReasoningPart,
    Repair,
    TextPart,
)
from agentslot.tool import Attachment

T = TypeVar("T")

Piece = str | Part | Attachment
Content = Piece | Sequence[Piece] | MessageInput
"""What may be sent: a text, a part or an attachment, several of them, or the finished input."""


class ChannelSession:
    """One open Session. Safe to use from several tasks.

    Attributes:
        id: identity of the Session; `InProcessChannel.resume_session` opens it again.
        repairs: what had to be mended to open it; worth telling the user.
    """

    def __init__(
        self, access: GatewayAccess, opened: SessionOpened, *, actor: Actor | None = None
    ) -> None:
        self.id = opened.session_id
        self.repairs: tuple[Repair, ...] = opened.repairs
        self._access = access
        self._actor = actor
        self._revision = opened.revision
        # While a Run that this handle knows of goes on, it commits at any moment: what the handle
        # saw is outdated by something that the caller asked for, so it makes no demand then.
        self._run_active = False
        self._waiting_calls = 0

    def __repr__(self) -> str:
        return f"ChannelSession(id={self.id!r}, revision={self._revision})"

    @property
    def revision(self) -> int:
        """The last revision that this handle saw."""
        return self._revision

    async def send(
        self, content: Content, *, client_message_id: str | None = None
    ) -> MessageReceipt:
        """Submit a message: an idle Session starts a Run with it, a running one queues it.

        Raises:
            RevisionConflictError: somebody else changed the Session since this handle looked;
                look at `view()`, then decide.
            InputGateError: an input gate did not let the message through; also of the two below.
        """
        request = self._message(await self._input(content), client_message_id)
        receipt = await self._submitted(self._access.send(request))
        self._saw(receipt.revision, run_active=True)
        return receipt

    @overload
    async def send_and_wait(
        self, content: Content, *, client_message_id: str | None = None
    ) -> RunResult: ...
    @overload
    async def send_and_wait(
        self,
        content: Content,
        *,
        output: TypeForm[T],
        strategy: OutputStrategy | None = None,
        tries: int = 2,
        client_message_id: str | None = None,
    ) -> TypedResult[T]: ...
    async def send_and_wait(
        self,
        content: Content,
        *,
        output: TypeForm[T] | None = None,
        strategy: OutputStrategy | None = None,
        tries: int = 2,
        client_message_id: str | None = None,
    ) -> RunResult | TypedResult[T]:
        """Send, wait until the Session is idle again, and return what became of the message.

        Giving up the wait does not cancel the Run. A Run that fails is a result, not an exception:
        look at `result.status`, or call `result.raise_for_status()`.

        Args:
            content: what to say.
            output: the type that the final answer must have: a pydantic model, or any other that
                pydantic knows, such as `list[City]` or `Literal["yes", "no"]`. It is asked for,
                validated, and asked for again with what was wrong with it.
            strategy: with `output`, how the model is made to keep the type; None takes the best
                way that it has. A way that it has not ends the Run as failed.
            tries: with `output`, how many messages may be sent for one valid answer.
            client_message_id: your own id of the message, kept with it.

        Raises:
            RevisionConflictError: see `send`.
            ClassifiedError: `conflict/no_pending_work` if the message never started a Run.
            AnswerInvalidError: with `output`, if no valid answer came.
        """

        async def send(message: MessageInput, wanted: OutputFormat | None = None) -> RunResult:
            return await self._send_and_wait(message, client_message_id, wanted)

        message = await self._input(content)
        if output is None:
            return await send(message)
        return await typed_answer(send, message, AnswerType(output, strategy), tries)

    async def _send_and_wait(
        self, content: MessageInput, client_message_id: str | None, output: OutputFormat | None
    ) -> RunResult:
        request = replace(self._message(content, client_message_id), output=output)
        self._waiting_calls += 1
        try:
            result = await self._submitted(self._access.send_and_wait(request))
        except anyio.get_cancelled_exc_class():
            self._run_active = True
            raise
        finally:
            self._waiting_calls -= 1
        self._saw(result.revision, run_active=False)
        return result

    async def steer(
        self, content: Content, *, client_message_id: str | None = None
    ) -> MessageReceipt:
        """Let a message join the Run that goes on, at its next safe boundary.

        Raises:
            ClassifiedError: `conflict/no_active_run`.
        """
        request = SendMessage(
            self.id,
            await self._input(content),
            actor=self._actor,
            client_message_id=_client_message_id(client_message_id),
        )
        receipt = await self._submitted(self._access.steer(request))
        self._saw(receipt.revision, run_active=True)
        return receipt

    async def run_pending(self) -> RunReceipt:
        """Start a Run on the first message that waits in the queue.

        Raises:
            ClassifiedError: `conflict/active_run`, `conflict/no_pending_work`.
        """
        receipt = await self._access.run_pending(
            SessionCommand(self.id, self._expected(), self._actor)
        )
        self._saw(receipt.revision, run_active=True)
        return receipt

    async def edit_queued(self, message_id: MessageId, content: Content) -> int:
        """Say something else in a message that waits in the queue; returns the new revision.

        Args:
            message_id: the message, from a receipt or `view().queue`.
            content: what it says from now on.

        Raises:
            RevisionConflictError: see `send`; also of the two below.
            InputGateError: an input gate did not let it through; the message stays as it was.
            ClassifiedError: `not_found/queue_item_not_found`: there is no such message, or a Run
                has taken it up; also of the two below.
        """
        message = await self._input(content)
        edited = self._access.edit_queued(self._queued(message_id), message)
        return self._wrote(await self._submitted(edited))

    async def delete_queued(self, message_id: MessageId) -> int:
        """Drop a message that waits in the queue; returns the new revision."""
        return self._wrote(await self._access.delete_queued(self._queued(message_id)))

    async def reclassify_queued(self, message_id: MessageId, delivery: Delivery) -> int:
        """Change when a message that waits in the queue is delivered; returns the new revision.

        One that is held waits until somebody makes it a normal one again.
        """
        command = self._queued(message_id)
        return self._wrote(await self._access.reclassify_queued(command, delivery))

    async def cancel(self) -> None:
        """Ask the Run that goes on to end as canceled; without one nothing happens."""
        await self._access.cancel(SessionCommand(self.id, actor=self._actor))

    async def when_idle(self) -> int:
        """Wait until no Run is active; returns the revision then."""
        revision = await self._access.when_idle(self.id)
        self._saw(revision, run_active=False)
        return revision

    async def update_model_config(
        self, config: ModelConfig, *, accept_compatibility_loss: bool = False
    ) -> int:
        """Go on with another model from the next Run on; returns the new revision.

        Raises:
            CompatibilityError: the model cannot read attachments that the Session holds; with
                `accept_compatibility_loss` it is told their names instead.
            ClassifiedError: `conflict/active_run`, or the model is not known or not allowed.
        """
        command = SessionCommand(self.id, self._expected(), self._actor)
        revision = await self._access.update_model_config(
            command, config, accept_compatibility_loss=accept_compatibility_loss
        )
        self._saw(revision)
        return revision

    async def goal(self) -> Goal | None:
        """What this Session is to achieve, and how far that has come; None if nothing was set.

        Raises:
            ClassifiedError: `unavailable/goals_not_installed`; also of the four below.
        """
        return await self._access.goal(self.id)

    async def set_goal(self, objective: str, *, max_follow_ons: int = DEFAULT_FOLLOW_ONS) -> Goal:
        """Give this Session a goal. From now on Runs that would complete go on until it is met.

        It starts no Run: send what to begin with.

        Args:
            objective: what to achieve, in words for the model.
            max_follow_ons: how often Runs may go on for it; then it is paused.
        """
        return await self._access.set_goal(SetGoal(self.id, objective, max_follow_ons))

    async def pause_goal(self) -> Goal:
        """Let Runs complete by themselves again, until `resume_goal`."""
        return await self._access.change_goal(ChangeGoal(self.id, GoalStatus.PAUSED))

    async def resume_goal(self) -> Goal:
        """Measure Runs by a paused goal again.

        Raises:
            ClassifiedError: `conflict/goal_transition` if the goal is over: set a new one.
        """
        return await self._access.change_goal(ChangeGoal(self.id, GoalStatus.ACTIVE))

    async def cancel_goal(self) -> Goal:
        """Give the goal up."""
        return await self._access.change_goal(ChangeGoal(self.id, GoalStatus.CANCELED))

    async def commands(self) -> Sequence[CommandDescriptor]:
        """The commands of the application, by key."""
        return await self._access.commands()

    async def invoke(
        self, key: str, arguments: Mapping[str, JsonValue] | str = ""
    ) -> CommandResult:
        """Carry out a command. What it has begun, such as a Run, `view` tells.

        Args:
            key: which one.
            arguments: its fields by their keys, or one JSON object as text.

        Raises:
            ClassifiedError: `not_found/command_not_found`, `invalid_input/invalid_arguments`, or
                what the command refuses.
        """
        text = arguments if isinstance(arguments, str) else dumps(arguments)
        request = InvokeCommand(self.id, key, text, self._expected(), self._actor)
        result = await self._access.invoke_command(request)
        self._saw(result.revision)
        return result

    def events(self, *, after_revision: int | None = None) -> SessionEvents:
        """What happens from now on; see `SessionEvents` and `GatewayAccess.subscribe`."""
        return SessionEvents(self._access, self.id, after_revision)

    async def view(self) -> SessionView:
        """The Session as it stands. Having looked, the handle writes on what it saw."""
        view = await self._access.view(self.id)
        self._saw(view.revision, run_active=view.active_run is not None)
        return view

    async def history(self, *, before_sequence: int = 0, step_limit: int = 100) -> HistoryPage:
        """Facts before a sequence (0: from the end), 1 to 100 whole steps, oldest first."""
        page = await self._access.history(
            self.id, before_sequence=before_sequence, step_limit=step_limit
        )
        self._saw(page.revision)
        return page

    async def approve(self, digest: str) -> None:
        """Let the waiting call with that digest run.

        Raises:
            ClassifiedError: `not_found/approval_not_found` if it does not wait any more.
        """
        await self._answer(digest, approved=True)

    async def deny(self, digest: str, reason: str) -> None:
        """Refuse the waiting call with that digest; the model reads the reason.

        Raises:
            ClassifiedError: `not_found/approval_not_found` if it does not wait any more.
        """
        await self._answer(digest, approved=False, reason=reason)

    async def rewind(
        self, before: MessageId | None = None, *, summary: str = ""
    ) -> "ChannelSession":
        """Take a message back: a new Session with all that was before it. This one stays.

        Args:
            before: the user message to take back; without one, the last that began a Run.
            summary: what the model is told of the branch that was left; nothing by default.

        Raises:
            ClassifiedError: `not_found/message_not_found`; `invalid_input/invalid_cutoff` if the
                message joined a Run at a place where the past cannot be cut.
        """
        request = await rewinding(self._access, self.id, before, summary)
        return ChannelSession(
            self._access, await self._access.fork_session(request), actor=self._actor
        )

    async def retry_with(
        self, content: Content, *, before: MessageId | None = None, summary: str = ""
    ) -> "tuple[ChannelSession, RunResult]":
        """Say something else in the place of a message; see `rewind` for the arguments.

        Returns:
            The new Session, and what became of the message there.
        """
        branch = await self.rewind(before, summary=summary)
        return branch, await branch.send_and_wait(content)

    async def close(self) -> int:
        """End the Run that goes on, close the Session; returns its final revision."""
        closed = await self._access.close_session(SessionCommand(self.id, actor=self._actor))
        self._saw(closed.revision)
        return closed.revision

    async def attach(self, attachment: Attachment) -> AttachmentPart:
        """Keep content for a message, which may be sent with other parts then.

        Sending an `Attachment` does the same on the way.

        Raises:
            ClassifiedError: see `GatewayAccess.keep_attachment`.
        """
        return await self._access.keep_attachment(self.id, attachment)

    async def _input(self, content: Content) -> MessageInput:
        match content:
            case MessageInput():
                return content
            case str() | TextPart() | ReasoningPart() | AttachmentPart() | Attachment():
                return MessageInput((await self._part(content),))
            case Sequence():
                return MessageInput(tuple([await self._part(piece) for piece in content]))
            case _:  # pyright: ignore[reportUnnecessaryComparison]  # untyped code
                raise TypeError(
                    "a message is a text, a part, an Attachment or a list of these, not"
                    f" {type(content).__name__}"
                )

    async def _part(self, piece: Piece) -> Part:
        if isinstance(piece, Attachment):
            return await self.attach(piece)
        return TextPart(piece) if isinstance(piece, str) else piece

    def _message(self, content: MessageInput, client_message_id: str | None) -> SendMessage:
        return SendMessage(
            self.id,
            content,
            self._expected(),
            self._actor,
            _client_message_id(client_message_id),
        )

    def _queued(self, message_id: MessageId) -> QueuedCommand:
        return QueuedCommand(self.id, message_id, self._expected(), self._actor)

    def _wrote(self, revision: int) -> int:
        self._saw(revision)
        return revision

    async def _answer(self, digest: str, *, approved: bool, reason: str = "") -> None:
        await self._access.answer_approval(
            AnswerApproval(self.id, digest, approved, reason, self._actor)
        )
        self._run_active = True

    def _expected(self) -> int | None:
        return None if self._run_active or self._waiting_calls else self._revision

    async def _submitted(self, answer: Awaitable[T]) -> T:
        """Asking gates moves the Session on, also when they refuse: that is no surprise later."""
        try:
            return await answer
        except InputGateError as refusal:
            self._saw(refusal.current_revision)
            raise

    def _saw(self, revision: int, *, run_active: bool | None = None) -> None:
        # Answers to calls of several tasks may arrive out of order: the newest one knows best.
        if revision < self._revision:
            return
        self._revision = revision
        if run_active is not None:
            self._run_active = run_active


def _client_message_id(text: str | None) -> ClientMessageId | None:
    return None if text is None else ClientMessageId(text)
