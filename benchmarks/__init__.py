"""What we measure and against whom. `scripts/bench NAME` runs `benchmarks/NAME.py`."""

from collections.abc import Iterable
from typing import NotRequired, Protocol, TypedDict

__all__ = ["Benchmark", "Row"]


class Row(TypedDict):
    """One measurement, as it is printed."""

    name: str
    """What was measured and by whom: `ours.memory`, or the peer's name."""
    value: float
    unit: str
    ratio: NotRequired[float]
    """Ours divided by the floor or the peer that `against` names, measured in the same run."""
    against: NotRequired[str]
    turns: NotRequired[int]
    """The length of the conversation at which `value` was measured; such rows can be plotted."""


class Benchmark(Protocol):
    """What a module in this folder offers."""

    def rows(self) -> Iterable[Row]:
        """Measures and yields row by row, so that the first numbers show before the last."""
        ...
