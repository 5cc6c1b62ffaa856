"""Who is asked how many tokens a request has, and what it costs to ask."""

from collections.abc import Callable

import anyio
import pytest

from agentslot import Contribution, Module
from agentslot.interaction import InProcessChannel, gateway_channel
from agentslot.model import (
    MODEL_EXECUTOR,
    MODEL_PROVIDERS,
    TOKEN_COUNTER,
    ModelRequest,
    TokenCount,
)
from agentslot.session import MemoryStoreModule
from agentslot.standardagent import new_application
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


Fill = Callable[[Provider], list[Contribution]]

FILLS: list[tuple[Fill, str]] = [
    (lambda it: [MODEL_PROVIDERS.add("test", it)], "run"),
    (lambda it: [MODEL_EXECUTOR.set(it), TOKEN_COUNTER.set(it)], "run"),
    (lambda it: [MODEL_EXECUTOR.set(it), TOKEN_COUNTER.set(Counter(it))], "token"),
]


@pytest.mark.parametrize(("fill", "task"), FILLS)
async def test_only_a_counter_that_stands_alone_costs_a_task(fill: Fill, task: str) -> None:
    provider, channel = Provider(), InProcessChannel()
    application = new_application(
        "test",
        modules=[
            MemoryStoreModule(),
            Module("test.model", *fill(provider)),
            gateway_channel("test", channel),
        ],
        default_model=MODEL,
    )
    async with application.start():
        session = await channel.create_session(agent="a", workspace="w")
        assert (await session.send_and_wait("go")).text == "one"
    assert provider.tasks == [task]
