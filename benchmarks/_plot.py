"""Cost against turns as an SVG that needs nothing else to be looked at."""

from collections import defaultdict
from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10
from typing import TypeAlias

from benchmarks import Row

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 80, 180, 48, 56
COLOURS = ("#0b6e99", "#c2410c", "#15803d", "#7e22ce", "#a16207", "#be123c", "#475569")

Point: TypeAlias = tuple[float, float]


def plot(rows: Sequence[Row], *, title: str) -> str | None:
    """Draws one line a name over the rows that carry `turns`; None if no row does."""
    series: dict[str, list[Point]] = defaultdict(list)
    units: list[str] = []
    for row in rows:
        if "turns" in row:
            series[row["name"]].append((row["turns"], row["value"]))
            units.append(row["unit"])
    if not series:
        return None
    points = [point for line in series.values() for point in line]
    x_ticks = ticks(max(x for x, _ in points))
    y_ticks = ticks(max(y for _, y in points))
    scale = (
        (WIDTH - LEFT - RIGHT) / (x_ticks[-1] or 1),
        (HEIGHT - TOP - BOTTOM) / (y_ticks[-1] or 1),
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">',
        "<style>text { font: 12px sans-serif } .title { font-size: 15px }</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="24" class="title">{escape(title)}: cost against turns</text>',
        *axes(x_ticks, y_ticks, scale, unit=" / ".join(dict.fromkeys(units))),
    ]
    for index, (name, line) in enumerate(series.items()):
        parts += curve(name, [place(point, scale) for point in sorted(line)], index)
    return "\n".join([*parts, "</svg>", ""])


def ticks(highest: float) -> list[float]:
    """Round numbers from 0 to at least `highest`, about five of them."""
    if highest <= 0:
        return [0.0, 1.0]
    rough = highest / 5
    magnitude = 10.0 ** floor(log10(rough))
    step = next(size * magnitude for size in (1, 2, 5, 10) if size * magnitude >= rough)
    return [index * step for index in range(ceil(highest / step) + 1)]


def place(point: Point, scale: Point) -> Point:
    """From a measurement to a place in the picture, whose y axis points down."""
    return LEFT + point[0] * scale[0], HEIGHT - BOTTOM - point[1] * scale[1]


def axes(
    x_ticks: Sequence[float], y_ticks: Sequence[float], scale: Point, *, unit: str
) -> list[str]:
    """Grid lines with their numbers, and what each axis counts."""
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts: list[str] = []
    for value in y_ticks:
        _, y = place((0, value), scale)
        parts += [
            f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#e2e8f0"/>',
            f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>',
        ]
    for value in x_ticks:
        x, _ = place((value, 0), scale)
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{value:g}</text>')
    middle = (LEFT + right) / 2
    return [
        *parts,
        f'<line x1="{LEFT}" y1="{bottom}" x2="{right}" y2="{bottom}" stroke="#64748b"/>',
        f'<text x="{middle}" y="{HEIGHT - 14}" text-anchor="middle">turns</text>',
        f'<text x="{LEFT}" y="{TOP - 8}" text-anchor="end">{escape(unit)}</text>',
    ]


def curve(name: str, line: Sequence[Point], index: int) -> list[str]:
    """One line with its dots, and its name at the right in the same colour."""
    colour = COLOURS[index % len(COLOURS)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
    legend = f'x="{WIDTH - RIGHT + 16}" y="{TOP + 20 * index}"'
    dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in line]
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
        *dots,
        f'<text {legend} fill="{colour}">{escape(name)}</text>',
    ]
