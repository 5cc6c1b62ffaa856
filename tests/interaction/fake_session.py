"""A Session whose Runs are played by the test, and what they are played with."""

import json
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import anyio

from agentslot.interaction import (
    AnswerApproval,
    ApprovalRequested,
    ChunksReset,
    Event,
    EventStream,
    EventStreamOverflow,
    Origin,
    PendingApproval,
    RevisionAdvanced,
    TextChunk,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from agentslot.session import (
    SERVICE_ACTOR,
    AgentId,
    AttemptId,
    Fact,
    Message,
    MessageId,
    ModelConfig,
    Payload,
    QueueItem,
    Role,
    RunId,
    SessionId,
    StepId,
    TextPart,
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

    def publish(self, make: Callable[[int], Event]) -> None:
        self.sequence += 1
        event = make(self.sequence)
        for stream in self.streams:
            if not stream.closed:
                stream.publish(event)

    def commit(self, *payloads: Payload) -> int:
        self.revision += 1
        for payload in payloads:
            number = len(self.facts) + 1
            self.facts.append(Fact(self.id, number, self.run_id, None, NOW, SERVICE_ACTOR, payload))
        self.publish(lambda n: RevisionAdvanced(Origin(self.id), n, self.revision))
        return self.revision


Script = Callable[["FakeRun"], Awaitable[None]]


class FakeRun:
    """What a script does its Run with."""

    def __init__(
        self, new_id: Callable[[str], str], session: FakeSession, message: Message
    ) -> None:
        self._new_id = new_id
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
        self._session.publish(
            lambda n: TextChunk(
                self.origin, n, MessageId(message_id), AttemptId(f"{message_id}-a1"), text
            ),
        )

    def reset(self, message_id: str) -> None:
        self._session.publish(
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
        self._session.commit(message)

    async def say(self, *chunks: str) -> None:
        """Stream an assistant message and make it durable."""
        message_id = self._new_id("m")
        for text in chunks:
            self.chunk(message_id, text)
            await anyio.lowlevel.checkpoint()
        self.commit(message_id, "".join(chunks))

    def call(self, name: str, arguments: object) -> ToolCall:
        """A durable tool call."""
        call = ToolCall(
            ToolCallId(self._new_id("c")),
            "",
            self.message_id,
            self.id,
            self.step_id,
            name,
            arguments if isinstance(arguments, str) else json.dumps(arguments),
        )
        self._session.commit(call)
        return call

    def start(self, call: ToolCall) -> None:
        self._session.publish(lambda n: ToolStarted(self.origin, n, call))

    def progress(self, call: ToolCall, text: str) -> None:
        self._session.publish(lambda n: ToolProgress(self.origin, n, call, text))

    def finish(self, call: ToolCall, result: ToolResult) -> None:
        self._session.publish(lambda n: ToolFinished(self.origin, n, call, result))
        self._session.commit(result)

    async def ask(self, call: ToolCall, reason: str) -> AnswerApproval:
        """Wait for a person's decision on a call."""
        digest = f"sha256:{call.id}"
        self._session.approvals[digest] = PendingApproval(call, reason, digest)
        self._session.answers[digest] = anyio.Event()
        self._session.publish(lambda n: ApprovalRequested(self.origin, n, call, reason, digest))
        try:
            await self._session.answers[digest].wait()
        finally:
            del self._session.approvals[digest]
        return self._session.answered[digest]


async def echo(run: FakeRun) -> None:
    """Say what was asked."""
    await run.say("echo: ", run.prompt)
