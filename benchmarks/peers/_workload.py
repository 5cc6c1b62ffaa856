"""What the peer scripts share. Needs nothing but the standard library, in any environment."""

import asyncio
import gc
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable

REPEATS = 7


def report(run: Callable[[int, str], Awaitable[str]]) -> None:
    """Time `run(turns, folder)` a few times and print the median cost of a turn.

    The workload `turn` waits for nothing and is measured in processor time, others by the clock.
    """
    workload, turns, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    clock = time.process_time if workload == "turn" else time.perf_counter

    async def measure() -> list[float]:
        costs = []
        for number in range(REPEATS + 1):
            gc.collect()
            started = clock()
            said = await run(turns, f"{folder}/{number}")
            elapsed = clock() - started
            assert "done" in said, said
            if number:  # the first is a warm-up
                costs.append(elapsed / turns * 1e6)
        return costs

    costs = asyncio.run(measure())
    print(json.dumps({"us_per_turn": statistics.median(costs), "best": min(costs)}))
