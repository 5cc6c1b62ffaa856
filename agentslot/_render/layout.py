"""A layered drawing of the graph in plain numbers: boxes and routes, in pixels from the top left.

Every edge leaves its box on the right and enters the next on the left, bends only in the gaps
between columns and runs level inside a column, so that no line crosses a box.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from agentslot._render.graph import Graph, ModuleNode, SlotNode
from agentslot._render.layers import Layers, layers_of, neighbours
from agentslot._render.ordering import ordered
from agentslot._render.placement import placed
from agentslot._render.text import columns as text_columns
from agentslot._render.text import shorten, visible

CHARACTER = 6.7
"""Width of one character of an identifier, in pixels."""
LABEL_COLUMNS = 32
"""Longer identifiers lose their middle in the picture."""

_MARGIN = 24.0
_MODULE_HEIGHT = 34.0
_SLOT_HEIGHT = 26.0
_PORT_DISTANCE = 9.0
_GAP, _WIDEST_GAP, _GAP_PER_LINE = 44.0, 96.0, 1.3
_BETWEEN_BOXES, _BETWEEN_LINES = 12.0, 7.0
_LINE_WEIGHT = 4.0  # long lines insist on running straight

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """Where a node stands, and the label that fits in it."""

    x: float
    y: float
    width: float
    height: float
    label: str

    @property
    def right(self) -> float:
        """The right edge."""
        return self.x + self.width

    @property
    def middle(self) -> float:
        """Height of the centre."""
        return self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Layout:
    """The finished drawing.

    `routes[i]` belongs to `graph.edges[i]`: an even number of points, joined in turn by a bend and
    by a level stretch.
    """

    width: float
    height: float
    boxes: Mapping[str, Box]
    routes: tuple[tuple[Point, ...], ...]


def layout_of(graph: Graph) -> Layout:
    """Place every node and route every edge of the graph."""
    layers = layers_of(graph)
    links = neighbours(layers)
    columns = ordered(layers.columns, links, layers.beside)
    heights = _heights(graph)
    centres = placed(columns, links, partial(_distance, heights), partial(_weight, heights))
    if not centres:
        return Layout(2 * _MARGIN, 2 * _MARGIN, {}, ())
    top = min(centre - heights.get(name, 0) / 2 for name, centre in centres.items()) - _MARGIN
    centres = {name: centre - top for name, centre in centres.items()}
    lanes = _lanes(graph, columns, layers)
    boxes = _boxes(graph, lanes, centres, heights)
    return Layout(
        width=max(right for _, right in lanes.values()) + _MARGIN,
        height=max(y + heights.get(name, 0) / 2 for name, y in centres.items()) + _MARGIN,
        boxes=boxes,
        routes=_routes(graph, layers, boxes, lanes, centres),
    )


def _heights(graph: Graph) -> dict[str, float]:
    """Heights of the nodes; a module grows with the number of lines on its busier side."""
    sides: dict[tuple[str, bool], int] = {}
    for edge in graph.edges:
        side = (edge.module, edge.relation.is_contribution)
        sides[side] = sides.get(side, 0) + 1
    heights = {slot.name: _SLOT_HEIGHT for slot in graph.slots}
    for module in graph.modules:
        ports = max(sides.get((module.name, side), 0) for side in (True, False))
        heights[module.name] = max(_MODULE_HEIGHT, (ports + 1) * _PORT_DISTANCE)
    return heights


def _distance(heights: Mapping[str, float], above: str, below: str) -> float:
    lines = above not in heights and below not in heights
    gap = _BETWEEN_LINES if lines else _BETWEEN_BOXES
    return (heights.get(above, 0) + heights.get(below, 0)) / 2 + gap


def _weight(heights: Mapping[str, float], name: str) -> float:
    return 1 if name in heights else _LINE_WEIGHT


def label_of(node: ModuleNode | SlotNode) -> str:
    """The identifier as the picture shows it."""
    return shorten(visible(node.id), LABEL_COLUMNS)


def badge_of(slot: SlotNode) -> str:
    """How many contributions a slot holds, with the sign of its kind."""
    return {"one": "1", "many": f"×{slot.count}", "chain": f"→{slot.count}"}[slot.kind]


def _natural_widths(graph: Graph) -> dict[str, float]:
    widths = {
        module.name: CHARACTER * (text_columns(label_of(module)) + len(str(module.order)) + 1) + 22
        for module in graph.modules
    }
    for slot in graph.slots:
        letters = text_columns(label_of(slot)) + len(badge_of(slot))
        widths[slot.name] = CHARACTER * letters + (48 if slot.in_profile else 36)
    return widths


def _lanes(
    graph: Graph, columns: Sequence[Sequence[str]], layers: Layers
) -> dict[str, tuple[float, float]]:
    """Left and right edge of the column of each cell. All boxes of a column share them."""
    widths = _natural_widths(graph)
    at = {name: index for index, column in enumerate(columns) for name in column}
    crossing = [0] * len(columns)
    for one, other in {pair for route in layers.routes for pair in pairwise(route)}:
        crossing[min(at[one], at[other])] += 1
    lanes: dict[str, tuple[float, float]] = {}
    x = _MARGIN
    for column, lines in zip(columns, crossing, strict=True):
        right = x + max(widths.get(name, 0) for name in column)
        lanes.update(dict.fromkeys(column, (x, right)))
        x = right + min(_WIDEST_GAP, _GAP + _GAP_PER_LINE * lines)
    return lanes


def _boxes(
    graph: Graph,
    lanes: Mapping[str, tuple[float, float]],
    centres: Mapping[str, float],
    heights: Mapping[str, float],
) -> dict[str, Box]:
    boxes: dict[str, Box] = {}
    for node in graph.nodes:
        left, right = lanes[node.name]
        height = heights[node.name]
        top = centres[node.name] - height / 2
        boxes[node.name] = Box(left, top, right - left, height, label_of(node))
    return boxes


def _routes(
    graph: Graph,
    layers: Layers,
    boxes: Mapping[str, Box],
    lanes: Mapping[str, tuple[float, float]],
    centres: Mapping[str, float],
) -> tuple[tuple[Point, ...], ...]:
    ports = _ports(graph, layers, boxes, centres)
    routes: list[tuple[Point, ...]] = []
    for index, (edge, route) in enumerate(zip(graph.edges, layers.routes, strict=True)):
        contributes = edge.relation.is_contribution
        source, target = boxes[edge.source], boxes[edge.target]
        points = [(source.right, ports[index] if contributes else source.middle)]
        # A backward edge passes its lanes from right to left.
        backward = target.x < source.right
        for name in route[1:-1]:
            left, right = lanes[name]
            enter, leave = (right, left) if backward else (left, right)
            points += [(enter, centres[name]), (leave, centres[name])]
        points.append((target.x, target.middle if contributes else ports[index]))
        routes.append(tuple(points))
    return tuple(routes)


def _ports(
    graph: Graph, layers: Layers, boxes: Mapping[str, Box], centres: Mapping[str, float]
) -> dict[int, float]:
    """Height at which each edge meets its module: spread over the side, ordered as the lines."""
    sides: dict[tuple[str, bool], list[tuple[float, int]]] = {}
    for index, (edge, route) in enumerate(zip(graph.edges, layers.routes, strict=True)):
        contributes = edge.relation.is_contribution
        next_cell = route[1] if contributes else route[-2]
        sides.setdefault((edge.module, contributes), []).append((centres[next_cell], index))
    ports: dict[int, float] = {}
    for (module, _), lines in sides.items():
        box = boxes[module]
        for position, (_, index) in enumerate(sorted(lines), start=1):
            ports[index] = box.y + box.height * position / (len(lines) + 1)
    return ports
