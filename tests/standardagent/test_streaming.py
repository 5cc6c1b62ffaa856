"""A delta is on its way to subscribers as soon as its bytes have come, whatever follows."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio
import pytest

from agentslot import Module
from agentslot.interaction import (
    ChannelSession,
    InProcessChannel,
    SessionEvents,
    TextChunk,
    gateway_channel,
)
from agentslot.model import (
    MODEL_EXECUTOR,
    TOKEN_COUNTER,
    AnthropicModule,
    AttemptOutcome,
    AttemptRecorder,
    Completed,
    Completion,
    ExecutionCapabilities,
    GoogleModule,
    ModelConfig,
    ModelEvent,
    ModelRequest,
    OllamaModule,
    OpenAICompatibleModule,
    OpenAIResponsesModule,
    TextDelta,
    TokenCount,
)
from agentslot.session import AttemptId, AttemptStatus, MemoryStoreModule, TextPart
from agentslot.standardagent import AgentConfig, new_application
from tests.loopback import Answer, loopback

PROVIDERS: dict[str, tuple[Callable[[str], Module], str]] = {
    "openai-completions": (
        lambda url: OpenAICompatibleModule(f"{url}/v1", api_key_env=None, models=["m"]),
        'data: {"choices":[{"delta":{"content":"Hello"}}]}\n\n',
    ),
    "openai-responses": (
        lambda url: OpenAIResponsesModule(["m"], base_url=url, api_key_env=None),
        'data: {"type":"response.output_text.delta","output_index":0,"delta":"Hello"}\n\n',
    ),
    "anthropic-messages": (
        lambda url: AnthropicModule(["m"], base_url=url, api_key_env=None),
        'data: {"type":"message","content":[{"type":"text","text":"Hello"}]}\n\n',
    ),
    "google-generative-ai": (
        lambda url: GoogleModule(["m"], base_url=url, api_key_env=None),
        'data: {"candidates":[{"content":{"parts":[{"text":"Hello"}]}}]}\n\n',
    ),
    "ollama-chat": (
        lambda url: OllamaModule(["m"], host=url),
        '{"message":{"content":"Hello"},"done":false}\n',
    ),
}


@asynccontextmanager
async def session_with(*modules: Module, provider: str) -> AsyncGenerator[ChannelSession]:
    """A Session of an agent that asks the model of these modules."""
    channel = InProcessChannel()
    application = new_application(
        "test",
        modules=[MemoryStoreModule(), gateway_channel("test", channel), *modules],
        config=AgentConfig(),
        default_model=ModelConfig(provider, "m"),
    )
    with anyio.fail_after(20):
        async with application.start():
            yield await channel.create_session(agent="test", workspace="default")


async def first_text(events: SessionEvents) -> str:
    while True:
        event = await events.receive()
        if isinstance(event, TextChunk):
            return event.text


@pytest.mark.parametrize("wire", PROVIDERS)
async def test_a_delta_is_heard_while_the_body_is_still_open(wire: str) -> None:
    make, body = PROVIDERS[wire]
    provider = wire.partition("-")[0]
    async with (
        loopback(Answer(body.encode(), hang=True)) as server,
        session_with(make(server.url), provider=provider) as session,
        session.events() as events,
    ):
        await session.send("hi")
        with anyio.fail_after(20):
            assert await first_text(events) == "Hello"
        assert not server.disconnected.is_set()
        await session.cancel()


class Flood:
    """A model whose whole answer is there at once, so that reading it never waits."""

    def __init__(self, deltas: int) -> None:
        self.deltas = deltas
        self.handed_on = 0

    def inspect(self, config: ModelConfig) -> ExecutionCapabilities:
        return ExecutionCapabilities(context_window_tokens=1_000_000)

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        return TokenCount(1)

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> "_FloodStream":
        return _FloodStream(self, recorder)


class _FloodStream:
    def __init__(self, model: Flood, recorder: AttemptRecorder) -> None:
        self._model, self._recorder = model, recorder
        self._attempt: AttemptId | None = None

    async def receive(self) -> ModelEvent:
        model = self._model
        if self._attempt is None:
            self._attempt = await self._recorder.started()
        if model.handed_on < model.deltas:
            model.handed_on += 1
            return TextDelta(self._attempt, "x")
        await self._recorder.finished(self._attempt, AttemptOutcome(AttemptStatus.SUCCEEDED))
        return Completed(self._attempt, Completion((TextPart("x" * model.deltas),)))

    async def aclose(self) -> None:
        pass


async def test_the_first_delta_is_heard_before_a_whole_buffered_answer_is_read() -> None:
    model = Flood(deltas=20_000)
    module = Module("test.model", MODEL_EXECUTOR.set(model), TOKEN_COUNTER.set(model))
    async with (
        session_with(module, provider="test") as session,
        session.events() as events,
    ):
        await session.send("hi")
        await first_text(events)
        assert model.handed_on < model.deltas
        await session.when_idle()
