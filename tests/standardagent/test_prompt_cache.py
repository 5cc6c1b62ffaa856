"""A provider's cache that was lost, as whoever listens and whoever measures hear of it."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal

import anyio

from agentslot import Module
from agentslot.interaction import (
    ChannelSession,
    Event,
    InProcessChannel,
    PromptCacheLost,
    gateway_channel,
)
from agentslot.interaction.cli import LiveView, Screen
from agentslot.model import (
    AnthropicModule,
    CacheLossReason,
    ExecutionCapabilities,
    ModelConfig,
    ModelDescriptor,
    Price,
    PromptSection,
    Stability,
)
from agentslot.session import MemoryStoreModule
from agentslot.standardagent import (
    AgentConfig,
    CacheLossTrace,
    TailCompactorModule,
    new_application,
)
from agentslot.standardagent.command.showing import event_record
from tests.interaction.terminal import ShownText
from tests.loopback import Answer, loopback
from tests.model import test_anthropic_decoder as messages
from tests.standardagent.observe.recording import Recording

PRICE = Price(Decimal(10), Decimal(50), cached_input=Decimal(1), cache_write=Decimal("12.5"))
BIG, SMALL = ModelConfig("anthropic", "big"), ModelConfig("anthropic", "small")


def says_hi(*, read: int, written: int) -> Answer:
    usage = {
        "input_tokens": 3,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": 1,
    }
    hi = messages.block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "hi"})
    start = {"type": "message_start", "message": {"usage": usage}}
    return Answer(messages.sse(start, *hi, *messages.stop()))


class Listening:
    """A Session, the module that it asks, and all that is heard of it."""

    def __init__(self, session: ChannelSession, module: AnthropicModule) -> None:
        self.session = session
        self.module = module
        self.events: list[Event] = []

    @property
    def lost(self) -> list[PromptCacheLost]:
        return [event for event in self.events if isinstance(event, PromptCacheLost)]


@asynccontextmanager
async def agent(
    recording: Recording,
    *answers: Answer,
    config: AgentConfig | None = None,
    modules: Sequence[Module] = (),
) -> AsyncGenerator[Listening]:
    channel = InProcessChannel()
    capabilities = ExecutionCapabilities(100_000)
    models = [
        ModelDescriptor("anthropic", name, capabilities, price=PRICE) for name in ("big", "small")
    ]
    with anyio.fail_after(20):
        async with loopback(*answers) as server:
            module = AnthropicModule(models, base_url=server.url, api_key_env=None)
            application = new_application(
                "test",
                modules=[
                    MemoryStoreModule(),
                    module,
                    recording.module(),
                    gateway_channel("test", channel),
                    *modules,
                ],
                config=config,
                default_model=BIG,
            )
            async with application.start():
                session = await channel.create_session(agent="a", workspace="w")
                heard = Listening(session, module)
                async with session.events() as events, anyio.create_task_group() as tasks:

                    async def listen() -> None:
                        async for event in events:
                            heard.events.append(event)

                    tasks.start_soon(listen)
                    yield heard
                    await session.close()


async def test_whoever_listens_hears_why_it_was_lost_and_what_that_cost() -> None:
    recording = Recording()
    answers = says_hi(read=0, written=10_000), says_hi(read=10_000, written=50)
    async with agent(recording, *answers, says_hi(read=0, written=10_100)) as heard:
        for text in ("one", "two", "three"):
            await heard.session.send_and_wait(text)
    [event] = heard.lost
    assert (event.loss.reason, event.loss.changed) == (CacheLossReason.EVICTED, ())
    assert event.loss.tokens == 10_050
    assert event.loss.cost_usd == Decimal(10_050) * (Decimal("12.5") - 1) / 1_000_000
    [trace] = [each for each in recording.traces if isinstance(each, CacheLossTrace)]
    assert (trace.attempt_id, trace.run_id) == (event.attempt_id, event.origin.run_id)
    assert (trace.reason, trace.tokens) == (CacheLossReason.EVICTED, 10_050)
    lost = {"provider": "anthropic", "model": "big", "reason": "evicted"}
    assert ("agent.model.cache.lost.tokens", lost) in recording.counts
    stats = heard.module.cache_stats
    assert (stats.hits, stats.misses, stats.losses) == (1, 2, 1)


async def test_a_switch_of_the_model_is_named_as_the_cause() -> None:
    answers = says_hi(read=0, written=10_000), says_hi(read=0, written=10_100)
    async with agent(Recording(), *answers) as heard:
        await heard.session.send_and_wait("one")
        await heard.session.update_model_config(SMALL)
        await heard.session.send_and_wait("two")
    [event] = heard.lost
    assert event.loss.changed == (PromptSection("model", Stability.SESSION),)
    record = event_record(event)
    assert record["type"] == "prompt_cache_lost"
    assert json.loads(json.dumps(record))["loss"] == {
        "reason": "changed",
        "changed": [{"name": "model", "stability": "session"}],
        "tokens": 10_000,
        "cost_usd": "0.115",
    }
    notes = ShownText()
    LiveView(Screen(ShownText(), notes), clock=lambda: 0.0).show(event)
    assert "prompt cache lost: model changed; 10,000 tokens read again for $0.1150" in (
        notes.getvalue()
    )


async def test_a_conversation_that_was_shortened_is_named_as_the_cause() -> None:
    config = AgentConfig(system_prompt="Be brief.", hard_token_limit=10_000)
    answers = says_hi(read=0, written=10_000), says_hi(read=0, written=300)
    async with agent(
        Recording(), *answers, config=config, modules=[TailCompactorModule(1)]
    ) as heard:
        await heard.session.send_and_wait("one")
        await heard.session.send_and_wait("two")
    [event] = heard.lost
    assert event.loss.changed == (PromptSection("conversation", Stability.GROWING),)
    assert event.loss.tokens == 303


async def test_a_cache_that_was_used_is_not_worth_a_word() -> None:
    answers = says_hi(read=0, written=10_000), says_hi(read=10_000, written=50)
    recording = Recording()
    async with agent(recording, *answers) as heard:
        await heard.session.send_and_wait("one")
        await heard.session.send_and_wait("two")
    assert heard.lost == []
    assert "model.cache.lost" not in recording.kinds
