"""A Gateway whose Runs are played by the test: enough to show how channels behave.

A Run is an async function over `FakeRun`; it says text, uses tools and asks for approval, and waits
for whatever events the test holds.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count

import anyio
from anyio.abc import TaskGroup

from agentslot.interaction import (
    AnswerApproval,
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
    RunFinished,
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
    Fact,
    Goal,
    Message,
    MessageId,
    MessageInput,
    ModelConfig,
    QueueItem,
    Repair,
    RevisionConflictError,
    Role,
    RunFact,
    RunId,
    RunStatus,
    RunTermination,
    SessionId,
    SessionPage,
    SessionSummary,
    TerminationSource,
    TextPart,
    TokenUsage,
    WorkspaceId,
)
from agentslot.tool import Attachment
from tests.interaction.fake_session import (
    MODEL,
    NOW,
    FakeRun,
    FakeSession,
    FakeStream,
    RunFailed,
    Script,
    echo,
)


class FakeGateway:
    """Implements `GatewayAccess`; see `fake_gateway`."""

    def __init__(self, script: Script = echo, *, capacity: int = 1024) -> None:
        self.script = script
        self.sessions: dict[SessionId, FakeSession] = {}
        self.stored: dict[SessionId, tuple[Repair, ...]] = {}
        self.sent: list[SendMessage] = []
        self.calls: list[str] = []
        self._capacity = capacity
        self._tasks: TaskGroup | None = None
        self._ids = count(1)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Runs can go on while this is entered."""
        async with anyio.create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()

    def new_id(self, prefix: str) -> str:
        return f"{prefix}{next(self._ids)}"

    def foreign_change(self, session_id: str) -> int:
        """Somebody else commits."""
        return self.sessions[SessionId(session_id)].commit()

    def start(self, session: FakeSession, prompt: str) -> RunId:
        """Start a Run as if somebody else had sent the prompt."""
        message = Message(MessageId(self.new_id("u")), Role.USER, (TextPart(prompt),), NOW)
        return self._start(session, message)

    def _open(self, session_id: SessionId) -> FakeSession:
        session = self.sessions.get(session_id)
        if session is None:
            raise ClassifiedError(ErrorKind.NOT_FOUND, "session_not_open", "it is not open")
        return session

    def _check(self, session: FakeSession, expected: int | None) -> None:
        if expected is not None and expected != session.revision:
            raise RevisionConflictError(expected, session.revision)

    async def list_sessions(
        self, agent: AgentId, workspace: WorkspaceId, *, limit: int = 50, cursor: str = ""
    ) -> SessionPage:
        rows = [
            SessionSummary(s.id, s.agent, s.workspace, s.revision, NOW)
            for s in reversed(self.sessions.values())
            if (s.agent, s.workspace) == (agent, workspace)
        ]
        return SessionPage(rows[:limit], "")

    async def create_session(self, request: CreateSession) -> SessionOpened:
        session_id = SessionId(self.new_id("s"))
        session = FakeSession(session_id, request.agent, request.workspace)
        session.idle.set()
        self.sessions[session_id] = session
        return SessionOpened(session_id, session.revision)

    async def resume_session(self, session_id: SessionId) -> SessionOpened:
        if session_id in self.stored:
            opened = FakeSession(session_id, AgentId("stored"), WorkspaceId("default"), revision=7)
            opened.idle.set()
            self.sessions[session_id] = opened
            return SessionOpened(session_id, opened.revision, self.stored[session_id])
        if session_id not in self.sessions:
            raise ClassifiedError(
                ErrorKind.NOT_FOUND, "session_not_found", f"no Session {session_id!r}"
            )
        return SessionOpened(session_id, self.sessions[session_id].revision)

    async def fork_session(self, request: ForkSession) -> SessionOpened:
        opened = await self.create_session(CreateSession(request.agent, request.workspace))
        self.sessions[opened.session_id].facts = list(self._open(request.source).facts)
        return opened

    async def start_from_summary(self, request: StartFromSummary) -> SessionOpened:
        return await self.create_session(CreateSession(request.agent, request.workspace))

    async def send(self, request: SendMessage) -> MessageReceipt:
        await anyio.lowlevel.checkpoint()
        self.sent.append(request)
        session = self._open(request.session_id)
        self._check(session, request.expected_revision)
        message = Message(
            MessageId(self.new_id("u")),
            Role.USER,
            request.input.parts,
            NOW,
            client_message_id=request.client_message_id,
        )
        if session.run_id is not None:
            session.queue.append(QueueItem(message, Delivery.NORMAL))
            return MessageReceipt(session.id, message.id, session.commit())
        run_id = self._start(session, message)
        return MessageReceipt(session.id, message.id, session.revision, run_id)

    def _start(self, session: FakeSession, message: Message) -> RunId:
        run_id = session.run_id = RunId(self.new_id("r"))
        session.idle = anyio.Event()
        session.scope = anyio.CancelScope()
        session.commit(
            RunFact(run_id, RunStatus.STARTED, MODEL, 1), replace(message, run_id=run_id)
        )
        assert self._tasks is not None
        self._tasks.start_soon(self._play, session, message)
        return run_id

    async def _play(self, session: FakeSession, message: Message) -> None:
        assert session.run_id is not None
        assert session.scope is not None
        run_id = session.run_id
        status, termination = RunStatus.COMPLETED, None
        with session.scope:
            try:
                await self.script(FakeRun(self.new_id, session, message))
            except RunFailed as failure:
                status = RunStatus.FAILED
                termination = RunTermination(
                    TerminationSource.MODEL, ErrorKind.UNAVAILABLE, failure.code, failure.message
                )
        if session.scope.cancelled_caught:
            status = RunStatus.CANCELED
            termination = RunTermination(
                TerminationSource.RUNTIME, ErrorKind.CANCELED, "canceled", "canceled"
            )
        session.commit(RunFact(run_id, status, MODEL, 1, termination))
        text = termination.message if termination else ""
        session.run_id = None
        session.publish(lambda n: RunFinished(Origin(session.id, run_id), n, status, text))
        if status is RunStatus.COMPLETED and session.queue:
            idle = session.idle
            self._start(session, session.queue.pop(0).message)
            session.idle = idle
        else:
            session.idle.set()

    async def send_and_wait(self, request: SendMessage) -> RunResult:
        receipt = await self.send(request)
        session = self._open(request.session_id)
        await session.idle.wait()
        ours = next(
            fact.run_id
            for fact in session.facts
            if isinstance(fact.payload, Message) and fact.payload.id == receipt.message_id
        )
        assert ours is not None
        payloads = [fact.payload for fact in session.facts if fact.run_id == ours]
        end = [p for p in payloads if isinstance(p, RunFact) and p.status != "started"][-1]
        messages = tuple(
            p for p in payloads if isinstance(p, Message) and p.role == "assistant" and p.text
        )
        return RunResult(
            session.id,
            ours,
            receipt.message_id,
            session.revision,
            end.status,
            messages,
            TokenUsage(input=10, output=5, total=15),
            end.termination,
        )

    async def steer(self, request: SendMessage) -> MessageReceipt:
        session = self._open(request.session_id)
        self._check(session, request.expected_revision)
        if session.run_id is None:
            raise ClassifiedError(ErrorKind.CONFLICT, "no_active_run", "no Run is active")
        self.calls.append(f"steer {MessageInput.of(request.input).parts}")
        return MessageReceipt(session.id, MessageId(self.new_id("u")), session.commit())

    async def run_pending(self, request: SessionCommand) -> RunReceipt:
        session = self._open(request.session_id)
        self._check(session, request.expected_revision)
        if not session.queue:
            raise ClassifiedError(ErrorKind.CONFLICT, "no_pending_work", "no message waits")
        run_id = self._start(session, session.queue.pop(0).message)
        return RunReceipt(session.id, run_id, session.revision)

    async def cancel(self, request: SessionCommand) -> None:
        session = self._open(request.session_id)
        self._check(session, request.expected_revision)
        self.calls.append("cancel")
        if session.scope is not None:
            session.scope.cancel()

    async def when_idle(self, session_id: SessionId) -> int:
        session = self._open(session_id)
        await session.idle.wait()
        return session.revision

    async def edit_queued(self, request: QueuedCommand, content: MessageInput) -> int:
        raise AssertionError("no front end that is tested on this gateway asks for it")

    async def delete_queued(self, request: QueuedCommand) -> int:
        raise AssertionError("no front end that is tested on this gateway asks for it")

    async def reclassify_queued(self, request: QueuedCommand, delivery: Delivery) -> int:
        raise AssertionError("no front end that is tested on this gateway asks for it")

    async def model_config(self, session_id: SessionId) -> SessionModel:
        raise AssertionError("no front end that is tested on this gateway asks for it")

    async def update_model_config(
        self,
        request: SessionCommand,
        config: ModelConfig,
        *,
        accept_compatibility_loss: bool = False,
    ) -> int:
        raise AssertionError("no front end that is tested on this gateway asks for it")

    async def goal(self, session_id: SessionId) -> Goal | None:
        raise ClassifiedError(ErrorKind.UNAVAILABLE, "goals_not_installed", "there are no goals")

    async def set_goal(self, request: SetGoal) -> Goal:
        raise AssertionError("no front end that is tested on this gateway asks for it")

    async def change_goal(self, request: ChangeGoal) -> Goal:
        raise AssertionError("no front end that is tested on this gateway asks for it")

    async def commands(self) -> Sequence[CommandDescriptor]:
        return ()

    async def invoke_command(self, request: InvokeCommand) -> CommandResult:
        raise AssertionError("no front end that is tested on this gateway asks for it")

    async def keep_attachment(
        self, session_id: SessionId, attachment: Attachment
    ) -> AttachmentPart:
        return AttachmentPart(self.new_id("artifact"), attachment.media_type, attachment.name)

    async def answer_approval(self, request: AnswerApproval) -> None:
        session = self._open(request.session_id)
        if request.digest not in session.approvals:
            raise ClassifiedError(ErrorKind.NOT_FOUND, "approval_not_found", "it does not wait")
        session.answered[request.digest] = request
        session.answers[request.digest].set()

    async def revision(self, session_id: SessionId) -> int:
        return self._open(session_id).revision

    async def view(self, session_id: SessionId) -> SessionView:
        session = self._open(session_id)
        return SessionView(
            session.id,
            session.agent,
            session.workspace,
            session.revision,
            tuple(session.facts),
            has_more_history=False,
            queue=tuple(session.queue),
            model_config=MODEL,
            active_run=session.run_id,
            approvals=tuple(session.approvals.values()),
        )

    async def history(
        self, session_id: SessionId, *, before_sequence: int = 0, step_limit: int = 100
    ) -> HistoryPage:
        session = self._open(session_id)
        facts: Sequence[Fact] = session.facts
        return HistoryPage(session.id, session.revision, tuple(facts), has_more=False)

    async def subscribe(
        self, session_id: SessionId, *, after_revision: int | None = None
    ) -> EventStream:
        session = self._open(session_id)
        self._check(session, after_revision)
        stream = FakeStream(session_id, self._capacity)
        session.streams.append(stream)
        return stream

    async def extension_diagnostics(
        self, session_id: SessionId, *, before_sequence: int = 0, limit: int = 50
    ) -> ExtensionDiagnosticsPage:
        raise AssertionError("no front end that is tested on this gateway asks for it")

    async def close_session(self, request: SessionCommand) -> SessionClosed:
        session = self._open(request.session_id)
        if session.scope is not None:
            session.scope.cancel()
        await session.idle.wait()
        for stream in session.streams:
            await stream.aclose()
        del self.sessions[session.id]
        return SessionClosed(session.id, session.revision)


@asynccontextmanager
async def fake_gateway(
    script: Script = echo, *, capacity: int = 1024
) -> AsyncGenerator[FakeGateway]:
    """A running fake Gateway whose Runs follow `script`."""
    gateway = FakeGateway(script, capacity=capacity)
    async with gateway.running():
        yield gateway
