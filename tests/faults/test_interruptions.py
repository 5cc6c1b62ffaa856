"""Interrupted wherever it waits: a Run is cancelled, its Session closed, its caller gone.

The interruption comes at the n-th time that a part of the agent waits for something, for every n:
in the stream of the model, in a tool, in a guard, before and behind each commit. Whatever happens,
the History stays valid and the Session does the next thing that it is asked for.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import TaskGroup

from agentslot.interaction import SessionCommand
from agentslot.session import (
    ClassifiedError,
    MemoryStore,
    RunFact,
    RunStatus,
    SessionState,
)
from tests.faults import checks
from tests.faults.allscenarios import SCENARIOS
from tests.faults.harness import go_on, telling
from tests.faults.parts import StoppableStore
from tests.faults.scenario import Scenario
from tests.faults.stage import Stage, process
from tests.faults.world import World

pytestmark = pytest.mark.faults

TURNS = 8
"""How often other tasks get their turn before the part that was interrupted goes on."""

SAMPLE = 20

each_scenario = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)

Interruption = Callable[[Stage, anyio.CancelScope], Awaitable[None]]


async def cancel_every_run(stage: Stage, driving: anyio.CancelScope) -> None:
    del driving
    for session_id in list(stage.world.acknowledged):
        try:
            await stage.access.cancel(SessionCommand(session_id))
        except ClassifiedError as error:
            _only_because_it_is_closed(error)


async def close_every_session(stage: Stage, driving: anyio.CancelScope) -> None:
    del driving
    for session_id in list(stage.world.acknowledged):
        try:
            await stage.access.close_session(SessionCommand(session_id))
        except ClassifiedError as error:
            _only_because_it_is_closed(error)


async def close_and_go_away(stage: Stage, driving: anyio.CancelScope) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(close_every_session, stage, driving)
        for _ in range(TURNS // 2):
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()


async def go_away(stage: Stage, driving: anyio.CancelScope) -> None:
    del stage
    driving.cancel()


INTERRUPTIONS = (cancel_every_run, close_every_session, close_and_go_away, go_away)


def _only_because_it_is_closed(error: ClassifiedError) -> None:
    if error.code not in ("session_not_open", "runtime_closed"):
        raise error


each_interruption = pytest.mark.parametrize(
    "interruption", INTERRUPTIONS, ids=lambda interruption: interruption.__name__
)


@dataclass
class Interrupter:
    """Counts where an agent waits, and interrupts it the n-th time."""

    stage: Stage
    interruption: Interruption
    at: int
    waited: int = 0
    driving: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    tasks: TaskGroup = field(init=False)

    async def pause(self, name: str) -> None:
        del name
        self.waited += 1
        if self.waited - 1 != self.at:
            await anyio.lowlevel.checkpoint()
            return
        self.tasks.start_soon(self._interrupt)
        for _ in range(TURNS):
            await anyio.lowlevel.checkpoint()

    async def _interrupt(self) -> None:
        await self.interruption(self.stage, self.driving)
        self.driving.cancel()


@dataclass
class Interrupted:
    """What came of an interruption: how often the agent had waited, and how its Runs ended."""

    waited: int
    ends: set[RunStatus]


async def interrupt(scenario: Scenario, interruption: Interruption, at: int) -> Interrupted:
    """Interrupt the scenario at its `at`-th wait, let the Sessions go on, and check them."""
    world, memory = World(), MemoryStore()
    what = f"{scenario.name} interrupted at {at} by {getattr(interruption, '__name__', '')}"
    with telling(what, world):
        async with process(StoppableStore(memory, world), world, scenario.setup) as stage:
            waited = await _drive(scenario, stage, interruption, at)
            ends = {end for state in await _states(world, memory) for end in _ends(state)}
            stage.gate.open()
            stage.model.forget()
            for session_id in list(world.acknowledged):
                if interruption is not cancel_every_run:
                    await cancel_every_run(stage, anyio.CancelScope())
                await go_on(scenario, stage, session_id)
        for state in await _states(world, memory):
            checks.nothing_acknowledged_is_lost(world, state)
            checks.history_is_whole(state)
            checks.history_can_be_sent(state)
            checks.requests_can_be_made_again(state)
            checks.effects_happened_once(world, state)
    return Interrupted(waited, ends)


async def _drive(scenario: Scenario, stage: Stage, interruption: Interruption, at: int) -> int:
    interrupter = Interrupter(stage, interruption, at)
    stage.world.pause = interrupter.pause
    async with anyio.create_task_group() as interrupter.tasks:
        with interrupter.driving:
            try:
                await scenario.drive(stage)
            except ClassifiedError:
                assert interrupter.waited > at
    interrupter.at = -1
    return interrupter.waited


async def _states(world: World, memory: MemoryStore) -> list[SessionState]:
    return [(await memory.load(session_id)).state for session_id in world.acknowledged]


def _ends(state: SessionState) -> set[RunStatus]:
    facts = (fact.payload for fact in state.history)
    return {fact.status for fact in facts if isinstance(fact, RunFact)}


async def interrupt_at_every(
    step: int, first: int, scenario: Scenario, interruption: Interruption
) -> None:
    whole = await interrupt(scenario, interruption, 1 << 30)
    for at in range(first, whole.waited, step):
        interrupted = await interrupt(scenario, interruption, at)
        assert interrupted.ends <= whole.ends | {RunStatus.COMPLETED, RunStatus.CANCELED}


@each_scenario
@each_interruption
async def test_a_session_survives_an_interruption_at_some_places(
    scenario: Scenario, interruption: Interruption
) -> None:
    first = list(SCENARIOS).index(scenario.name) + INTERRUPTIONS.index(interruption)
    await interrupt_at_every(SAMPLE, first % SAMPLE, scenario, interruption)


@pytest.mark.heavy
@pytest.mark.timeout(600)
@each_scenario
@each_interruption
async def test_a_session_survives_an_interruption_wherever_it_waits(
    scenario: Scenario, interruption: Interruption
) -> None:
    await interrupt_at_every(1, 0, scenario, interruption)
