"""The replaceable parts of an agent under test: each passes the points of its world."""

from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import anyio

from agentslot import Module, Registrar
from agentslot.model import (
    AttemptOutcome,
    AttemptRecorder,
    ExecutionCapabilities,
    ModelEvent,
    ModelRequest,
    ModelStream,
    TokenBudget,
    TokenCount,
)
from agentslot.model.testing import Script, ScriptedExecutor, text_answer
from agentslot.session import (
    SESSION_STORE,
    AgentId,
    AttemptId,
    Commit,
    CommitRequest,
    FileOperations,
    FileStore,
    Loaded,
    MemoryStore,
    ModelConfig,
    NewSession,
    PostgresStore,
    SessionId,
    SessionPage,
    SessionState,
    SqliteStore,
    ToolDefinition,
    ToolResult,
    WorkspaceId,
)
from agentslot.standardagent import Decision, PolicyEffect, ToolAction
from agentslot.tool import Effect, ToolInvocation
from tests.faults.world import World

T = TypeVar("T")


class TearingOperations(FileOperations):
    """Writes that can be cut in half. Nothing here loses its power, so nothing is flushed."""

    def __init__(self, world: World) -> None:
        self._world = world

    def write(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        def half() -> None:
            super(TearingOperations, self).write(descriptor, data[: len(data) // 2], offset)

        self._world.point("half written", half)
        return super().write(descriptor, data, offset)

    def flush(self, descriptor: int) -> None:
        """Leave it to the system."""

    def flush_directory(self, directory: Path) -> None:
        """Leave it to the system."""


class StoppableStore:
    """A store with a point before each write and before its answer.

    Attributes:
        created: the Sessions that it was asked for.
        requests: the commits that it was asked for.
    """

    def __init__(
        self, inner: FileStore | SqliteStore | PostgresStore | MemoryStore, world: World
    ) -> None:
        self.inner = inner
        self.created: list[NewSession] = []
        self.requests: list[CommitRequest] = []
        self._world = world

    async def create(self, new: NewSession) -> SessionState:
        self.created.append(new)
        return await self._write("create", lambda: self.inner.create(new), lambda made: made)

    async def commit(self, request: CommitRequest) -> Commit:
        self.requests.append(request)
        label = request.idempotency_key.rsplit("-", 2)[0].removeprefix("runtime-")
        return await self._write(
            label, lambda: self.inner.commit(request), lambda commit: commit.state
        )

    async def recover(self, session_id: SessionId) -> Loaded:
        return await self._write(
            "recover", lambda: self.inner.recover(session_id), lambda loaded: loaded.state
        )

    async def load(self, session_id: SessionId) -> Loaded:
        loaded = await self.inner.load(session_id)
        self._world.acknowledge(loaded.state)
        return loaded

    async def list_sessions(
        self, agent: AgentId, workspace: WorkspaceId, *, limit: int = 50, cursor: str = ""
    ) -> SessionPage:
        return await self.inner.list_sessions(agent, workspace, limit=limit, cursor=cursor)

    async def _write(
        self, label: str, write: Callable[[], Awaitable[T]], state: Callable[[T], SessionState]
    ) -> T:
        with self._world.noticing():
            await self._world.pause(f"{label}: before the write")
            self._world.point(f"{label}: before the write")
            answer = await write()
            self._world.point(f"{label}: written, not acknowledged")
            await self._world.pause(f"{label}: written, not acknowledged")
        self._world.acknowledge(state(answer))
        return answer


class StoppableStoreModule(Module):
    """Owns the medium of the store while the application runs."""

    id = "faults.store"

    def __init__(self, store: StoppableStore) -> None:
        self.store = store

    def register(self, registrar: Registrar) -> None:
        registrar.contribute(SESSION_STORE.set(self.store))

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        if isinstance(self.store.inner, MemoryStore):
            yield
            return
        async with self.store.inner:
            yield


class Model:
    """Executor and counter: plays the scripts of one call after the other, then just talks."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._calls = deque[Sequence[Script]]()
        self.sent = 0

    def answers(self, *calls: Script | Sequence[Script]) -> None:
        """What the next calls get; several scripts for one call are its attempts."""
        self._calls.extend([c] if isinstance(c, Script) else c for c in calls)

    def forget(self) -> None:
        """Drop the scripts that are left."""
        self._calls.clear()

    def inspect(self, config: ModelConfig) -> ExecutionCapabilities:
        del config
        return ExecutionCapabilities(context_window_tokens=1_000_000)

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        await self.world.pause("token counter")
        return TokenCount(len(request.inputs))

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        scripts = self._calls.popleft() if self._calls else [text_answer("That is all.")]
        sending = SendingRecorder(self, request.session_id, recorder)
        return PausingStream(ScriptedExecutor(*scripts).execute(request, sending), self.world)


class PausingStream:
    """Pauses before each event of a stream."""

    def __init__(self, inner: ModelStream, world: World) -> None:
        self._inner = inner
        self._world = world

    async def receive(self) -> ModelEvent:
        await self._world.pause("event of a stream")
        return await self._inner.receive()

    async def aclose(self) -> None:
        await self._world.pause("end of a stream")
        await self._inner.aclose()


class SendingRecorder:
    """Sends the request as soon as its start is durable: an effect that cannot be taken back."""

    def __init__(self, model: Model, session_id: SessionId, recorder: AttemptRecorder) -> None:
        self._model = model
        self._session_id = session_id
        self._recorder = recorder

    async def started(self) -> AttemptId:
        attempt_id = await self._recorder.started()
        self._model.world.request_effect(self._session_id, attempt_id)
        self._model.sent += 1
        await self._model.world.pause("request sent")
        return attempt_id

    async def finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        await self._recorder.finished(attempt_id, outcome)

    def budget(self) -> TokenBudget:
        return self._recorder.budget()


class Gate:
    """Something inside the agent waits here until the scenario opens it."""

    def __init__(self) -> None:
        self.entered = anyio.Event()
        self._opened = anyio.Event()

    async def wait(self) -> None:
        self.entered.set()
        await self._opened.wait()

    def open(self) -> None:
        self._opened.set()


class PausingGuard:
    """Allows everything, in its own time."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def evaluate(self, action: ToolAction) -> Decision:
        del action
        await self._world.pause("guard")
        return Decision(PolicyEffect.ALLOW)


class EffectTool:
    """A tool whose one effect the world remembers.

    Args:
        gate: the tool waits there after its effect.
        fails: it raises after its effect.
        terminate: it votes for the end of the Run.
    """

    def __init__(
        self,
        world: World,
        name: str,
        *,
        parallel_safe: bool = False,
        effect: Effect = Effect.READ,
        gate: Gate | None = None,
        fails: bool = False,
        terminate: bool = False,
    ) -> None:
        schema = {"type": "object", "properties": {"text": {"type": "string"}}}
        self.definition = ToolDefinition(name, f"The tool {name}.", schema)
        self.parallel_safe = parallel_safe
        self.effect = effect
        self._world = world
        self._gate = gate
        self._fails = fails
        self._terminate = terminate

    async def invoke(self, invocation: ToolInvocation) -> ToolResult:
        call = invocation.call
        await self._world.pause(f"{call.name} begins")
        self._world.tool_effect(invocation.session_id, call.id)
        if self._gate is not None:
            await self._gate.wait()
        await self._world.pause(f"{call.name} ends")
        if self._fails:
            raise RuntimeError("this tool always fails")
        result = ToolResult.succeeded(call.id, f"{call.name} is done")
        return replace(result, terminate=self._terminate)
