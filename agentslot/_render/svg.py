"""The drawing as one self-contained SVG document."""

from collections.abc import Iterator
from itertools import pairwise

from agentslot._render import assets
from agentslot._render.graph import Edge, Graph, ModuleNode, Relation, SlotNode
from agentslot._render.layout import CHARACTER, Box, Layout, Point, badge_of
from agentslot._render.text import markup

_KINDS = ("one", "many", "chain")
_TURN = 28.0  # how far a backward line swings out before it turns


def render_svg(graph: Graph, layout: Layout, *, title: str) -> str:
    """Draw the layout. The document needs no font, script or style from elsewhere."""
    width, height = _number(layout.width), _number(layout.height)
    return "\n".join(
        [
            '<svg xmlns="http://www.w3.org/2000/svg" class="assembly" role="img"',
            f' aria-label="{markup(title)}"',
            f' viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
            f"<title>{markup(title)}</title>",
            f"<style>\n{assets.text('graph.css')}</style>",
            "<defs>",
            *map(_arrow, _KINDS),
            "</defs>",
            '<g class="edges">',
            *_edges(graph, layout),
            "</g>",
            '<g class="nodes">',
            *(_module(module, layout.boxes[module.name]) for module in graph.modules),
            *(_slot(slot, layout.boxes[slot.name]) for slot in graph.slots),
            "</g>",
            "</svg>",
        ]
    )


def _arrow(kind: str) -> str:
    return (
        f'<marker id="arrow-{kind}" class="arrow {kind}" viewBox="0 0 8 8" refX="7" refY="4"'
        ' markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">'
        '<path d="M0 0L8 4L0 8z"/></marker>'
    )


def _edges(graph: Graph, layout: Layout) -> Iterator[str]:
    names = {node.name: node.id for node in graph.nodes}
    kinds = {slot.name: slot.kind for slot in graph.slots}
    for edge, route in zip(graph.edges, layout.routes, strict=True):
        kind = kinds[edge.slot]
        arrow = "" if edge.relation.is_contribution else f' marker-end="url(#arrow-{kind})"'
        yield (
            f'<path class="edge {edge.relation} {kind}" data-from="{edge.source}"'
            f' data-to="{edge.target}" d="{_path(route)}"{arrow}>'
            f"<title>{markup(_sentence(edge, names[edge.module], names[edge.slot]))}</title></path>"
        )


def _sentence(edge: Edge, module: str, slot: str) -> str:
    keys = f" [{', '.join(edge.keys)}]" if edge.keys else ""
    verb = {
        Relation.EXPLICIT: "contributes to",
        Relation.DEFAULT: "contributes by default to",
        Relation.REQUIRED: "requires",
        Relation.OPTIONAL: "can use",
    }[edge.relation]
    return f"{module} {verb} {slot}{keys}"


def _path(route: tuple[Point, ...]) -> str:
    """Bends and level stretches in turn, beginning and ending with a bend."""
    (x, y), *_ = route
    parts = [f"M{_number(x)} {_number(y)}"]
    for index, (start, end) in enumerate(pairwise(route)):
        if index % 2:
            parts.append(f"H{_number(end[0])}")
        else:
            parts.append(_bend(start, end, _TURN if index == 0 else -_TURN))
    return "".join(parts)


def _bend(start: Point, end: Point, turn: float) -> str:
    """A curve that leaves and arrives level; `turn` is the swing of a line that turns round."""
    (x1, y1), (x2, y2) = start, end
    reach = turn if x1 == x2 else (x2 - x1) / 2
    return (
        f"C{_number(x1 + reach)} {_number(y1)} {_number(x2 + reach if x1 == x2 else x2 - reach)}"
        f" {_number(y2)} {_number(x2)} {_number(y2)}"
    )


def _module(module: ModuleNode, box: Box) -> str:
    return (
        f'<g class="node module" id="{module.name}" tabindex="0">'
        f"<title>{markup(module.id)} (starts as number {module.order})</title>"
        f"{_rectangle(box, radius=7)}"
        f'<text class="order" x="{_number(box.x + 10)}" y="{_number(box.middle + 4)}">'
        f"{module.order}</text>"
        f'<text x="{_number(box.x + 10 + CHARACTER * (1 + len(str(module.order))))}"'
        f' y="{_number(box.middle + 4)}">{markup(box.label)}</text></g>'
    )


def _slot(slot: SlotNode, box: Box) -> str:
    profile = "; the profile requires it" if slot.in_profile else ""
    text_x = box.x + (26 if slot.in_profile else 14)
    return (
        f'<g class="node slot {slot.kind}" id="{slot.name}" tabindex="0">'
        f"<title>{markup(slot.id)}: {slot.kind} {markup(slot.value_type)}{profile}</title>"
        f"{_rectangle(box, radius=box.height / 2)}"
        + (_dot(box.x + 15, box.middle) if slot.in_profile else "")
        + f'<text x="{_number(text_x)}" y="{_number(box.middle + 4)}">{markup(box.label)}</text>'
        f'<text class="badge" x="{_number(box.right - 12)}" y="{_number(box.middle + 4)}">'
        f"{badge_of(slot)}</text></g>"
    )


def _rectangle(box: Box, *, radius: float) -> str:
    return (
        f'<rect x="{_number(box.x)}" y="{_number(box.y)}" width="{_number(box.width)}"'
        f' height="{_number(box.height)}" rx="{_number(radius)}"/>'
    )


def _dot(x: float, y: float) -> str:
    return f'<circle class="profile" cx="{_number(x)}" cy="{_number(y)}" r="4"/>'


def _number(value: float) -> str:
    """A coordinate with one decimal at most."""
    return f"{value:.1f}".removesuffix(".0")
