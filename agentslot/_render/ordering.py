"""Second half of the layout, part one: the order of cells in each column, with few crossings."""

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from itertools import pairwise

_SWEEPS = 12


def ordered(
    columns: Sequence[Sequence[str]],
    links: Mapping[str, Sequence[str]],
    beside: Mapping[str, str],
) -> tuple[tuple[str, ...], ...]:
    """Order every column by the mean position of its neighbours, sweeping right and left.

    The best order seen is kept; ties keep the order of the description, so equal input gives equal
    output.

    Args:
        columns: cells of each column.
        links: neighbours of each cell.
        beside: cells that must stand directly below another one of their column.
    """
    current = [list(column) for column in columns]
    left, right = _neighbours(columns, links, -1), _neighbours(columns, links, 1)
    best, fewest = [tuple(column) for column in current], _crossings(current, right)
    for sweep in range(_SWEEPS):
        forward = sweep % 2 == 0
        steps = range(1, len(current)) if forward else range(len(current) - 2, -1, -1)
        for at in steps:
            fixed = current[at - 1 if forward else at + 1]
            current[at] = _sorted_by_mean(current[at], fixed, left if forward else right, beside)
        crossings = _crossings(current, right)
        if crossings < fewest or not sweep:
            best, fewest = [tuple(column) for column in current], crossings
    return tuple(best)


def _neighbours(
    columns: Sequence[Sequence[str]], links: Mapping[str, Sequence[str]], step: int
) -> dict[str, list[str]]:
    """Neighbours of each cell in the column `step` further right."""
    at = {name: index for index, column in enumerate(columns) for name in column}
    return {
        name: [other for other in links.get(name, ()) if at[other] == index + step]
        for name, index in at.items()
    }


def _sorted_by_mean(
    column: Sequence[str],
    fixed: Sequence[str],
    links: Mapping[str, Sequence[str]],
    beside: Mapping[str, str],
) -> list[str]:
    place = {name: index for index, name in enumerate(column)}
    position = {name: (index + 0.5) / len(fixed) for index, name in enumerate(fixed)}

    def key(name: str) -> tuple[float, int, bool]:
        anchor = beside.get(name, name)
        own = (place[anchor] + 0.5) / len(column)
        others = links[anchor]
        mean = sum(position[other] for other in others) / len(others) if others else own
        return mean, place[anchor], name != anchor

    return sorted(column, key=key)


def _crossings(columns: Sequence[Sequence[str]], right: Mapping[str, Sequence[str]]) -> int:
    total = 0
    for column, following in pairwise(columns):
        position = {name: index for index, name in enumerate(following)}
        seen: list[int] = []
        for name in column:
            ends = sorted(position[other] for other in right[name])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total
