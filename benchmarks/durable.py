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
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

import anyio

from agentslot import Module
from agentslot.session import FileStoreModule, SqliteStoreModule
from benchmarks import Row
from benchmarks._agent import Workload
from benchmarks._peers import AGNO, LANGGRAPH, measure

PEERS = (LANGGRAPH, AGNO)
LENGTHS = (50, 200)
REPEATS, ROUNDS = 5, 2

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


@dataclass(slots=True)
class Costs:
    """Microseconds a turn of everybody, each the better of all rounds, and bytes of our stores."""

    peers: dict[str, float] = field(default_factory=dict[str, float])
    ours: dict[str, float] = field(default_factory=dict[str, float])
    bytes: dict[str, float] = field(default_factory=dict[str, float])
    floor: float = inf

    def measure(self, turns: int) -> None:
        """One round: disks have good and bad minutes, so everybody is measured in each."""
        for peer in PEERS:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    cost = float(measure(peer, "durable", turns, Path(folder))["us_per_turn"])
                except RuntimeError as error:
                    print(error, file=sys.stderr)
                    continue
            self.peers[peer.name] = min(cost, self.peers.get(peer.name, cost))
        for name, store in STORES.items():
            with tempfile.TemporaryDirectory() as folder:
                cost = anyio.run(ours, store, turns, folder)
                self.ours[name] = min(cost, self.ours.get(name, cost))
                self.bytes[name] = bytes_a_turn(folder, turns)
                if name == "ours.file":
                    self.floor = min(floor(folder, turns), self.floor)


def rows() -> Iterator[Row]:
    for turns in LENGTHS:
        costs = Costs()
        for _ in range(ROUNDS):
            costs.measure(turns)
        for name, cost in costs.peers.items():
            yield Row(name=name, value=cost, unit="us/turn", turns=turns)
        yield Row(name="floor", value=costs.floor, unit="us/turn", turns=turns)
        for name, cost in costs.ours.items():
            yield Row(name=f"{name}.bytes", value=costs.bytes[name], unit="B/turn", turns=turns)
            if name == "ours.file":
                yield _compared(f"{name}.floor", cost, turns, "floor", costs.floor)
            if costs.peers:
                fastest = min(costs.peers, key=costs.peers.__getitem__)
                yield _compared(name, cost, turns, fastest, costs.peers[fastest])
            else:
                yield Row(name=name, value=cost, unit="us/turn", turns=turns)


def _compared(name: str, cost: float, turns: int, against: str, other: float) -> Row:
    ratio = cost / other
    return Row(name=name, value=cost, unit="us/turn", turns=turns, ratio=ratio, against=against)
