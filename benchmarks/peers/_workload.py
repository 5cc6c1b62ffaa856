"""What the peer scripts share. Needs nothing but the standard library, in any environment."""

import asyncio
import gc
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable

REPEATS = 7
SESSIONS, ROUNDS = 200, 3

WORKLOAD = sys.argv[1]
LATENCY_SECONDS = 0.01 if WORKLOAD == "concurrent" else 0


async def think() -> None:
    """Take as long as the model of this workload does."""
    if LATENCY_SECONDS:
        await asyncio.sleep(LATENCY_SECONDS)


def report(run: Callable[[int, str], Awaitable[str]]) -> None:
    """Measure `run(turns, folder)` a few times and print the median."""
    turns, folder = int(sys.argv[2]), sys.argv[3]
    if WORKLOAD == "concurrent":
        printed = asyncio.run(_at_once(run, turns, folder))
    else:
        printed = asyncio.run(_one_by_one(run, turns, folder))
    print(json.dumps(printed))


async def _one_by_one(
    run: Callable[[int, str], Awaitable[str]], turns: int, folder: str
) -> dict[str, float]:
    """The cost of a turn. The workload `turn` waits for nothing: its cost is processor time."""
    clock = time.process_time if WORKLOAD == "turn" else time.perf_counter
    costs = []
    for number in range(REPEATS + 1):
        gc.collect()
        started = clock()
        said = await run(turns, f"{folder}/{number}")
        elapsed = clock() - started
        assert "done" in said, said
        if number:  # the first is a warm-up
            costs.append(elapsed / turns * 1e6)
    return {"us_per_turn": statistics.median(costs), "best": min(costs)}


async def _at_once(
    run: Callable[[int, str], Awaitable[str]], turns: int, folder: str
) -> dict[str, float]:
    """How long many Sessions take beside each other."""
    walls = []
    for number in range(ROUNDS + 1):
        gc.collect()
        started = time.perf_counter()
        said = await asyncio.gather(*(run(turns, folder) for _ in range(SESSIONS)))
        elapsed = time.perf_counter() - started
        assert all("done" in each for each in said), said
        if number:
            walls.append(elapsed)
    return {"wall_seconds": statistics.median(walls)}
