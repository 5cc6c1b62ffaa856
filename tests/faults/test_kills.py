"""The same as an injected stop, with a process that is really killed by SIGKILL."""

import signal
import sys
from pathlib import Path

import pytest

from tests.faults.harness import Trial, count_points
from tests.faults.killing import executioner
from tests.faults.scenarios import SCENARIOS
from tests.faults.world import world_of

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal that POSIX has"),
]

KILLS_ENOUGH = 200


async def kill_at_every(step: int, folder: Path, backend: str) -> int:
    """Kill every scenario at each `step`-th point and check what the next process makes of it."""
    kills, first = 0, 0
    with executioner() as deadly:
        for name, scenario in SCENARIOS.items():
            count = await count_points(scenario, folder / f"{name}-whole")
            for point in range(first, count, step):
                image, record = folder / f"{name}-{point}", folder / f"{name}-{point}.record"
                status = deadly.play(name, image, record, point, backend)
                assert status in (0, -signal.SIGKILL), f"{name} at {point} ended with {status}"
                kills += status != 0
                await Trial(scenario, image, world_of(record)).check_crash()
            first = (first + 1) % step
    return kills


async def test_a_session_survives_kills_at_some_points(
    tmp_path: Path, anyio_backend_name: str
) -> None:
    assert await kill_at_every(64, tmp_path, anyio_backend_name) >= 15


@pytest.mark.heavy
@pytest.mark.timeout(900)
async def test_a_session_survives_hundreds_of_kills(
    tmp_path: Path, anyio_backend_name: str
) -> None:
    assert await kill_at_every(5, tmp_path, anyio_backend_name) >= KILLS_ENOUGH
