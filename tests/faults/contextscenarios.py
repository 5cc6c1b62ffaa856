"""Requests that show more than the conversation, or less of it."""

from collections.abc import Sequence

from agentslot import Module
from agentslot.model.testing import text_answer
from agentslot.session import Message, MessageInput
from agentslot.standardagent import (
    CONTEXT_COMPACTOR,
    CONTEXT_SOURCES,
    AgentConfig,
    Compaction,
    ContextInput,
    ContextRetention,
    TailCompactor,
)
from tests.faults.scenario import calling, scenario
from tests.faults.stage import Stage
from tests.faults.world import World


class Source:
    """Adds a message to every request, unless the conversation asks it to fail."""

    def __init__(self, world: World, key: str) -> None:
        self.key = key
        self._world = world

    async def contribute(self, context: ContextInput) -> Sequence[MessageInput]:
        await self._world.pause(f"source {self.key}")
        messages = [each for each in context.inputs if isinstance(each, Message)]
        if messages[-1].text == "Fail":
            raise RuntimeError("the source is dry")
        return [MessageInput.of(f"{self.key} after {len(context.inputs)}")]


class Compactor:
    """Keeps the newest turns, in its own time."""

    def __init__(self, world: World, max_inputs: int) -> None:
        self._world = world
        self._tail = TailCompactor(max_inputs)

    async def compact(self, context: ContextInput) -> Compaction:
        await self._world.pause("compactor")
        return await self._tail.compact(context)


def sources(world: World) -> Sequence[Module]:
    both = Source(world, "weather"), Source(world, "news")
    return (Module("faults.sources", *map(CONTEXT_SOURCES.append, both)),)


def compactor(world: World) -> Sequence[Module]:
    return (Module("faults.compactor", CONTEXT_COMPACTOR.set(Compactor(world, 4))),)


@scenario(sources)
async def sources_add_to_each_request(stage: Stage) -> None:
    stage.model.answers(calling("note"), text_answer("First."), text_answer("Second."))
    session = await stage.session()
    await stage.ask(session, "The first")
    await stage.ask(session, "The second")


@scenario(sources)
async def source_fails(stage: Stage) -> None:
    session = await stage.session()
    await stage.ask(session, "Fail")


@scenario(
    compactor,
    config=AgentConfig(hard_token_limit=6, context_retention=ContextRetention.RETAIN_ALL),
)
async def long_conversation_compacted(stage: Stage) -> None:
    stage.model.answers(
        calling("note"), text_answer("First."), text_answer("Second."), text_answer("Third.")
    )
    session = await stage.session()
    for text in ("The first", "The second", "The third"):
        await stage.ask(session, text)


@scenario(compactor, config=AgentConfig(hard_token_limit=6))
async def one_turn_too_long_to_compact(stage: Stage) -> None:
    stage.model.answers(calling("note", "note", "note"), text_answer("Never said."))
    await stage.ask(await stage.session(), "Note three things")


@scenario(
    lambda world: [*sources(world), *compactor(world)], config=AgentConfig(hard_token_limit=8)
)
async def compacted_with_sources(stage: Stage) -> None:
    stage.model.answers(calling("note"), text_answer("First."), text_answer("Second."))
    session = await stage.session()
    for text in ("The first", "The second"):
        await stage.ask(session, text)
