"""The AgentRuntime of one Session: its commands, and the task that drives its Runs."""

from collections.abc import Callable, Sequence
from functools import partial

import anyio

from agentslot.interaction import (
    CompatibilityError,
    MessageReceipt,
    QueuedCommand,
    RunReceipt,
    SendMessage,
    SessionClosed,
    SessionCommand,
)
from agentslot.session import (
    Change,
    ClassifiedError,
    DeleteQueued,
    Delivery,
    EditQueued,
    Enqueue,
    ErrorKind,
    ExtensionDiagnostic,
    JournalStatus,
    Message,
    MessageId,
    MessageInput,
    ModelConfig,
    OpenKind,
    QueueItem,
    ReclassifyQueued,
    Role,
    SessionState,
    SetModelConfig,
    ToolCall,
    WorkspaceBoundary,
    read_history,
)
from agentslot.session.settlement import is_resumable_completion
from agentslot.standardagent.hook import InputOperation
from agentslot.standardagent.runtime.compatibility import unreadable_attachments
from agentslot.standardagent.runtime.components import Components
from agentslot.standardagent.runtime.guests import Guests
from agentslot.standardagent.runtime.hooks.completion import follow_ons, recorded_gates
from agentslot.standardagent.runtime.hooks.contexts import discard_waiting
from agentslot.standardagent.runtime.hooks.digest import input_digest
from agentslot.standardagent.runtime.hooks.inputgates import (
    Admission,
    Subject,
    Submission,
    admitted,
)
from agentslot.standardagent.runtime.hooks.lifecycle import ask_at_opening, reserve_farewell
from agentslot.standardagent.runtime.owner import SessionOwner
from agentslot.standardagent.runtime.prepare import FixedParts
from agentslot.standardagent.runtime.run import Run
from agentslot.standardagent.runtime.selection import selected
from agentslot.standardagent.runtime.start import (
    RunStart,
    start_with_message,
    start_with_queued,
)
from agentslot.standardagent.runtime.supervisor import supervise


class AgentRuntime:
    """One open Session. Commands decide and commit under its lock."""

    def __init__(
        self,
        components: Components,
        parts: FixedParts,
        state: SessionState,
        guests: Guests,
        boundary: WorkspaceBoundary | None,
    ) -> None:
        self.owner = SessionOwner(components, state, guests, boundary)
        self._parts = parts
        if self.owner.notices is not None:
            name = f"commit observers of {state.id}"
            guests.invite(self.owner.notices.deliver, anyio.CancelScope(), name, lasts=True)

    async def greet(self, kind: OpenKind) -> tuple[ExtensionDiagnostic, ...]:
        """Ask the lifecycle hooks about a Session that opens; what they answered."""
        return await ask_at_opening(self.owner, kind)

    async def left_open(self) -> Callable[[], None] | None:
        """What goes on with the calls or completion gates that a crash left prepared, as they were
        recorded; None if there is nothing to go on with. It has to be called at once.

        Raises:
            SessionDamagedError: the beginning of the Run cannot be read.
        """
        state = self.owner.state
        if state.active_run is None:
            return None
        calls = [entry.call for entry in state.journal.values()]
        gates = recorded_gates(state) if is_resumable_completion(state) else []
        steps = {call.step_id for call in calls} | {gate.invocation.step_id for gate in gates}
        untouched = all(e.status is JournalStatus.PREPARED for e in state.journal.values())
        step_id = steps.pop() if len(steps) == 1 and untouched else None
        if step_id is None:
            raise ClassifiedError(
                ErrorKind.INTERNAL,
                "session_unrecoverable",
                f"Session {state.id!r} is running, and nothing in it can be resumed",
            )
        active, history = state.active_run, state.history
        output = await read_history(history, history.wanted_output, active.id)
        run = self.owner.run = Run(self.owner, active, step_id, output)
        run.follow_ons = follow_ons(state, run.id)
        return partial(self._supervise, run, calls, completing=bool(gates))

    async def send(self, request: SendMessage) -> MessageReceipt:
        """Submit a message; see GatewayAccess."""
        owner, message = self.owner, self._message(request)
        submission = self._submission(InputOperation.SEND, message, Subject, request)
        async with admitted(owner, submission) as admission:
            if owner.state.active_run is not None:
                return await self._enqueue(message, Delivery.NORMAL, admission, request)
            start = start_with_message(owner, message, admission)
            await owner.commit("send-start", start.changes, request.actor)
            run = self._begin(start)
        await run.prepared.wait()
        return MessageReceipt(owner.id, message.id, owner.state.revision, run.id)

    async def steer(self, request: SendMessage) -> MessageReceipt:
        """Queue a message for the active Run; see GatewayAccess."""
        message = self._message(request)
        submission = self._submission(InputOperation.STEER, message, self._steered, request)
        async with admitted(self.owner, submission) as admission:
            return await self._enqueue(message, Delivery.STEER, admission, request)

    def _steered(self) -> Subject:
        active = self.owner.state.active_run
        if active is None:
            raise ClassifiedError(
                ErrorKind.CONFLICT,
                "no_active_run",
                "no Run is active that the message could join: send it instead",
            )
        return Subject(active.id)

    async def _enqueue(
        self, message: Message, delivery: Delivery, admission: Admission, request: SendMessage
    ) -> MessageReceipt:
        label = "steer" if delivery is Delivery.STEER else "send"
        changes = [Enqueue(QueueItem(message, delivery)), *admission.waiting()]
        commit = await self.owner.commit(label, changes, request.actor)
        return MessageReceipt(self.owner.id, message.id, commit.revision)

    @staticmethod
    def _submission(
        operation: InputOperation,
        message: Message,
        subject: Callable[[], Subject],
        request: SendMessage | QueuedCommand,
    ) -> Submission:
        return Submission(operation, message, subject, request.expected_revision, request.actor)

    async def run_pending(self, request: SessionCommand) -> RunReceipt:
        """Start a Run on the first queued normal message; see GatewayAccess."""
        owner = self.owner
        async with owner.lock:
            owner.check_writable(request.expected_revision)
            self._check_idle("start another one")
            normal = (i for i in owner.state.queue if i.delivery is Delivery.NORMAL)
            item = next(normal, None)
            if item is None:
                raise ClassifiedError(
                    ErrorKind.CONFLICT, "no_pending_work", "no message waits in the queue"
                )
            start = start_with_queued(owner, item)
            await owner.commit("run-pending", start.changes, request.actor)
            run = self._begin(start)
        await run.prepared.wait()
        return RunReceipt(owner.id, run.id, owner.state.revision)

    def _begin(self, start: RunStart) -> Run:
        run = start.begun(self.owner)
        self._supervise(run)
        return run

    def _supervise(
        self, run: Run, calls: Sequence[ToolCall] = (), *, completing: bool = False
    ) -> None:
        """Begin a Run in a task of its own; nothing cancels it, and its loop harms nobody else."""
        supervised = partial(supervise, run, self._parts, calls, completing=completing)
        scope = anyio.CancelScope(shield=True)
        self.owner.guests.invite(supervised, scope, f"run {run.id}", lasts=True)

    async def cancel(self, request: SessionCommand) -> None:
        """End the active Run as canceled; see GatewayAccess."""
        owner = self.owner
        async with owner.lock:
            owner.check_writable(request.expected_revision)
            if owner.state.active_run is not None and owner.run is not None:
                owner.run.cancel(request.actor)

    async def edit_queued(self, request: QueuedCommand, content: MessageInput) -> int:
        """Replace a queued message; see GatewayAccess."""
        owner, message_id = self.owner, request.message_id
        message = Message(message_id, Role.USER, content.parts, owner.components.now())
        edited = partial(self._edited, message_id)
        submission = self._submission(InputOperation.EDIT_QUEUED, message, edited, request)
        async with admitted(owner, submission) as admission:
            edit = EditQueued(message_id, content.parts)
            changes = [edit, *discard_waiting(owner, message_id), *admission.waiting()]
            return (await owner.commit("queue-edit", changes, request.actor)).revision

    def _edited(self, message_id: MessageId) -> Subject:
        item = self.owner.state.queued(message_id)
        if item is None:
            raise ClassifiedError(
                ErrorKind.NOT_FOUND, "queue_item_not_found", f"message {message_id!r} is not queued"
            )
        content = MessageInput(item.message.parts)
        return Subject(previous_digest=input_digest(content), delivery=item.delivery)

    async def delete_queued(self, request: QueuedCommand) -> int:
        """Drop a queued message; see GatewayAccess."""
        return await self._queue_command("queue-delete", request, DeleteQueued(request.message_id))

    async def reclassify_queued(self, request: QueuedCommand, delivery: Delivery) -> int:
        """Change when a queued message is delivered; see GatewayAccess."""
        change = ReclassifyQueued(request.message_id, delivery)
        return await self._queue_command("queue-reclassify", request, change)

    async def _queue_command(self, label: str, request: QueuedCommand, change: Change) -> int:
        async with self.owner.lock:
            self.owner.check_writable(request.expected_revision)
            changes: list[Change] = [change]
            if isinstance(change, DeleteQueued):
                changes += discard_waiting(self.owner, change.message_id)
            return (await self.owner.commit(label, changes, request.actor)).revision

    async def update_model_config(
        self, request: SessionCommand, config: ModelConfig, *, accept_compatibility_loss: bool
    ) -> int:
        """Switch to another model; see GatewayAccess."""
        owner = self.owner
        config = await selected(owner, config)
        readable = owner.components.executor.inspect(config).input_modalities
        async with owner.lock:
            owner.check_writable(request.expected_revision)
            self._check_idle("switch the model")
            state = owner.state
            lost = await read_history(state.history, unreadable_attachments, state, readable)
            if lost and not accept_compatibility_loss:
                raise CompatibilityError(config.model, lost)
            commit = await owner.commit("model-config", [SetModelConfig(config)], request.actor)
            return commit.revision

    async def close(self, request: SessionCommand) -> SessionClosed:
        """End the active Run, say farewell and close; see GatewayAccess."""
        owner = self.owner
        async with owner.lock:
            owner.check_writable(request.expected_revision)
            farewell = await reserve_farewell(owner, request.actor)
            owner.stop(request.actor)
        try:
            diagnostics = await farewell.ask()
        except ClassifiedError:
            owner.close()
            raise
        owner.close()
        return SessionClosed(owner.id, owner.state.revision, diagnostics)

    def _check_idle(self, purpose: str) -> None:
        if self.owner.state.active_run is not None:
            raise ClassifiedError(
                ErrorKind.CONFLICT,
                "active_run",
                f"a Run is active: wait until it ends, or cancel it, to {purpose}",
            )

    def _message(self, request: SendMessage) -> Message:
        components = self.owner.components
        return Message(
            components.ids.message(),
            Role.USER,
            request.input.parts,
            components.now(),
            client_message_id=request.client_message_id,
            output=request.output,
        )
