"""A standard agent around a component under test."""

import logging
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import TypeVar, cast

from agentslot import Assembly, Chain, Module, One
from agentslot._conformance import demand
from agentslot.interaction import ChannelSession, InProcessChannel, gateway_channel
from agentslot.model import MODEL_EXECUTOR, TOKEN_COUNTER
from agentslot.session import SESSION_STORE, MemoryStore, RunFact, RunStatus, SessionId, ToolResult
from agentslot.standardagent.application import new_application
from agentslot.standardagent.config import AgentConfig
from agentslot.standardagent.conformance.players import (
    MODEL,
    MortalStore,
    ObedientModel,
    ObedientTool,
)
from agentslot.tool import TOOLS, Effect

T = TypeVar("T")

Make = Callable[[], object]
"""Makes the component under test: the component, or a Module that brings it. Called for each
application, as each process of a user would."""

TOOL_EFFECTS = {
    "think": Effect.PURE,
    "look": Effect.READ,
    "note": Effect.WRITE,
    "send": Effect.IRREVERSIBLE,
}
"""The tools of every stage."""


def part(slot: One[T] | Chain[T], make: Make) -> Module:
    """The component under test as a module of an application."""
    made = make()
    if isinstance(made, Module):
        return made
    component = cast("T", made)
    contribution = slot.set(component) if isinstance(slot, One) else slot.append(component)
    return Module("conformance.subject", contribution)


class Stage:
    """A running application.

    Attributes:
        made: the texts of the calls that tools were given.
        complaints: what the log has against components, one line each.
    """

    def __init__(self, store: MortalStore, tools: Sequence[str]) -> None:
        self.store = store
        self.model = ObedientModel()
        self.made: list[str] = []
        self.complaints: list[str] = []
        self.channel = InProcessChannel()
        self.tools = [
            ObedientTool(name, TOOL_EFFECTS.get(name, Effect.WRITE), self.made) for name in tools
        ]
        self.assembly: Assembly

    def subjects(self, slot: Chain[T]) -> list[T]:
        """The components of a chain that are under test: those that are not of this package."""
        own = __name__.rpartition(".")[0]
        found = [each for each in self.assembly[slot] if not type(each).__module__.startswith(own)]
        demand(bool(found), f"it brings nothing for the slot {slot.id}")
        return found

    async def session(self) -> ChannelSession:
        """A new Session."""
        return await self.channel.create_session(agent="conformance", workspace="default")

    async def results(self, session_id: SessionId) -> list[ToolResult]:
        """The results of all calls of a Session, in order."""
        facts = (await self.store.load(session_id)).state.history
        return [fact.payload for fact in facts if isinstance(fact.payload, ToolResult)]

    async def last_run(self, session_id: SessionId) -> RunFact:
        """How the last Run of a Session ended, once it has."""
        await self.channel.access.when_idle(session_id)
        facts = (await self.store.load(session_id)).state.history
        return next(fact.payload for fact in reversed(facts) if isinstance(fact.payload, RunFact))

    async def expect_end(self, session: ChannelSession, status: RunStatus) -> None:
        """Demand how the last Run has ended."""
        run = await self.last_run(session.id)
        why = "" if run.termination is None else f": {run.termination.message}"
        ended = f"the Run ended as {run.status} instead of {status}{why}"
        demand(run.status is status, ended + self.complained())

    def complained(self) -> str:
        """What the log says, to put behind a detail."""
        return f" (the log: {first(self.complaints)})" if self.complaints else ""

    def expect_no_complaints(self) -> None:
        """Demand that the log has nothing against the component."""
        demand(not self.complaints, first(self.complaints))


def first(complaints: Sequence[str]) -> str:
    """The first of many complaints, which is often the cause of the others."""
    more = f" (and {len(complaints) - 1} more)" if complaints[1:] else ""
    return f"{complaints[0]}{more}" if complaints else ""


@asynccontextmanager
async def staged(
    *modules: Module,
    config: AgentConfig = AgentConfig(),  # noqa: B008  # a frozen value
    disk: MemoryStore | None = None,
    dies_after: str = "",
    tools: Sequence[str] = tuple(TOOL_EFFECTS),
) -> AsyncGenerator[Stage]:
    """Run an application with these modules.

    Args:
        modules: what is under test, and what it needs.
        config: settings; the tools are added to them.
        disk: what earlier processes have stored.
        dies_after: the process dies when a commit with that label has been made.
        tools: names of its tools.
    """
    stage = Stage(MortalStore(disk or MemoryStore(), dies_after), tools)
    names = tuple(tool.definition.name for tool in stage.tools)
    application = new_application(
        "conformance",
        modules=[
            Module("conformance.store", SESSION_STORE.set(stage.store)),
            Module(
                "conformance.model",
                MODEL_EXECUTOR.set(stage.model),
                TOKEN_COUNTER.set(stage.model),
                *(TOOLS.add(tool.definition.name, tool) for tool in stage.tools),
            ),
            gateway_channel("conformance", stage.channel),
            *modules,
        ],
        config=replace(config, tool_keys=names),
        default_model=MODEL,
    )
    with _listening(stage.complaints):
        async with application.start() as running:
            stage.assembly = running.assembly
            try:
                yield stage
            finally:
                stage.store.bury()


class _Complaints(logging.Handler):
    """Keeps the errors that the Runtime logs."""

    def __init__(self, complaints: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._complaints = complaints

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it in one line."""
        cause = record.exc_info[1] if record.exc_info else None
        told = record.getMessage() if cause is None else f"{record.getMessage()}: {cause!r}"
        self._complaints.append(told)


@contextmanager
def _listening(complaints: list[str]) -> Generator[None]:
    log, handler = logging.getLogger("agentslot"), _Complaints(complaints)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
