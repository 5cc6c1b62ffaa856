"""A Gateway whose Runs are played by the test: enough to show how channels behave.

A Run is an async function over `FakeRun`; it says text, uses tools and asks for approval, and waits
for whatever events the test holds.
"""

import json
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count

import anyio
from anyio.abc import TaskGroup

from agentslot.interaction import (
    AnswerApproval,
    ApprovalRequested,
    ChunksReset,
    CreateSession,
    Event,
    EventStream,
    EventStreamOverflow,
    ForkSession,
    HistoryPage,
    MessageReceipt,
    Origin,
    PendingApproval,
    QueuedCommand,
    RevisionAdvanced,
    RunFinished,
    RunReceipt,
    RunResult,
    SendMessage,
    SessionCommand,
    SessionOpened,
    SessionView,
    StartFromSummary,
    TextChunk,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from agentslot.session import (
    SERVICE_ACTOR,
    AgentId,
    AttemptId,
    ClassifiedError,
    Delivery,
    ErrorKind,
    Fact,
    Message,
    MessageId,
    MessageInput,
    ModelConfig,
    Payload,
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
    StepId,
    TerminationSource,
    TextPart,
    TokenUsage,
    ToolCall,
    ToolCallId,
    ToolResult,
    WorkspaceId,
)

MODEL = ModelConfig(provider="fake", model="fake-1")
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class RunFailed(Exception):
    """Raised by a script: the Run ends failed with this code and message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


class FakeStream:
    def __init__(self, session_id: SessionId, capacity: int) -> None:
        self._session_id = session_id
        self._capacity = capacity
        self._events: deque[Event] = deque()
        self._arrived = anyio.Event()
        self.closed = False
        self.overflowed = False

    def publish(self, event: Event) -> None:
        if len(self._events) >= self._capacity:
            self.overflowed = True
        else:
            self._events.append(event)
        self._arrived.set()

    async def receive(self) -> Event:
        while not self._events:
            if self.overflowed:
                raise EventStreamOverflow(self._session_id)
            if self.closed:
                raise anyio.EndOfStream
            self._arrived = anyio.Event()
            await self._arrived.wait()
        await anyio.lowlevel.checkpoint()
        return self._events.popleft()

    def __aiter__(self) -> EventStream:
        return self

    async def __anext__(self) -> Event:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        self.closed = True
        self._arrived.set()


@dataclass
class FakeSession:
    id: SessionId
    agent: AgentId
    workspace: WorkspaceId
    revision: int = 1
    facts: list[Fact] = field(default_factory=list[Fact])
    queue: list[QueueItem] = field(default_factory=list[QueueItem])
    run_id: RunId | None = None
    scope: anyio.CancelScope | None = None
    idle: anyio.Event = field(default_factory=anyio.Event)
    approvals: dict[str, PendingApproval] = field(default_factory=dict[str, PendingApproval])
    answers: dict[str, anyio.Event] = field(default_factory=dict[str, anyio.Event])
    answered: dict[str, AnswerApproval] = field(default_factory=dict[str, AnswerApproval])
    streams: list[FakeStream] = field(default_factory=list[FakeStream])
    sequence: int = 0


Script = Callable[["FakeRun"], Awaitable[None]]


class FakeRun:
    """What a script does its Run with."""

    def __init__(self, gateway: "FakeGateway", session: FakeSession, message: Message) -> None:
        self._gateway = gateway
        self._session = session
        self.prompt = message.text
        self.message_id = message.id
        assert session.run_id is not None
        self.id = session.run_id
        self.step_id = StepId(f"{self.id}-s1")
        self.steered: list[str] = []

    @property
    def origin(self) -> Origin:
        return Origin(self._session.id, self.id, self.step_id)

    def chunk(self, message_id: str, text: str) -> None:
        """Temporary text, not durable."""
        self._gateway.publish(
            self._session,
            lambda n: TextChunk(
                self.origin, n, MessageId(message_id), AttemptId(f"{message_id}-a1"), text
            ),
        )

    def reset(self, message_id: str) -> None:
        self._gateway.publish(
            self._session,
            lambda n: ChunksReset(
                self.origin, n, MessageId(message_id), AttemptId(f"{message_id}-a1")
            ),
        )

    def commit(self, message_id: str, text: str) -> None:
        """The durable assistant message."""
        message = Message(
            MessageId(message_id),
            Role.ASSISTANT,
            (TextPart(text),) if text else (),
            NOW,
            self.id,
            self.step_id,
        )
        self._gateway.commit(self._session, message)

    async def say(self, *chunks: str) -> None:
        """Stream an assistant message and make it durable."""
        message_id = self._gateway.new_id("m")
        for text in chunks:
            self.chunk(message_id, text)
            await anyio.lowlevel.checkpoint()
        self.commit(message_id, "".join(chunks))

    def call(self, name: str, arguments: object) -> ToolCall:
        """A durable tool call."""
        call = ToolCall(
            ToolCallId(self._gateway.new_id("c")),
            "",
            self.message_id,
            self.id,
            self.step_id,
            name,
            arguments if isinstance(arguments, str) else json.dumps(arguments),
        )
        self._gateway.commit(self._session, call)
        return call

    def start(self, call: ToolCall) -> None:
        self._gateway.publish(self._session, lambda n: ToolStarted(self.origin, n, call))

    def progress(self, call: ToolCall, text: str) -> None:
        self._gateway.publish(self._session, lambda n: ToolProgress(self.origin, n, call, text))

    def finish(self, call: ToolCall, result: ToolResult) -> None:
        self._gateway.publish(self._session, lambda n: ToolFinished(self.origin, n, call, result))
        self._gateway.commit(self._session, result)

    async def ask(self, call: ToolCall, reason: str) -> AnswerApproval:
        """Wait for a person's decision on a call."""
        digest = f"sha256:{call.id}"
        self._session.approvals[digest] = PendingApproval(call, reason, digest)
        self._session.answers[digest] = anyio.Event()
        self._gateway.publish(
            self._session, lambda n: ApprovalRequested(self.origin, n, call, reason, digest)
        )
        try:
            await self._session.answers[digest].wait()
        finally:
            del self._session.approvals[digest]
        return self._session.answered[digest]


async def echo(run: FakeRun) -> None:
    """Say what was asked."""
    await run.say("echo: ", run.prompt)


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

    def publish(self, session: FakeSession, make: Callable[[int], Event]) -> None:
        session.sequence += 1
        event = make(session.sequence)
        for stream in session.streams:
            if not stream.closed:
                stream.publish(event)

    def commit(self, session: FakeSession, *payloads: Payload) -> int:
        session.revision += 1
        for payload in payloads:
            session.facts.append(
                Fact(
                    session.id,
                    len(session.facts) + 1,
                    session.run_id,
                    None,
                    NOW,
                    SERVICE_ACTOR,
                    payload,
                )
            )
        self.publish(session, lambda n: RevisionAdvanced(Origin(session.id), n, session.revision))
        return session.revision

    def foreign_change(self, session_id: str) -> int:
        """Somebody else commits."""
        return self.commit(self.sessions[SessionId(session_id)])

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
            return MessageReceipt(session.id, message.id, self.commit(session))
        run_id = self._start(session, message)
        return MessageReceipt(session.id, message.id, session.revision, run_id)

    def _start(self, session: FakeSession, message: Message) -> RunId:
        run_id = session.run_id = RunId(self.new_id("r"))
        session.idle = anyio.Event()
        session.scope = anyio.CancelScope()
        self.commit(
            session, RunFact(run_id, RunStatus.STARTED, MODEL, 1), replace(message, run_id=run_id)
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
                await self.script(FakeRun(self, session, message))
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
        self.commit(session, RunFact(run_id, status, MODEL, 1, termination))
        text = termination.message if termination else ""
        session.run_id = None
        self.publish(session, lambda n: RunFinished(Origin(session.id, run_id), n, status, text))
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
        return MessageReceipt(session.id, MessageId(self.new_id("u")), self.commit(session))

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
        raise NotImplementedError

    async def delete_queued(self, request: QueuedCommand) -> int:
        raise NotImplementedError

    async def reclassify_queued(self, request: QueuedCommand, delivery: Delivery) -> int:
        raise NotImplementedError

    async def update_model_config(self, request: SessionCommand, config: ModelConfig) -> int:
        raise NotImplementedError

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

    async def close_session(self, request: SessionCommand) -> int:
        session = self._open(request.session_id)
        if session.scope is not None:
            session.scope.cancel()
        await session.idle.wait()
        for stream in session.streams:
            await stream.aclose()
        del self.sessions[session.id]
        return session.revision


@asynccontextmanager
async def fake_gateway(
    script: Script = echo, *, capacity: int = 1024
) -> AsyncGenerator[FakeGateway]:
    """A running fake Gateway whose Runs follow `script`."""
    gateway = FakeGateway(script, capacity=capacity)
    async with gateway.running():
        yield gateway
