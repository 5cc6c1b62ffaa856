"""Who is asked how many tokens a request has, and what it costs to ask."""

from collections.abc import Callable

import anyio
import pytest

from agentslot import Contribution, Module
from agentslot.interaction import InProcessChannel, RunResult, gateway_channel
from agentslot.model import (
    MODEL_EXECUTOR,
    MODEL_PROVIDERS,
    TOKEN_COUNTER,
    ModelRequest,
    TokenCount,
)
from agentslot.session import MemoryStoreModule
from agentslot.standardagent import AgentConfig, new_application
from tests.standardagent.agents import MODEL, ScriptedModel, answer


class Provider(ScriptedModel):
    """Executes and counts; remembers in which tasks it has counted."""

    def __init__(self) -> None:
        super().__init__([answer("one")])
        self.tasks = list[str]()

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        self.tasks.append((anyio.get_current_task().name or "").partition(" ")[0])
        return await super().count_tokens(request)

    async def fingerprint(self, request: ModelRequest) -> str:
        raise AssertionError("nobody asks it for an answer")


class Counter:
    """Counts as the provider does."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        return await self._provider.count_tokens(request)


class OfflineProvider(Provider):
    """Asks no server when it counts, and says so."""

    counts_offline = True


class HangingProvider(Provider):
    """Waits for a server that never answers."""

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        await anyio.sleep_forever()
        return TokenCount(1)


Fill = Callable[[Provider], list[Contribution]]


def provide(it: Provider) -> list[Contribution]:
    return [MODEL_PROVIDERS.add("test", it)]


CASES: list[tuple[type[Provider], Fill, str]] = [
    (OfflineProvider, provide, "run"),
    (Provider, provide, "guest"),
    (Provider, lambda it: [MODEL_EXECUTOR.set(it), TOKEN_COUNTER.set(it)], "run"),
    (Provider, lambda it: [MODEL_EXECUTOR.set(it), TOKEN_COUNTER.set(Counter(it))], "guest"),
]


async def run(contributions: list[Contribution], config: AgentConfig | None = None) -> RunResult:
    channel = InProcessChannel()
    application = new_application(
        "test",
        modules=[
            MemoryStoreModule(),
            Module("test.model", *contributions),
            gateway_channel("test", channel),
        ],
        config=config,
        default_model=MODEL,
    )
    async with application.start():
        session = await channel.create_session(agent="a", workspace="w")
        return await session.send_and_wait("go")


@pytest.mark.parametrize(("kind", "fill", "task"), CASES)
async def test_only_a_counter_that_may_have_to_be_waited_for_costs_a_task(
    kind: type[Provider], fill: Fill, task: str
) -> None:
    provider = kind()

    result = await run(fill(provider))

    assert result.text == "one"
    assert provider.tasks == [task]


async def test_a_provider_that_hangs_when_it_counts_is_not_waited_for_for_ever() -> None:
    config = AgentConfig(component_timeout_seconds=0.001)

    result = await run(provide(HangingProvider()), config)

    assert result.termination is not None
    assert result.termination.code == "context_preparation_failed"
