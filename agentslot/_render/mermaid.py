"""The graph as a Mermaid flowchart, for Markdown pages that draw it."""

import re
from collections.abc import Iterator

from agentslot._render.graph import Edge, Graph, Relation
from agentslot._render.layout import badge_of
from agentslot._render.text import visible

# Everything in ASCII that could end a label, start markup or be taken for a Mermaid statement.
_UNSAFE = re.compile(r"[^\w .,/()×→-]", re.ASCII)

_ARROWS = {
    Relation.EXPLICIT: "-->",
    Relation.DEFAULT: "-.->",
    Relation.REQUIRED: "==>",
    Relation.OPTIONAL: "-.->",
}

_CLASSES = (
    "classDef module fill:#f6f5f8,stroke:#b3b0bb,color:#1c1b1f",
    "classDef one fill:#e3f0fc,stroke:#1668b8,color:#0b3d70",
    "classDef many fill:#e2f5e9,stroke:#1d7a46,color:#0f4a29",
    "classDef chain fill:#f4e8fc,stroke:#8338b8,color:#521c78",
    "classDef profile stroke-width:3px",
)


def render_mermaid(graph: Graph) -> str:
    """Draw the flowchart: modules as boxes, slots as pills, thick lines for requirements."""
    return "\n".join(["flowchart LR", *(f"    {line}" for line in _statements(graph))])


def _statements(graph: Graph) -> Iterator[str]:
    for module in graph.modules:
        yield f'{module.name}["{module.order} {_label(module.id)}"]:::module'
    for slot in graph.slots:
        yield f'{slot.name}(["{_label(slot.id)} {badge_of(slot)}"]):::{slot.kind}'
    for edge in graph.edges:
        remark = _remark(edge)
        label = f'|"{_label(remark)}"|' if remark else ""
        yield f"{edge.source} {_ARROWS[edge.relation]}{label} {edge.target}"
    yield from _CLASSES
    demanded = [slot.name for slot in graph.slots if slot.in_profile]
    if demanded:
        yield f"class {','.join(demanded)} profile"


def _remark(edge: Edge) -> str:
    keys = ", ".join(edge.keys)
    if edge.relation in {Relation.EXPLICIT, Relation.REQUIRED}:
        return keys
    return f"{keys} ({edge.relation})" if keys else edge.relation


def _label(text: str) -> str:
    """Write unsafe characters as Mermaid's numeric entities."""
    return _UNSAFE.sub(lambda found: f"#{ord(found[0])};", visible(text))
