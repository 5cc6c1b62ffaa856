"""One process of an agent under test: the application, and what a scenario does with it."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import anyio

from agentslot import Module
from agentslot.interaction import (
    ChannelSession,
    GatewayAccess,
    InProcessChannel,
    MessageReceipt,
    RunResult,
    gateway_channel,
)
from agentslot.model import MODEL_EXECUTOR, TOKEN_COUNTER
from agentslot.session import MessageId, ModelConfig, RunFact, RunStatus
from agentslot.standardagent import POLICY_GUARDS, AgentConfig, ApprovalDeskModule, new_application
from agentslot.tool import Effect, ToolsModule
from tests.faults.parts import (
    EffectTool,
    Gate,
    Model,
    PausingGuard,
    StoppableStore,
    StoppableStoreModule,
)
from tests.faults.world import World

MODEL = ModelConfig(provider="test", model="scripted")
DEADLOCK_SECONDS = 20


Modules = Callable[[World], Sequence[Module]]


def no_modules(world: World) -> Sequence[Module]:
    del world
    return ()


@dataclass(frozen=True)
class Setup:
    """What an application is made of beside the parts that every scenario has.

    Attributes:
        config: settings; the tools are added to them.
        modules: makes further modules, new ones for each process.
    """

    config: AgentConfig = field(default_factory=AgentConfig)
    modules: Modules = no_modules


class Stage:
    """What a scenario works with in one process."""

    def __init__(self, world: World, store: StoppableStore) -> None:
        self.world = world
        self.store = store
        self.channel = InProcessChannel()
        self.model = Model(world)
        self.gate = Gate()
        self.tools = (
            EffectTool(world, "note"),
            EffectTool(world, "look", parallel_safe=True),
            EffectTool(world, "store", effect=Effect.WRITE),
            EffectTool(world, "wait", gate=self.gate),
            EffectTool(world, "fail", fails=True),
            EffectTool(world, "finish", terminate=True),
        )

    @property
    def access(self) -> GatewayAccess:
        return self.channel.access

    async def session(self) -> ChannelSession:
        return await self.channel.create_session(agent="tester", workspace="default")

    async def send(self, session: ChannelSession, text: str) -> MessageId:
        return self.received(await session.send(text))

    async def steer(self, session: ChannelSession, text: str) -> MessageId:
        return self.received(await session.steer(text))

    async def ask(self, session: ChannelSession, text: str) -> RunResult:
        result = await session.send_and_wait(text)
        self.world.accept(result.session_id, result.message_id)
        return result

    def received(self, receipt: MessageReceipt) -> MessageId:
        """Keep the world to the receipt."""
        self.world.accept(receipt.session_id, receipt.message_id)
        return receipt.message_id

    async def asked(self, session: ChannelSession) -> str:
        """Wait until a call of the Session waits for approval; its digest."""
        async with session.events() as events:
            view = await session.view()
            if view.approvals:
                return view.approvals[0].digest
            async for event in events:
                if event.kind == "approval_requested":
                    return event.digest
        await session.view()  # says that the Session was closed
        raise AssertionError("the events of an open Session have ended")

    async def end_of_first_run(self, session: ChannelSession) -> int:
        """Sequence of the fact that ends it."""
        page = await session.history()
        ends = (
            fact.sequence
            for fact in page.facts
            if isinstance(fact.payload, RunFact) and fact.payload.status is not RunStatus.STARTED
        )
        return next(ends)

    async def requested(self, count: int = 1) -> None:
        """Wait until so many requests of this process have gone out."""
        await self.world.until(lambda: self.model.sent >= count)


@asynccontextmanager
async def process(store: StoppableStore, world: World, setup: Setup) -> AsyncGenerator[Stage]:
    """A process from its start to its end, whether that is natural or not."""
    stage = Stage(world, store)
    keys = tuple(tool.definition.name for tool in stage.tools)
    application = new_application(
        "faults",
        modules=[
            StoppableStoreModule(stage.store),
            Module("faults.model", MODEL_EXECUTOR.set(stage.model), TOKEN_COUNTER.set(stage.model)),
            ToolsModule(*stage.tools),
            ApprovalDeskModule(),
            Module("faults.guard", POLICY_GUARDS.append(PausingGuard(world))),
            gateway_channel("faults", stage.channel),
            *setup.modules(world),
        ],
        config=replace(setup.config, system_prompt="Be brief.", tool_keys=keys),
        default_model=MODEL,
    )
    with anyio.fail_after(DEADLOCK_SECONDS):
        async with application.start():
            yield stage
