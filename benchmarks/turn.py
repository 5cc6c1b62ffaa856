"""What a turn costs in memory: one model call and one tool call, everything recorded, beside peers.

The peers record nothing that would survive the call. Ours and theirs are measured in turn, in
processor time: nothing here waits, so that is the cost, whatever else the machine has to do.
"""

import gc
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import anyio

from agentslot.session import MemoryStoreModule
from benchmarks import Row
from benchmarks._agent import Workload
from benchmarks._peers import AGNO, HAYSTACK, LANGGRAPH, Peer, measure

PEERS = (HAYSTACK, AGNO, LANGGRAPH)
COMPARED_TURNS = 50
LENGTHS = (10, 50, 200, 500)
REPEATS = 7


async def ours(turns: int) -> float:
    """Median microseconds a turn of `REPEATS` runs, after one to warm up."""
    workload, costs = Workload(MemoryStoreModule(), turns), list[float]()
    async with workload.running():
        for number in range(REPEATS + 1):
            gc.collect()
            started = time.process_time()
            await workload.run()
            if number:
                costs.append((time.process_time() - started) / turns * 1e6)
    return statistics.median(costs)


def beside(peer: Peer, folder: Path) -> tuple[float, float]:
    """Ours and the peer's microseconds a turn, each the better of two, taken alternately."""
    mine, theirs = list[float](), list[float]()
    for _ in range(2):
        mine.append(anyio.run(ours, COMPARED_TURNS))
        theirs.append(float(measure(peer, "turn", COMPARED_TURNS, folder)["us_per_turn"]))
    return min(mine), min(theirs)


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        best: tuple[float, float, Peer] | None = None
        for peer in PEERS:
            try:
                mine, theirs = beside(peer, Path(folder))
            except RuntimeError as error:
                print(error, file=sys.stderr)
                continue
            yield Row(name=peer.name, value=theirs, unit="us/turn", turns=COMPARED_TURNS)
            if best is None or theirs < best[1]:
                best = (mine, theirs, peer)
    first: float | None = None
    for turns in LENGTHS:
        cost = anyio.run(ours, turns)
        first = first or cost
        yield Row(
            name="ours.memory.length",
            value=cost,
            unit="us/turn",
            turns=turns,
            ratio=cost / first,
            against=f"turn {LENGTHS[0]}",
        )
    if best is not None:
        mine, theirs, peer = best
        yield Row(
            name="ours.memory",
            value=mine,
            unit="us/turn",
            turns=COMPARED_TURNS,
            ratio=mine / theirs,
            against=peer.name,
        )
