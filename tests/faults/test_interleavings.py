"""Commands that race: each commit waits until it is let through, in every order that matters.

One Run is in the middle of an answer and one message waits in the queue; then people send, steer,
cancel, edit, delete, hold and close at the same moment. Nothing that was promised may be lost, what
was refused may leave no trace, and nobody may wait for ever.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import permutations
from typing import TypeVar

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import TaskGroup
from hypothesis import given, settings
from hypothesis import strategies as st

from agentslot import Module
from agentslot.interaction import (
    GatewayAccess,
    MessageReceipt,
    QueuedCommand,
    SendMessage,
    SessionCommand,
)
from agentslot.model.testing import text_answer
from agentslot.session import (
    ClassifiedError,
    Delivery,
    MemoryStore,
    Message,
    MessageInput,
    RunFact,
    RunStatus,
    SessionState,
)
from tests.faults import checks
from tests.faults.allscenarios import SCENARIOS
from tests.faults.harness import go_on
from tests.faults.hookscenarios import hooked, lifecycles
from tests.faults.parts import StoppableStore
from tests.faults.scenarios import asking
from tests.faults.stage import Modules, Setup, Stage, process
from tests.faults.world import World

pytestmark = pytest.mark.faults

PLAIN = SCENARIOS["plain_answer"]
DEADLOCK_SECONDS = 10
TURNS = 40


T = TypeVar("T")


async def settle() -> None:
    """Let every task go as far as it can."""
    for _ in range(TURNS):
        await anyio.lowlevel.checkpoint()


class Parking:
    """Holds every write back until it is let through, in the order of arrival."""

    def __init__(self) -> None:
        self._waiting: list[anyio.Event] = []
        self.closed = False

    async def pause(self, name: str) -> None:
        if self.closed and name.endswith("before the write"):
            passed = anyio.Event()
            self._waiting.append(passed)
            await passed.wait()
        else:
            await anyio.lowlevel.checkpoint()

    def let_one_through(self) -> None:
        if self._waiting:
            self._waiting.pop(0).set()

    def open(self) -> None:
        self.closed = False
        while self._waiting:
            self.let_one_through()


class Race:
    """A Session with a Run in the middle of its answer, and the commands that race for it."""

    def __init__(self, stage: Stage, memory: MemoryStore, parking: Parking) -> None:
        self.stage = stage
        self.parking = parking
        self.answering = anyio.Event()
        self.outcomes: list[tuple[str, str]] = []
        self.expected: int | None = None
        self._memory = memory

    @property
    def access(self) -> GatewayAccess:
        return self.stage.access

    async def begin(self) -> None:
        self.stage.model.answers(text_answer("First.", gate=self.answering))
        session = await self.stage.session()
        self.id = session.id
        self.first = await self.stage.send(session, "The first")
        await self.stage.requested()
        self.queued = (await session.send("The queued")).message_id
        self.parking.closed = True

    async def state(self) -> SessionState:
        return (await self._memory.load(self.id)).state

    async def command(self, name: str) -> None:
        """Do it, and note what came of it."""
        try:
            await COMMANDS[name](self)
        except ClassifiedError as error:
            self.outcomes.append((name, error.code))
        else:
            self.outcomes.append((name, "done"))

    def message(self, text: str) -> SendMessage:
        return SendMessage(self.id, MessageInput.of(text), self.expected)

    def on_queued(self) -> QueuedCommand:
        return QueuedCommand(self.id, self.queued, self.expected)

    def on_session(self) -> SessionCommand:
        return SessionCommand(self.id, self.expected)

    def keep(self, receipt: MessageReceipt) -> None:
        self.stage.received(receipt)

    def done(self, *names: str) -> list[str]:
        """The commands that were carried out, of these if any are named."""
        return [
            n for n, outcome in self.outcomes if outcome == "done" and (not names or n in names)
        ]


async def _send(race: Race) -> None:
    race.keep(await race.access.send(race.message("Another")))


async def _steer(race: Race) -> None:
    race.keep(await race.access.steer(race.message("This way")))


async def _cancel(race: Race) -> None:
    await race.access.cancel(race.on_session())


async def _edit(race: Race) -> None:
    await race.access.edit_queued(race.on_queued(), MessageInput.of("The edited"))


async def _delete(race: Race) -> None:
    await race.access.delete_queued(race.on_queued())


async def _hold(race: Race) -> None:
    await race.access.reclassify_queued(race.on_queued(), Delivery.HELD)


async def _close(race: Race) -> None:
    await race.access.close_session(race.on_session())


async def _answer(race: Race) -> None:
    race.answering.set()


COMMANDS: dict[str, Callable[[Race], Awaitable[None]]] = {
    "send": _send,
    "steer": _steer,
    "cancel": _cancel,
    "edit": _edit,
    "delete": _delete,
    "hold": _hold,
    "close": _close,
    "answer": _answer,
}
WRITERS = ("send", "steer", "edit", "delete", "hold")
LET_THROUGH = "let one through"


@asynccontextmanager
async def a_race() -> AsyncGenerator[Race]:
    world, memory, parking = World(), MemoryStore(), Parking()
    world.pause = parking.pause
    async with process(StoppableStore(memory, world), world, Setup()) as stage:
        race = Race(stage, memory, parking)
        await race.begin()
        yield race


async def run(race: Race, steps: Sequence[str]) -> None:
    """Start the commands and let commits through in that order, then let everything end."""
    with anyio.fail_after(DEADLOCK_SECONDS):
        async with anyio.create_task_group() as tasks:
            for step in steps:
                if step == LET_THROUGH:
                    race.parking.let_one_through()
                else:
                    tasks.start_soon(race.command, step)
                await settle()
            race.answering.set()
            race.parking.open()


async def check(race: Race) -> None:
    """Promises are kept, refusals left no trace, and the Session goes on."""
    if not race.done("close"):
        await race.access.when_idle(race.id)
    _queued_message_is_as_was_promised(race, await race.state())
    await go_on(PLAIN, race.stage, race.id)
    state = await race.state()
    _queued_message_is_as_was_promised(race, state)
    checks.nothing_acknowledged_is_lost(race.stage.world, state)
    checks.history_is_whole(state)
    checks.history_can_be_sent(state)
    checks.requests_can_be_made_again(state)
    assert {code for _, code in race.outcomes} <= {
        "done",
        "revision_conflict",
        "queue_item_not_found",
        "no_active_run",
        "runtime_closed",
        "session_not_open",
    }


def _queued_message_is_as_was_promised(race: Race, state: SessionState) -> None:
    """Deleted: gone. Edited: that text. Otherwise: what was sent, wherever it is now."""
    history = [f.payload for f in state.history if isinstance(f.payload, Message)]
    everywhere = [*history, *(item.message for item in state.queue)]
    texts = [message.text for message in everywhere if message.id == race.queued]
    if race.done("delete"):
        assert texts == []
    else:
        assert texts == ["The edited" if race.done("edit") else "The queued"]


@given(
    steps=st.lists(st.sampled_from([*COMMANDS, LET_THROUGH, LET_THROUGH]), max_size=10),
    decided_together=st.booleans(),
)
@settings(deadline=None, max_examples=40)
async def test_racing_commands_keep_every_promise(steps: list[str], decided_together: bool) -> None:
    async with a_race() as race:
        if decided_together:
            race.expected = await race.access.revision(race.id)
        await run(race, steps)
        if decided_together:
            assert len(race.done(*WRITERS)) <= 1
        await check(race)


@pytest.mark.parametrize("first", WRITERS)
async def test_of_commands_decided_on_one_revision_one_wins(first: str) -> None:
    others = [name for name in WRITERS if name != first]
    for order in permutations(others, 2):
        async with a_race() as race:
            race.expected = await race.access.revision(race.id)
            await run(race, [first, *order])
            assert race.done() == [first]
            assert {code for _, code in race.outcomes} == {"done", "revision_conflict"}
            await check(race)


async def race_in_every_order(first: str, followers: int) -> None:
    others = [name for name in COMMANDS if name != first]
    for order in permutations(others, followers):
        for through in (0, 1, 2):
            async with a_race() as race:
                await run(race, [first, *[LET_THROUGH] * through, *order])
                await check(race)


@pytest.mark.parametrize("first", COMMANDS)
async def test_two_commands_race_in_every_order(first: str) -> None:
    await race_in_every_order(first, 1)


@pytest.mark.heavy
@pytest.mark.timeout(600)
@pytest.mark.parametrize("first", COMMANDS)
async def test_four_commands_race_in_every_order(first: str) -> None:
    await race_in_every_order(first, 3)


async def test_a_cancellation_that_overtakes_the_end_of_a_run_starts_no_other() -> None:
    async with a_race() as race:
        # The send holds the lock while the Run, and behind it the cancellation, wait to end it.
        steps = ["answer", "send", LET_THROUGH, "cancel", LET_THROUGH]
        await run(race, steps)
        await race.access.when_idle(race.id)
        state = await race.state()
    runs = [f.payload.status for f in state.history if isinstance(f.payload, RunFact)]
    assert runs == [RunStatus.STARTED, RunStatus.CANCELED]
    assert [item.message.text for item in state.queue] == ["The queued", "Another"]


async def test_an_application_that_stops_ends_the_run_that_a_send_is_just_starting() -> None:
    world, memory, parking = World(), MemoryStore(), Parking()
    async with (
        anyio.create_task_group() as tasks,
        stopping(world, memory, parking, tasks) as stage,
    ):
        stage.model.answers(text_answer("Never finished.", gate=anyio.Event()))
        session = await stage.session()
        parking.closed = True
        message = SendMessage(session.id, MessageInput.of("Hello"))
        tasks.start_soon(refused_or_not, stage.access.send, message)
    (state,) = [(await memory.load(session_id)).state for session_id in world.acknowledged]
    checks.history_is_whole(state)


def asking_with_hooks(world: World) -> Sequence[Module]:
    return [*asking(world), *hooked(lifecycles)(world)]


@pytest.mark.parametrize("through", range(8))
@pytest.mark.parametrize("modules", [asking, asking_with_hooks], ids=["", "with hooks"])
async def test_an_application_that_stops_ends_the_run_that_a_resume_is_just_starting(
    modules: Modules, through: int
) -> None:
    world, memory, parking = World(), MemoryStore(), Parking()
    state = await left_with_a_call_to_approve(memory)
    async with (
        anyio.create_task_group() as tasks,
        stopping(world, memory, parking, tasks, Setup(modules=modules)) as stage,
    ):
        parking.closed = True
        tasks.start_soon(refused_or_not, stage.access.resume_session, state.id)
        for _ in range(through):
            await settle()
            parking.let_one_through()
    after = (await memory.load(state.id)).state
    assert (after.active_run is None) or dict(after.journal) == dict(state.journal)


@asynccontextmanager
async def stopping(
    world: World,
    memory: MemoryStore,
    parking: Parking,
    tasks: TaskGroup,
    setup: Setup = PLAIN.setup,
) -> AsyncGenerator[Stage]:
    """An application that stops when the block ends, and its parked writes go on after that."""
    world.pause = parking.pause
    with anyio.fail_after(DEADLOCK_SECONDS):
        async with process(StoppableStore(memory, world), world, setup) as stage:
            yield stage
            await settle()
            tasks.start_soon(open_later, parking)


async def open_later(parking: Parking) -> None:
    await settle()
    parking.open()


async def refused_or_not(command: Callable[[T], Awaitable[object]], request: T) -> None:
    """What an application that stops says to the last command is its own affair."""
    with suppress(ClassifiedError):
        await command(request)


async def left_with_a_call_to_approve(memory: MemoryStore) -> SessionState:
    """What a process leaves that was killed while it asked for an approval."""
    scenario = SCENARIOS["approval_waiting_at_the_end"]
    world = World()
    async with process(StoppableStore(memory, world), world, scenario.setup) as stage:
        await scenario.drive(stage)
        world.kill()
    (session_id,) = world.acknowledged
    return (await memory.load(session_id)).state
