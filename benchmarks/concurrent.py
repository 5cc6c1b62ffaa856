"""200 Sessions of 10 turns at once, each model call 10 ms away: how close to the ideal 0.1 s.

It is the processor that makes them wait, so how close depends on the machine: peers are measured in
the same run. They record nothing that would survive it.
"""

import gc
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import anyio

from agentslot import Module
from agentslot.session import FileStoreModule, MemoryStoreModule, SqliteStoreModule
from benchmarks import Row
from benchmarks._agent import Workload
from benchmarks._peers import AGNO, HAYSTACK, LANGGRAPH, measure

PEERS = (HAYSTACK, AGNO, LANGGRAPH)
SESSIONS = 200
TURNS = 10
LATENCY_SECONDS = 0.01
REPEATS = 3
IDEAL_SECONDS = TURNS * LATENCY_SECONDS


async def one_round(store: Module) -> float:
    """Wall seconds of all Sessions at once, in an application that ends with them.

    So do the agents of the peers; whatever stays would be looked at by every garbage collection.
    """
    workload = Workload(store, TURNS, LATENCY_SECONDS)
    async with workload.running():
        gc.collect()
        started = time.perf_counter()
        await _all_at_once(workload)
        return time.perf_counter() - started


async def kib_a_session(store: Module) -> float:
    """KiB of memory that each Session holds while its application runs.

    What their tasks take while they run is taken once, by the round that warms up.
    """
    workload = Workload(store, TURNS, LATENCY_SECONDS)
    async with workload.running():
        await _all_at_once(workload)
        gc.collect()
        before = _resident_kib()
        for _ in range(REPEATS):
            await _all_at_once(workload)
        return (_resident_kib() - before) / (REPEATS * SESSIONS)


async def _all_at_once(workload: Workload) -> None:
    async with anyio.create_task_group() as tasks:
        for _ in range(SESSIONS):
            tasks.start_soon(workload.run)


def _resident_kib() -> float:
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * 4.0


def _with(store: Callable[[str], Module], measured: Callable[[Module], Awaitable[float]]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return anyio.run(measured, store(folder))


def of_peers() -> Iterator[tuple[str, float]]:
    """Names of the peers that can be had here, and their wall seconds."""
    for peer in PEERS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                measured = measure(peer, "concurrent", TURNS, Path(folder))
            except RuntimeError as error:
                print(error, file=sys.stderr)
                continue
        yield peer.name, float(measured["wall_seconds"])


def rows() -> Iterator[Row]:
    walls = dict[str, float]()
    for name, wall in of_peers():
        walls[name] = wall
        yield Row(name=name, value=wall, unit="s", ratio=wall / IDEAL_SECONDS, against="the ideal")
    stores: dict[str, Callable[[str], Module]] = {
        "ours.memory": lambda _: MemoryStoreModule(),
        "ours.file": FileStoreModule,
        "ours.sqlite": lambda folder: SqliteStoreModule(f"{folder}/sessions.db"),
    }
    for name, store in stores.items():
        grown = _with(store, kib_a_session)
        yield Row(name=f"{name}.session", value=grown, unit="KiB")
        wall = statistics.median([_with(store, one_round) for _ in range(REPEATS + 1)][1:])
        yield Row(name=name, value=wall, unit="s", ratio=wall / IDEAL_SECONDS, against="the ideal")
        if walls:
            fastest = min(walls, key=walls.__getitem__)
            beside = Row(name=f"{name}.peers", value=wall, unit="s")
            beside["ratio"], beside["against"] = wall / walls[fastest], fastest
            yield beside
