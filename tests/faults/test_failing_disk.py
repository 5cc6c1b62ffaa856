"""A running agent whose disk fails one write: the Session goes on, or says that it cannot.

Whatever was asked for at that moment may be refused. After it the Session must come to rest, be
opened again if it was closed, and do the next thing it is asked for, all in the same process.
"""

from pathlib import Path

import anyio
import pytest

from agentslot.interaction import SessionCommand
from agentslot.session import ClassifiedError
from tests.faults import checks
from tests.faults.disk import APPENDING, FailingOperations, Fault, Leaves
from tests.faults.harness import check_rest, go_on
from tests.faults.scenarios import SCENARIOS, Scenario
from tests.faults.stage import Stage, process
from tests.faults.world import World

pytestmark = pytest.mark.faults

FAULTS = [fault for fault in APPENDING if fault.leaves is not Leaves.IT_DONE]
SAMPLE = 12

each_scenario = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


async def count_writes(scenario: Scenario, folder: Path) -> int:
    operations = FailingOperations(FAULTS[0], 1 << 30)
    async with process(folder, World(), scenario.setup, operations) as stage:
        await scenario.drive(stage)
    return operations.writes


async def fail_and_go_on(scenario: Scenario, folder: Path, fault: Fault, at: int) -> None:
    """Fail one write of the scenario; its process goes on."""
    world, operations = World(), FailingOperations(fault, at)
    print(f"{scenario.name}: write {at} fails by {fault.name!r}")
    async with process(folder, world, scenario.setup, operations) as stage:
        await _drive_until_failure(scenario, stage, operations)
        stage.gate.open()
        stage.model.forget()
        for session_id in checks.session_files(folder):
            opened = await stage.access.resume_session(session_id)
            await stage.access.cancel(SessionCommand(opened.session_id))
            await go_on(scenario, stage, session_id)
    await check_rest(folder, world, {})


async def _drive_until_failure(
    scenario: Scenario, stage: Stage, operations: FailingOperations
) -> None:
    async with anyio.create_task_group() as tasks:

        async def give_up() -> None:
            await stage.world.refused.wait()
            tasks.cancel_scope.cancel()

        tasks.start_soon(give_up)
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
