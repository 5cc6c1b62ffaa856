"""The same as `test_stops`, with Sessions on a PostgreSQL server that outlives the processes."""

from pathlib import Path
from typing import Any

import pytest

from tests.faults.allscenarios import SCENARIOS
from tests.faults.harness import count_points, stop_and_go_on
from tests.faults.media import Server
from tests.faults.scenario import Scenario

pytestmark = pytest.mark.faults


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def server(postgres_server: Any) -> Server:
    return Server(postgres_server)


async def survives_some_stops(
    scenario: Scenario, server: Server, folder: Path, *, how_many: int
) -> None:
    count = await count_points(scenario, folder / "whole", server)
    first = list(SCENARIOS).index(scenario.name)
    for number in range(how_many):
        point = (first + number * count // how_many) % count
        await stop_and_go_on(scenario, folder / f"{point}", point, medium=server)


async def test_a_session_on_a_server_survives_a_stop(server: Server, folder: Path) -> None:
    await survives_some_stops(SCENARIOS["steer_during_a_tool"], server, folder, how_many=2)


@pytest.mark.heavy
@pytest.mark.timeout(600)
@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
async def test_every_session_on_a_server_survives_stops_at_some_points(
    scenario: Scenario, server: Server, folder: Path
) -> None:
    await survives_some_stops(scenario, server, folder, how_many=6)
