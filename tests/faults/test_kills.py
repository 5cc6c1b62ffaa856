"""The same as an injected stop, with a process that is really killed by SIGKILL."""

import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.faults.allscenarios import SCENARIOS
from tests.faults.harness import Trial, count_points, telling
from tests.faults.killing import executioner
from tests.faults.media import DATABASE, FILES, Medium
from tests.faults.scenario import Scenario
from tests.faults.world import world_of

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal that POSIX has"),
]

KILLS_ENOUGH = 200


async def kill_at_every(
    step: int, scenarios: Sequence[Scenario], medium: Medium, folder: Path, backend: str
) -> int:
    """Kill scenarios at each `step`-th point and check what the next process makes of it.

    Returns:
        How many processes were killed.
    """
    kills = 0
    with executioner() as deadly:
        for number, scenario in enumerate(scenarios):
            count = await count_points(scenario, folder / scenario.name, medium)
            for point in range(number % step, count, step):
                trial = Trial(scenario, folder / f"{scenario.name}-{point}", medium=medium)
                record = folder / f"{scenario.name}-{point}.record"
                status = deadly.play(trial, record, point, backend)
                assert status in (0, -signal.SIGKILL)
                kills += status != 0
                trial.world = world_of(record)
                with telling(f"{scenario.name} killed at point {point}", trial.world):
                    await trial.check_crash()
                shutil.rmtree(trial.folder)
    return kills


@pytest.mark.parametrize("medium", [FILES, DATABASE], ids=lambda medium: medium.name)
async def test_a_session_survives_kills_at_some_points(
    medium: Medium, folder: Path, anyio_backend_name: str
) -> None:
    some = list(SCENARIOS.values())[::7]
    assert await kill_at_every(24, some, medium, folder, anyio_backend_name) >= 5


@pytest.mark.heavy
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("medium", [FILES, DATABASE], ids=lambda medium: medium.name)
async def test_a_session_survives_hundreds_of_kills(
    medium: Medium, folder: Path, anyio_backend_name: str
) -> None:
    all_of_them = list(SCENARIOS.values())
    kills = await kill_at_every(5, all_of_them, medium, folder, anyio_backend_name)
    assert kills >= KILLS_ENOUGH
