"""A running agent whose disk fails one write: the Session goes on, or says that it cannot.

Whatever was asked for at that moment may be refused. After it the Session must come to rest, be
opened again if it was closed, and do the next thing it is asked for, all in the same process.
"""

import errno
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path

import anyio
import pytest

from agentslot.interaction import SessionCommand
from agentslot.model.testing import text_answer
from agentslot.session import (
    ClassifiedError,
    Commit,
    CommitRequest,
    ErrorKind,
    FileStore,
    Message,
    RunStatus,
    SessionId,
    ToolResult,
    ToolStatus,
)
from tests.faults.allscenarios import SCENARIOS
from tests.faults.disk import ALWAYS, APPENDING, FailingOperations, Fault, Leaves
from tests.faults.harness import Trial, give_up, go_on, telling
from tests.faults.media import DATABASE, FILES
from tests.faults.parts import StoppableStore
from tests.faults.scenario import Scenario, calling
from tests.faults.stage import Setup, Stage, process
from tests.faults.world import World

pytestmark = pytest.mark.faults

FAULTS = [fault for fault in APPENDING if fault.leaves is not Leaves.IT_DONE]
SAMPLE = 20
PLAIN = Setup()

DISK_FULL = Fault("disk full", {"write": ALWAYS}, code=errno.ENOSPC)
IN_DOUBT = Fault("flush and truncate", {"flush": 1, "truncate": 1}, Leaves.DOUBT)


class LateStore(StoppableStore):
    """Refuses the first commit, which it has made all the same."""

    async def commit(self, request: CommitRequest) -> Commit:
        made = await super().commit(request)
        if len(self.requests) == 1:
            raise ClassifiedError(ErrorKind.UNAVAILABLE, "not_durable", "the answer was lost")
        return made


each_scenario = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


def running(
    folder: Path, operations: FailingOperations, world: World | None = None, setup: Setup = PLAIN
) -> AbstractAsyncContextManager[Stage]:
    """A process whose files are written by `operations`."""
    world = world or World()
    store = StoppableStore(FileStore(folder, operations=operations), world)
    return process(store, world, setup)


async def count_writes(scenario: Scenario, folder: Path) -> int:
    operations = FailingOperations(FAULTS[0], 1 << 30)
    async with running(folder, operations, World(), scenario.setup) as stage:
        await scenario.drive(stage)
    return operations.writes


async def fail_and_go_on(scenario: Scenario, folder: Path, fault: Fault, at: int) -> None:
    """Fail one write of the scenario; its process goes on."""
    world, operations = World(), FailingOperations(fault, at)
    with telling(f"{scenario.name}: write {at} fails: {fault.name}", world):
        async with running(folder, operations, world, scenario.setup) as stage:
            await _drive_until_failure(scenario, stage, operations)
            operations.spare_what_follows()
            stage.gate.open()
            stage.model.forget()
            for session_id in FILES.sessions(folder):
                await _cancel(stage, session_id)
                await go_on(scenario, stage, session_id)
        await Trial(scenario, folder, world).check_rest()


async def _cancel(stage: Stage, session_id: SessionId) -> None:
    """End what waits for something that will never come; the Session may have closed itself."""
    with suppress(ClassifiedError):
        await stage.access.cancel(SessionCommand(session_id))
        await stage.access.when_idle(session_id)


async def _drive_until_failure(
    scenario: Scenario, stage: Stage, operations: FailingOperations
) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(give_up, stage.world.refused, tasks.cancel_scope)
        try:
            await scenario.drive(stage)
        except ClassifiedError:
            assert operations.hit
        tasks.cancel_scope.cancel()


@each_scenario
async def test_a_session_survives_some_failing_writes(scenario: Scenario, tmp_path: Path) -> None:
    first = list(SCENARIOS).index(scenario.name)
    cases = [
        (fault, at)
        for at in range(1, await count_writes(scenario, tmp_path / "whole"))
        for fault in FAULTS
    ]
    for number, (fault, at) in enumerate(cases):
        if (first + number) % SAMPLE == 0:
            await fail_and_go_on(scenario, tmp_path / f"{number}", fault, at)


@pytest.mark.heavy
@pytest.mark.timeout(600)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
@each_scenario
async def test_a_session_survives_every_failing_write(
    scenario: Scenario, fault: Fault, tmp_path: Path
) -> None:
    for at in range(1, await count_writes(scenario, tmp_path / "whole")):
        await fail_and_go_on(scenario, tmp_path / f"{at}", fault, at)


async def test_a_call_that_ran_is_never_said_not_to_have_run(tmp_path: Path) -> None:
    operations = FailingOperations(DISK_FULL, at=5)  # the commit of the result
    async with running(tmp_path, operations) as stage:
        stage.model.answers(calling("note"))
        session = await stage.session()
        result = await session.send_and_wait("Note this")
        assert result.status is RunStatus.FAILED
        view = await session.view()
    (outcome,) = (f.payload for f in view.recent_history if isinstance(f.payload, ToolResult))
    assert outcome.status is ToolStatus.OUTCOME_UNKNOWN


async def test_a_session_in_doubt_closes_and_is_resumed_from_where_its_file_is(
    tmp_path: Path,
) -> None:
    operations = FailingOperations(IN_DOUBT, at=1)  # the commit of the message
    async with running(tmp_path, operations) as stage:
        stage.model.answers(text_answer("Hello to you."))
        session = await stage.session()
        with pytest.raises(ClassifiedError) as caught:
            await session.send("Hello")
        assert caught.value.kind is ErrorKind.UNAVAILABLE
        with pytest.raises(ClassifiedError) as closed:
            await session.view()
        assert closed.value.code == "session_not_open"
        session = await stage.channel.resume_session(session.id)
        await stage.access.when_idle(session.id)
        view = await session.view()
    said = [fact.payload for fact in view.recent_history if isinstance(fact.payload, Message)]
    assert "Hello" in [message.text for message in said]


async def test_a_run_in_doubt_ends_and_its_session_goes_on(tmp_path: Path) -> None:
    operations = FailingOperations(IN_DOUBT, at=4)  # the commit that says a call is begun
    async with running(tmp_path, operations) as stage:
        stage.model.answers(calling("note"))
        session = await stage.session()
        result = await session.send_and_wait("Note this")
        assert result.status is RunStatus.INTERRUPTED
        stage.model.forget()
        stage.model.answers(text_answer("Still here."))
        result = await session.send_and_wait("And now?")
    assert result.status is RunStatus.COMPLETED


async def test_a_message_that_is_stored_after_all_is_not_refused(folder: Path) -> None:
    world = World()
    async with process(LateStore(DATABASE.store(folder), world), world, PLAIN) as stage:
        stage.model.answers(text_answer("Hello to you."))
        session = await stage.session()
        result = await session.send_and_wait("Hello")
        assert result.text == "Hello to you."
