"""Second half of the layout, part two: heights at which the ordered cells of a column stand."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

_SWEEPS = 8


def placed(
    columns: Sequence[Sequence[str]],
    links: Mapping[str, Sequence[str]],
    distance: Callable[[str, str], float],
    weight: Callable[[str], float],
) -> dict[str, float]:
    """Give each cell the vertical centre nearest to its neighbours that its column leaves free.

    Args:
        columns: cells of each column, top to bottom.
        links: neighbours of each cell.
        distance: smallest distance between the centres of two cells, the first above the second.
        weight: how strongly a cell insists on its own place.
    """
    height: dict[str, float] = {}
    for column in columns:
        height.update(
            zip(column, _settle(column, [0.0] * len(column), distance, weight), strict=True)
        )
    for sweep in range(_SWEEPS):
        for column in columns if sweep % 2 == 0 else reversed(columns):
            wanted = [_mean(height, links.get(name, ()), height[name]) for name in column]
            height.update(zip(column, _settle(column, wanted, distance, weight), strict=True))
    return height


def _mean(height: Mapping[str, float], names: Sequence[str], otherwise: float) -> float:
    return sum(height[name] for name in names) / len(names) if names else otherwise


def _settle(
    column: Sequence[str],
    wanted: Sequence[float],
    distance: Callable[[str, str], float],
    weight: Callable[[str], float],
) -> list[float]:
    """Least-squares positions that keep order and distances (isotonic regression by pooling).

    Each pool holds neighbours that touch: [sum of weighted wishes, sum of weights, cells].
    """
    offsets = [0.0]
    for upper, lower in pairwise(column):
        offsets.append(offsets[-1] + distance(upper, lower))
    pools: list[tuple[float, float, int]] = []
    for name, wish, offset in zip(column, wanted, offsets, strict=False):
        pool = (weight(name) * (wish - offset), weight(name), 1)
        while pools and pools[-1][0] / pools[-1][1] >= pool[0] / pool[1]:
            above = pools.pop()
            pool = (above[0] + pool[0], above[1] + pool[1], above[2] + pool[2])
        pools.append(pool)
    shared = [total / weights for total, weights, cells in pools for _ in range(cells)]
    return [start + offset for start, offset in zip(shared, offsets, strict=False)]
