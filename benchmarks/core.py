"""The composition core: what a build costs next to sorting the same graph, a look-up, an import."""

import statistics
import subprocess
import sys
import timeit
from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter

from agentslot import Application, Chain, Many, Module, One, Registrar, Requirement
from benchmarks import Row

SIZES = (1000, 5000)
REPEATS = 15
LOOKUPS = 100_000


class Part(Module):
    """Three contributions, one of them constructed, and three requirements."""

    def __init__(self, number: int, slots: "Slots") -> None:
        self.id = f"part.{number}"
        self.number = number
        self.slots = slots
        self.requires = slots.required_by(number)

    def register(self, registrar: Registrar) -> None:
        n, slots = self.number, self.slots
        registrar.contribute(
            slots.ones[n].set(self),
            slots.many[n].add("key", self),
            slots.chains[n].append_with(lambda resolver: self),
        )


class Slots:
    """A slot of each kind for every module."""

    def __init__(self, count: int) -> None:
        self.ones = [One[Part](f"one.{n}") for n in range(count)]
        self.many = [Many[Part](f"many.{n}") for n in range(count)]
        self.chains = [Chain[Part](f"chain.{n}") for n in range(count)]

    def required_by(self, number: int) -> tuple[Requirement, ...]:
        one, many, chain = needed_by(number)
        if number == 0:
            return ()
        return self.ones[one].required(), self.many[many].key("key"), self.chains[chain].at_least(1)


def needed_by(number: int) -> tuple[int, int, int]:
    """Which earlier modules a module needs: the one before it, and two far ahead of it."""
    return number - 1, number // 2, number // 3


def build_rows() -> Iterator[Row]:
    for count in SIZES:
        slots = Slots(count)
        parts = [Part(number, slots) for number in range(count)]
        graph = {n: set(needed_by(n)) if n else set[int]() for n in range(count)}

        def build(parts: list[Part] = parts) -> None:
            Application("benchmark", parts).build()

        def sort(graph: dict[int, set[int]] = graph) -> None:
            sorter = TopologicalSorter[int]()
            for node, needed in graph.items():
                sorter.add(node, *needed)
            list(sorter.static_order())

        ours, floor = best(build, sort)
        yield {"name": f"graphlib.{count}", "value": floor * 1e3, "unit": "ms"}
        yield {
            "name": f"build.{count}",
            "value": ours * 1e3,
            "unit": "ms",
            "ratio": ours / floor,
            "against": f"graphlib.{count}",
        }


def best(*functions: Callable[[], object]) -> list[float]:
    """The shortest time of each in seconds; they take turns, so that a slow spell hits them all."""
    seconds = [[timeit.timeit(each, number=1) for each in functions] for _ in range(REPEATS)]
    return [min(times) for times in zip(*seconds, strict=True)]


def lookup_rows() -> Iterator[Row]:
    slot = One[int]("benchmark.slot")
    names = {
        "assembly": Application("benchmark", [Module("a", slot.set(1))]).build(),
        "slot": slot,
        "dictionary": {"benchmark.slot": 1},
        "key": "benchmark.slot",
    }

    timers = [timeit.Timer(each, globals=names) for each in ("assembly[slot]", "dictionary[key]")]
    seconds = best(*(lambda timer=timer: timer.timeit(LOOKUPS) for timer in timers))
    ours, floor = (each / LOOKUPS * 1e9 for each in seconds)
    yield {"name": "dict", "value": floor, "unit": "ns"}
    yield {"name": "lookup", "value": ours, "unit": "ns", "ratio": ours / floor, "against": "dict"}


def import_rows() -> Iterator[Row]:
    code = "import time; t = time.perf_counter(); import agentslot; print(time.perf_counter() - t)"
    seconds = [
        float(subprocess.check_output([sys.executable, "-c", code], text=True))
        for _ in range(REPEATS)
    ]
    yield {"name": "import", "value": statistics.median(seconds), "unit": "s"}


def rows() -> Iterator[Row]:
    """Measure; `build` is best of several, as is its floor."""
    yield from build_rows()
    yield from lookup_rows()
    yield from import_rows()
