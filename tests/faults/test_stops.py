"""Whatever an agent is doing when its process is stopped, the next process can go on.

Each scenario is stopped at every point: before each write, in the middle of it, after it and before
its answer, before and after each effect. The quick tests take a sample of the points.
"""

from pathlib import Path

import pytest

from tests.faults.allscenarios import SCENARIOS
from tests.faults.harness import count_points, stop_and_go_on
from tests.faults.media import DATABASE, FILES, Medium
from tests.faults.scenario import Scenario

pytestmark = pytest.mark.faults

SAMPLE = 16

each_scenario = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


@each_scenario
async def test_a_session_survives_a_stop_at_some_points(scenario: Scenario, folder: Path) -> None:
    count = await count_points(scenario, folder / "whole")
    first = list(SCENARIOS).index(scenario.name) % SAMPLE
    for point in range(first, count, SAMPLE):
        await stop_and_go_on(scenario, folder / f"{point}", point)


@each_scenario
async def test_a_session_in_a_database_survives_a_stop_at_some_points(
    scenario: Scenario, folder: Path
) -> None:
    count = await count_points(scenario, folder / "whole", DATABASE)
    first = list(SCENARIOS).index(scenario.name) % (2 * SAMPLE)
    for point in range(first, count, 2 * SAMPLE):
        await stop_and_go_on(scenario, folder / f"{point}", point, medium=DATABASE)


@pytest.mark.heavy
@pytest.mark.timeout(600)
@each_scenario
@pytest.mark.parametrize("medium", [FILES, DATABASE], ids=lambda medium: medium.name)
async def test_a_session_survives_a_stop_at_every_point(
    scenario: Scenario, medium: Medium, folder: Path
) -> None:
    count = await count_points(scenario, folder / "whole", medium)
    reached = [
        await stop_and_go_on(scenario, folder / f"{point}", point, medium=medium)
        for point in range(count)
    ]
    assert sum(reached) >= count * 0.9


@pytest.mark.heavy
@pytest.mark.timeout(600)
@each_scenario
async def test_a_session_survives_a_stop_in_the_middle_of_its_recovery(
    scenario: Scenario, folder: Path
) -> None:
    count = await count_points(scenario, folder / "whole")
    for point in range(count):
        again = (point * 7) % 24  # a recovery and one more message pass about that many points
        await stop_and_go_on(scenario, folder / f"{point}", point, stop_again_at=again)
