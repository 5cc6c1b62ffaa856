"""What a turn costs when each commit is flushed to the disk, beside peers that survive a kill.

The floor is the same lines appended to a file by nobody but the system, each flushed: what the disk
alone costs, in the same run.
"""

import gc
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio

from agentslot import Module
from agentslot.session import FileStoreModule, SqliteStoreModule
from benchmarks import Row
from benchmarks._agent import Workload
from benchmarks._peers import AGNO, LANGGRAPH, measure

PEERS = (LANGGRAPH, AGNO)
LENGTHS = (50, 200)
REPEATS = 5

STORES: dict[str, Callable[[str], Module]] = {
    "ours.file": FileStoreModule,
    "ours.sqlite": lambda folder: SqliteStoreModule(f"{folder}/sessions.db"),
}


async def ours(store: Callable[[str], Module], turns: int, folder: str) -> float:
    """Median microseconds a turn of `REPEATS` runs, after one to warm up."""
    workload, costs = Workload(store(folder), turns), list[float]()
    async with workload.running():
        for number in range(REPEATS + 1):
            gc.collect()
            started = time.perf_counter()
            await workload.run()
            if number:
                costs.append((time.perf_counter() - started) / turns * 1e6)
    return statistics.median(costs)


def bytes_a_turn(folder: str, turns: int) -> float:
    """What the runs left on the disk."""
    written = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    return written / (REPEATS + 1) / turns


def floor(folder: str, turns: int) -> float:
    """Median microseconds a turn to append and flush the lines of a run once more."""
    source = next(Path(folder).rglob("*.jsonl"))
    lines, costs = source.read_bytes().splitlines(keepends=True), list[float]()
    for number in range(REPEATS):
        descriptor = os.open(f"{folder}/floor-{number}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        started = time.perf_counter()
        for line in lines:
            os.write(descriptor, line)
            os.fdatasync(descriptor)
        costs.append((time.perf_counter() - started) / turns * 1e6)
        os.close(descriptor)
    return statistics.median(costs)


def of_store(name: str, turns: int) -> tuple[float, float, float | None]:
    """Microseconds and bytes a turn of one store, and the floor beside it if it has one."""
    with tempfile.TemporaryDirectory() as folder:
        cost = anyio.run(ours, STORES[name], turns, folder)
        written = bytes_a_turn(folder, turns)
        return cost, written, floor(folder, turns) if name == "ours.file" else None


def rows() -> Iterator[Row]:
    fastest: dict[int, tuple[float, str]] = {}
    for peer in PEERS:
        for turns in LENGTHS:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    cost = float(measure(peer, "durable", turns, Path(folder))["us_per_turn"])
                except RuntimeError as error:
                    print(error, file=sys.stderr)
                    continue
            yield Row(name=peer.name, value=cost, unit="us/turn", turns=turns)
            fastest[turns] = min(fastest.get(turns, (cost, peer.name)), (cost, peer.name))
    for name in STORES:
        for turns in LENGTHS:
            cost, written, least = of_store(name, turns)
            yield Row(name=f"{name}.bytes", value=written, unit="B/turn", turns=turns)
            if least is not None:
                over = Row(name=f"{name}.floor", value=cost, unit="us/turn", turns=turns)
                over["ratio"], over["against"] = cost / least, "floor"
                yield Row(name="floor", value=least, unit="us/turn", turns=turns)
                yield over
            row = Row(name=name, value=cost, unit="us/turn", turns=turns)
            if turns in fastest:
                peer_cost, peer_name = fastest[turns]
                row["ratio"], row["against"] = cost / peer_cost, peer_name
            yield row
