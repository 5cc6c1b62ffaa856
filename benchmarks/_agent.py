"""Our side of the agent workloads: n turns of one model call and, but for the last, one tool call.

The model and its counter do no work; everything that a Session records is recorded.
"""

from contextlib import AbstractAsyncContextManager

import anyio

from agentslot import Module
from agentslot.interaction import InProcessChannel, gateway_channel
from agentslot.model import (
    MODEL_EXECUTOR,
    TOKEN_COUNTER,
    AttemptOutcome,
    AttemptRecorder,
    Completed,
    Completion,
    ExecutionCapabilities,
    ModelEvent,
    ModelRequest,
    RequestedCall,
    TokenCount,
)
from agentslot.session import (
    AttemptStatus,
    Message,
    ModelConfig,
    Role,
    TextPart,
    TokenUsage,
)
from agentslot.standardagent import AgentConfig, new_application
from agentslot.tool import ToolsModule, function_tool

_COUNT = TokenCount(1)
_CAPABILITIES = ExecutionCapabilities(context_window_tokens=10_000_000)
_DONE = Completion((TextPart("done"),))
_USAGE = TokenUsage(10, 5, total=15)


@function_tool
async def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


class WorkloadModel:
    """Asks for `add` until the wanted number of turns is reached, then says `done`."""

    def __init__(self, turns: int, latency_seconds: float = 0) -> None:
        self.turns = turns
        self.latency_seconds = latency_seconds

    def inspect(self, config: ModelConfig) -> ExecutionCapabilities:
        return _CAPABILITIES

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        return _COUNT

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> "_Stream":
        # A turn adds a message, a call and a result; the first input is the user's message.
        return _Stream(self, (len(request.inputs) - 1) // 3 + 1, recorder)


class _Stream:
    def __init__(self, model: WorkloadModel, turn: int, recorder: AttemptRecorder) -> None:
        self._model, self._turn, self._recorder = model, turn, recorder
        self._ended = False

    async def receive(self) -> ModelEvent:
        if self._ended:
            raise anyio.EndOfStream
        self._ended = True
        attempt_id = await self._recorder.started()
        if self._model.latency_seconds:
            await anyio.sleep(self._model.latency_seconds)
        await self._recorder.finished(attempt_id, AttemptOutcome(AttemptStatus.SUCCEEDED, _USAGE))
        if self._turn >= self._model.turns:
            return Completed(attempt_id, _DONE)
        arguments = f'{{"a":{self._turn},"b":2}}'
        return Completed(attempt_id, Completion((), (RequestedCall("c", "add", arguments),)))

    async def aclose(self) -> None:
        pass


class Workload:
    """A started agent on a given store, ready to run the workload in new Sessions."""

    def __init__(self, store: Module, turns: int, latency_seconds: float = 0) -> None:
        model = WorkloadModel(turns, latency_seconds)
        self.channel = InProcessChannel()
        self._application = new_application(
            "bench",
            modules=[
                store,
                Module("bench.model", MODEL_EXECUTOR.set(model), TOKEN_COUNTER.set(model)),
                ToolsModule(add),
                gateway_channel("bench", self.channel),
            ],
            config=AgentConfig(tool_keys=("add",)),
            default_model=ModelConfig("bench", "scripted"),
        )

    def running(self) -> AbstractAsyncContextManager[object]:
        """The application while it runs."""
        return self._application.start()

    async def run(self) -> None:
        """One run of all turns in a new Session."""
        session = await self.channel.create_session(agent="bench", workspace="bench")
        result = await session.send_and_wait("go")
        last: Message = result.messages[-1]
        assert (last.role, last.text) == (Role.ASSISTANT, "done"), result
