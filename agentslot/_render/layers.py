"""First half of the layout: which column each node stands in, and which columns each edge passes.

Modules stand in even columns by dependency depth, slots in odd ones right of their last provider.
An edge that passes a column gets a waypoint there, so that a line has a lane of its own between the
boxes. All edges at one side of a slot share their waypoints: they are drawn as one trunk.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from agentslot._render.graph import Edge, Graph


@dataclass(frozen=True, slots=True)
class Layers:
    """Cells (names of nodes and waypoints) of each column, left to right, and those of each edge.

    `routes[i]` belongs to `graph.edges[i]` and begins and ends with its nodes. A backward route
    turns round at both ends: `beside` names those waypoints, each with the node of its column.
    """

    columns: tuple[tuple[str, ...], ...]
    routes: tuple[tuple[str, ...], ...]
    beside: Mapping[str, str]


def layers_of(graph: Graph) -> Layers:
    """Assign columns and route every edge through them."""
    column = _columns(graph)
    last = max(column.values(), default=-1)
    cells: list[dict[str, None]] = [{} for _ in range(last + 1)]
    for node, at in column.items():
        cells[at][node] = None
    routes: list[tuple[str, ...]] = []
    beside: dict[str, str] = {}
    for edge in graph.edges:
        waypoints = list(_waypoints(edge, column[edge.source], column[edge.target]))
        for name, at in waypoints:
            cells[at][name] = None
        if column[edge.target] < column[edge.source]:
            beside[waypoints[0][0]] = edge.source
            beside[waypoints[-1][0]] = edge.target
        routes.append((edge.source, *(name for name, _ in waypoints), edge.target))
    return Layers(tuple(tuple(names) for names in cells), tuple(routes), beside)


def _columns(graph: Graph) -> dict[str, int]:
    depth = _depths(graph)
    column = {name: 2 * at for name, at in depth.items()}
    for slot in graph.slots:
        column[slot.name] = 1
    for edge in graph.edges:
        if edge.relation.is_contribution:
            column[edge.slot] = max(column[edge.slot], column[edge.module] + 1)
    return column


def _depths(graph: Graph) -> dict[str, int]:
    """Depth by dependency; a module that needs nothing moves right, next to its first consumer."""
    depth: dict[str, int] = {}
    for module in graph.modules:
        # Providers come first in start order; one that does not is in a circle with us.
        needed = graph.providers[module.name]
        depth[module.name] = max((depth[name] + 1 for name in needed if name in depth), default=0)
    first_consumer: dict[str, int] = {}
    for module in reversed(graph.modules):
        name = module.name
        if not graph.providers[name] and name in first_consumer:
            depth[name] = first_consumer[name] - 1
        for provider in graph.providers[name]:
            first_consumer[provider] = min(first_consumer.get(provider, depth[name]), depth[name])
    return depth


def _waypoints(edge: Edge, start: int, end: int) -> Iterator[tuple[str, int]]:
    if start < end:
        side = "<" if edge.relation.is_contribution else ">"
        for at in range(start + 1, end):
            yield f"{edge.slot}{side}{at}", at
    else:  # backwards: out on the right, through a lane in every column, in again from the left
        for at in range(start, end - 1, -1):
            yield f"{edge.slot}~{at}", at


def neighbours(layers: Layers) -> Mapping[str, tuple[str, ...]]:
    """Cells that are linked by some route, for every linked cell."""
    linked: dict[str, dict[str, None]] = {}
    for route in layers.routes:
        for left, right in pairwise(route):
            linked.setdefault(left, {})[right] = None
            linked.setdefault(right, {})[left] = None
    return {name: tuple(others) for name, others in linked.items()}
