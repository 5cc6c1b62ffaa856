"""GatewayAccess over the Runtime: finds the open Session, hands the request on, answers."""

from collections.abc import Sequence
from dataclasses import replace

from agentslot.interaction import (
    AnswerApproval,
    ApprovalRequested,
    ChangeGoal,
    CommandDescriptor,
    CommandResult,
    CreateSession,
    EventStream,
    ExtensionDiagnosticsPage,
    ForkSession,
    HistoryPage,
    InvokeCommand,
    MessageReceipt,
    Origin,
    QueuedCommand,
    RunReceipt,
    RunResult,
    SendMessage,
    SessionClosed,
    SessionCommand,
    SessionModel,
    SessionOpened,
    SessionView,
    SetGoal,
    StartFromSummary,
)
from agentslot.session import (
    AgentId,
    AttachmentPart,
    ClassifiedError,
    Delivery,
    ErrorKind,
    Goal,
    MessageInput,
    ModelConfig,
    NewSession,
    OpenKind,
    SessionId,
    SessionPage,
    WorkspaceId,
)
from agentslot.standardagent.gateway.attachments import attached
from agentslot.standardagent.gateway.commands import invoked
from agentslot.standardagent.gateway.derive import forked, summarized
from agentslot.standardagent.gateway.goals import change_goal, goals_not_installed, set_goal
from agentslot.standardagent.gateway.views import (
    diagnostics_of,
    page_of,
    run_result,
    session_view,
)
from agentslot.standardagent.goal import GoalStore
from agentslot.standardagent.policy import ApprovalAnswer, ApprovalRequest
from agentslot.standardagent.runtime.components import Components
from agentslot.standardagent.runtime.registry import Opening, Registry
from agentslot.standardagent.runtime.selection import selected
from agentslot.tool import Attachment


class Gateway:
    """The one backend of all channels; see GatewayAccess for what each operation promises.

    Channels are bound to it when the application is built. It answers from `attach` on, which the
    Runtime calls when it starts, until `detach`.
    """

    def __init__(self) -> None:
        self._components: Components | None = None
        self._registry: Registry | None = None

    def attach(self, components: Components, registry: Registry) -> None:
        """Begin to answer."""
        self._components, self._registry = components, registry
        if components.desk is not None:
            components.desk.on_request(self._announce)

    def detach(self) -> None:
        """Answer no more."""
        self._registry = None

    @property
    def _there(self) -> tuple[Components, Registry]:
        if self._components is None or self._registry is None:
            raise ClassifiedError(
                ErrorKind.UNAVAILABLE,
                "application_not_started",
                "the application does not run: enter `application.start()` first",
            )
        return self._components, self._registry

    def _announce(self, request: ApprovalRequest) -> None:
        """Tell the Session's subscribers that a call waits for a person."""
        _, registry = self._there
        call = request.action.call
        session_id = request.action.session_id
        hub = registry.get(session_id).owner.hub
        hub.publish(
            ApprovalRequested(
                Origin(session_id, call.run_id, call.step_id),
                hub.next_sequence(),
                call,
                request.reason,
                request.digest,
            )
        )

    async def list_sessions(
        self, agent: AgentId, workspace: WorkspaceId, *, limit: int = 50, cursor: str = ""
    ) -> SessionPage:
        """A page of a scope."""
        components, _ = self._there
        return await components.store.list_sessions(agent, workspace, limit=limit, cursor=cursor)

    async def create_session(self, request: CreateSession) -> SessionOpened:
        """Open a new Session."""
        components, registry = self._there
        config = await selected(registry, request.model_config or components.default_model)
        return await self._open_new(
            NewSession(components.ids.session(), request.agent, request.workspace, config),
            OpenKind.CREATE,
        )

    async def _open_new(self, new: NewSession, kind: OpenKind) -> SessionOpened:
        components, registry = self._there
        components.executor.inspect(new.model_config)
        boundary = await components.boundary(new.agent, new.workspace)
        return await registry.admit(Opening(await components.store.create(new), boundary), kind)

    async def resume_session(self, session_id: SessionId) -> SessionOpened:
        """Open a stored Session."""
        components, registry = self._there

        async def load() -> Opening:
            boundary = None
            if components.workspaces is not None:  # whoever cannot work there repairs nothing
                stored = (await components.store.load(session_id)).state
                boundary = await components.boundary(stored.agent, stored.workspace)
            loaded = await components.store.recover(session_id)
            return Opening(loaded.state, boundary, loaded.repairs)

        return await registry.resume(session_id, load)

    async def fork_session(self, request: ForkSession) -> SessionOpened:
        """Open a copy of another Session's past."""
        components, registry = self._there
        if request.model_config is not None:
            chosen = await selected(registry, request.model_config)
            request = replace(request, model_config=chosen)
        return await self._open_new(await forked(components, request), OpenKind.FORK)

    async def start_from_summary(self, request: StartFromSummary) -> SessionOpened:
        """Open a Session that begins with given messages."""
        components, registry = self._there
        if request.model_config is not None:
            chosen = await selected(registry, request.model_config)
            request = replace(request, model_config=chosen)
        return await self._open_new(await summarized(components, request), OpenKind.SUMMARY)

    async def keep_attachment(
        self, session_id: SessionId, attachment: Attachment
    ) -> AttachmentPart:
        """Keep content for a message."""
        components, registry = self._there
        registry.get(session_id)
        return await attached(components.artifacts, attachment)

    async def send(self, request: SendMessage) -> MessageReceipt:
        """Submit a message."""
        return await self._there[1].get(request.session_id).send(request)

    async def send_and_wait(self, request: SendMessage) -> RunResult:
        """Submit a message and wait for what becomes of it."""
        runtime = self._there[1].get(request.session_id)
        receipt = await runtime.send(request)
        await runtime.owner.when_idle()
        return await run_result(runtime.owner.state, receipt.message_id)

    async def steer(self, request: SendMessage) -> MessageReceipt:
        """Let a message join the active Run."""
        return await self._there[1].get(request.session_id).steer(request)

    async def run_pending(self, request: SessionCommand) -> RunReceipt:
        """Start a Run on the first queued message."""
        return await self._there[1].get(request.session_id).run_pending(request)

    async def cancel(self, request: SessionCommand) -> None:
        """End the active Run as canceled."""
        await self._there[1].get(request.session_id).cancel(request)

    async def when_idle(self, session_id: SessionId) -> int:
        """Wait until no Run is active."""
        owner = self._there[1].get(session_id).owner
        await owner.when_idle()
        return owner.state.revision

    async def edit_queued(self, request: QueuedCommand, content: MessageInput) -> int:
        """Replace a queued message."""
        content.require_unicode()
        return await self._there[1].get(request.session_id).edit_queued(request, content)

    async def delete_queued(self, request: QueuedCommand) -> int:
        """Drop a queued message."""
        return await self._there[1].get(request.session_id).delete_queued(request)

    async def reclassify_queued(self, request: QueuedCommand, delivery: Delivery) -> int:
        """Change when a queued message is delivered."""
        return await self._there[1].get(request.session_id).reclassify_queued(request, delivery)

    async def model_config(self, session_id: SessionId) -> SessionModel:
        """The model of the next Run."""
        state = self._there[1].get(session_id).owner.state
        return SessionModel(session_id, state.revision, state.model_config)

    async def update_model_config(
        self,
        request: SessionCommand,
        config: ModelConfig,
        *,
        accept_compatibility_loss: bool = False,
    ) -> int:
        """Switch to another model."""
        runtime = self._there[1].get(request.session_id)
        return await runtime.update_model_config(
            request, config, accept_compatibility_loss=accept_compatibility_loss
        )

    async def goal(self, session_id: SessionId) -> Goal | None:
        """What the Session is to achieve."""
        return await self._goals(session_id).current(session_id)

    async def set_goal(self, request: SetGoal) -> Goal:
        """Give the Session a goal."""
        return await set_goal(self._goals(request.session_id), request)

    async def change_goal(self, request: ChangeGoal) -> Goal:
        """Pause, activate, complete or cancel the goal."""
        return await change_goal(self._goals(request.session_id), request)

    def _goals(self, session_id: SessionId) -> GoalStore:
        components, registry = self._there
        registry.get(session_id)
        if components.goals is None:
            raise goals_not_installed()
        return components.goals.store

    async def commands(self) -> Sequence[CommandDescriptor]:
        """The commands of the application."""
        components, _ = self._there
        return [installed.descriptor for installed in components.commands.values()]

    async def invoke_command(self, request: InvokeCommand) -> CommandResult:
        """Carry out a command."""
        components, registry = self._there
        state = registry.get(request.session_id).owner.state
        return await invoked(self, components, state, request)

    async def answer_approval(self, request: AnswerApproval) -> None:
        """Approve or deny a waiting call."""
        components, registry = self._there
        registry.get(request.session_id)
        if components.desk is None:
            raise ClassifiedError(
                ErrorKind.NOT_FOUND,
                "approval_not_found",
                "this application has no approval desk: add ApprovalDeskModule() to it",
            )
        answer = ApprovalAnswer(request.approved, request.reason, request.actor)
        components.desk.answer(request.session_id, request.digest, answer)

    async def revision(self, session_id: SessionId) -> int:
        """The current revision."""
        return self._there[1].get(session_id).owner.state.revision

    async def view(self, session_id: SessionId) -> SessionView:
        """The Session as it stands."""
        components, registry = self._there
        return await session_view(registry.get(session_id).owner.state, components.desk)

    async def history(
        self, session_id: SessionId, *, before_sequence: int = 0, step_limit: int = 100
    ) -> HistoryPage:
        """Older facts."""
        state = self._there[1].get(session_id).owner.state
        return await page_of(state, before_sequence, step_limit)

    async def extension_diagnostics(
        self, session_id: SessionId, *, before_sequence: int = 0, limit: int = 50
    ) -> ExtensionDiagnosticsPage:
        """What hooks were asked."""
        state = self._there[1].get(session_id).owner.state
        return diagnostics_of(state, before_sequence, limit)

    async def subscribe(
        self, session_id: SessionId, *, after_revision: int | None = None
    ) -> EventStream:
        """Hear what happens from now on."""
        owner = self._there[1].get(session_id).owner
        owner.check_writable(after_revision)
        return owner.hub.subscribe()

    async def close_session(self, request: SessionCommand) -> SessionClosed:
        """End the active Run and close the Session."""
        _, registry = self._there
        return await registry.close(request.session_id, lambda runtime: runtime.close(request))
