"""Small standard agents for tests: a scripted model, a store in memory, a channel in process."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio

from agentslot import Application, Module
from agentslot.interaction import ChannelSession, InProcessChannel, gateway_channel
from agentslot.model import (
    MODEL_EXECUTOR,
    TOKEN_COUNTER,
    AttemptOutcome,
    AttemptRecorder,
    Completed,
    Completion,
    ExecutionCapabilities,
    FinishReason,
    ModelEvent,
    ModelRequest,
    ModelStream,
    RequestedCall,
    TextDelta,
    TokenCount,
    TokenCounter,
)
from agentslot.session import (
    AttemptStatus,
    Fact,
    MemoryStoreModule,
    Message,
    ModelAttempt,
    ModelConfig,
    RunFact,
    TextPart,
    TokenUsage,
    ToolResult,
)
from agentslot.standardagent import AgentConfig, new_application
from agentslot.tool import Tool, ToolsModule, function_tool

MODEL = ModelConfig(provider="test", model="scripted")


class Answer:
    """One scripted answer; `hold` makes the model wait in the middle of it until it is set."""

    def __init__(self, completion: Completion, tokens: int = 2, hold: anyio.Event | None = None):
        self.completion = completion
        self.tokens = tokens
        self.hold = hold


def answer(text: str, *, tokens: int = 2, hold: anyio.Event | None = None) -> Answer:
    return Answer(Completion((TextPart(text),)), tokens, hold)


def call(name: str, arguments: str | None = None, /, **values: Any) -> RequestedCall:
    text = json.dumps(values) if arguments is None else arguments
    return RequestedCall(f"{name}-token", name, text)


def calls(*requested: RequestedCall, truncated: bool = False, tokens: int = 2) -> Answer:
    finish = FinishReason.LENGTH if truncated else FinishReason.TOOL_USE
    return Answer(Completion((), requested, finish), tokens)


class ScriptedModel:
    """Executor and counter in one: gives the answers in order and remembers the requests."""

    def __init__(self, script: Sequence[Answer]) -> None:
        self._script = list(script)
        self.requests: list[ModelRequest] = []
        self.streaming = anyio.Event()

    def script(self, *answers: Answer) -> None:
        self._script.extend(answers)

    def inspect(self, config: ModelConfig) -> ExecutionCapabilities:
        return ExecutionCapabilities(context_window_tokens=100_000)

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        return TokenCount(len(request.inputs))

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        self.requests.append(request)
        number = len(self.requests) - 1
        if number >= len(self._script):
            raise RuntimeError("the script has no more answers")
        return _Stream(self, self._script[number], recorder)


class _Stream:
    def __init__(self, model: ScriptedModel, scripted: Answer, recorder: AttemptRecorder) -> None:
        self._events = self._play(model, scripted, recorder)

    async def _play(
        self, model: ScriptedModel, scripted: Answer, recorder: AttemptRecorder
    ) -> AsyncIterator[ModelEvent]:
        attempt_id = await recorder.started()
        completion = scripted.completion
        for part in completion.parts:
            if isinstance(part, TextPart):
                yield TextDelta(attempt_id, part.text)
        if scripted.hold is not None:
            model.streaming.set()
            try:
                await scripted.hold.wait()
            except anyio.get_cancelled_exc_class():
                outcome = AttemptOutcome(AttemptStatus.CANCELED, error_code="canceled")
                await recorder.finished(attempt_id, outcome)
                raise
        usage = TokenUsage(input=1, output=1, total=scripted.tokens)
        await recorder.finished(attempt_id, AttemptOutcome(AttemptStatus.SUCCEEDED, usage))
        yield Completed(attempt_id, completion)

    async def receive(self) -> ModelEvent:
        try:
            return await anext(self._events)
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    async def aclose(self) -> None:
        await self._events.aclose()  # type: ignore[attr-defined]  # an async generator


class Gate:
    """A tool that waits inside until the test lets it go on; it counts how often it ran."""

    def __init__(self) -> None:
        self._entered = anyio.Event()
        self._open = anyio.Event()
        self.runs = 0

        @function_tool
        async def gate() -> str:
            """Wait at the gate."""
            self.runs += 1
            self._entered.set()
            await self._open.wait()
            return "passed"

        self.tool: Tool = gate

    async def entered(self) -> None:
        with anyio.fail_after(20):
            await self._entered.wait()

    def open(self) -> None:
        self._open.set()


class Agent:
    """A Session under test, and what it works with."""

    def __init__(
        self, channel: InProcessChannel, session: ChannelSession, model: ScriptedModel, gate: Gate
    ) -> None:
        self.access = channel.access
        self.session = session
        self.executor = model
        self.gate = gate

    def __getattr__(self, name: str) -> Any:
        return getattr(self.session, name)


def scripted_application(
    model: ScriptedModel,
    channel: InProcessChannel,
    *,
    tools: Sequence[Tool] = (),
    config: AgentConfig | None = None,
    modules: Sequence[Module] = (),
    store: Callable[[], Module] = MemoryStoreModule,
    counter: TokenCounter | None = None,
) -> Application:
    """A standard agent around the scripted model, all its tools exposed unless a config says."""
    keys = tuple(tool.definition.name for tool in tools)
    return new_application(
        "test",
        modules=[
            store(),
            Module("test.model", MODEL_EXECUTOR.set(model), TOKEN_COUNTER.set(counter or model)),
            ToolsModule(*tools),
            gateway_channel("test", channel),
            *modules,
        ],
        config=config or AgentConfig(tool_keys=keys),
        default_model=MODEL,
    )


@asynccontextmanager
async def agent(
    script: Sequence[Answer],
    *,
    tools: Sequence[Tool] = (),
    gated: bool = False,
    config: AgentConfig | None = None,
    modules: Sequence[Module] = (),
    store: Callable[[], Module] = MemoryStoreModule,
    model: Callable[[Sequence[Answer]], ScriptedModel] = ScriptedModel,
    counter: TokenCounter | None = None,
) -> AsyncGenerator[Any]:
    """A started agent with one new Session. `gated` adds the tool `gate`; without a `counter` the
    model counts.
    """
    executor, channel, gate = model(script), InProcessChannel(), Gate()
    offered = [*tools, gate.tool] if gated else list(tools)
    application = scripted_application(
        executor,
        channel,
        tools=offered,
        config=config,
        modules=modules,
        store=store,
        counter=counter,
    )
    with anyio.fail_after(20):
        async with application.start():
            session = await channel.create_session(agent="tester", workspace="default")
            yield Agent(channel, session, executor, gate)


def kinds(facts: Sequence[Fact]) -> list[str]:
    """The story of a History in words."""
    return [_kind(fact) for fact in facts]


def _kind(fact: Fact) -> str:
    match fact.payload:
        case RunFact(status=status) | ModelAttempt(status=status):
            return f"{fact.kind}:{status}"
        case ToolResult(status=tool_status):
            return f"{fact.kind}:{tool_status}"
        case Message(role=role):
            return f"{fact.kind}:{role}"
        case _:
            return fact.kind
