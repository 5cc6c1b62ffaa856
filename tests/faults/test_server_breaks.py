"""An application that stays while its way to the PostgreSQL server breaks, or the server does."""

from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from agentslot.session import ClassifiedError, PostgresStore
from tests.faults.allscenarios import SCENARIOS
from tests.faults.harness import Trial, go_on, telling
from tests.faults.media import Server
from tests.faults.parts import StoppableStore
from tests.faults.scenario import Scenario
from tests.faults.stage import process
from tests.session.brokenline import broken_line

pytestmark = pytest.mark.faults


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def server(postgres_server: Any) -> Server:
    return Server(postgres_server)


async def goes_on_behind_a_break(
    scenario: Scenario, server: Server, folder: Path, loses: str, number: int
) -> bool:
    """Break the line once in a process that then opens its Sessions again; check all that is left.

    Returns:
        Whether so many bytes went over the line at all.
    """
    trial = Trial(scenario, folder, medium=server)
    world = trial.world
    async with broken_line(server.dsn(folder)) as line:
        store = StoppableStore(PostgresStore(line.dsn), world)
        with telling(f"{scenario.name} lost {loses} {number}", world):
            async with process(store, world, scenario.setup) as stage:
                line.lose_once(loses, number)
                with suppress(ClassifiedError):  # whether it fails depends on where the line broke
                    await scenario.drive(stage)
                reached = line.heal()
                stage.gate.open()
                for session_id in server.sessions(folder):
                    await go_on(scenario, stage, session_id)
            await trial.check_rest()
    return reached


@pytest.mark.parametrize("loses", ["question", "answer"])
async def test_a_session_goes_on_behind_a_line_that_broke(
    loses: str, server: Server, folder: Path
) -> None:
    scenario = SCENARIOS["one_tool"]
    for number in range(0, 30, 6):
        await goes_on_behind_a_break(scenario, server, folder / f"{number}", loses, number)


@pytest.mark.heavy
@pytest.mark.timeout(900)
@pytest.mark.parametrize("loses", ["question", "answer"])
@pytest.mark.parametrize("name", ["parallel_batch", "several_steps"])
async def test_a_session_goes_on_wherever_the_line_broke(
    name: str, loses: str, server: Server, folder: Path
) -> None:
    for number in count():
        place = folder / f"{number}"
        if not await goes_on_behind_a_break(SCENARIOS[name], server, place, loses, number):
            return
