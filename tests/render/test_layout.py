"""The layered drawing: nothing lies on top of anything else."""

from collections.abc import Iterator
from itertools import combinations

import pytest
from hypothesis import given

from agentslot._description import AssemblyDescription
from agentslot._render.graph import Graph, graph_of
from agentslot._render.layout import CHARACTER, Box, Layout, layout_of
from agentslot._render.text import columns, shorten
from tests.render.descriptions import (
    agent,
    chain_of,
    contribution,
    descriptions,
    module,
    need,
    slot,
)


def drawn(description: AssemblyDescription) -> tuple[Graph, Layout]:
    graph = graph_of(description)
    return graph, layout_of(graph)


def level_stretches(layout: Layout) -> Iterator[tuple[float, float, float]]:
    """Parts of routes inside columns: left, right, height."""
    for route in layout.routes:
        for start, end in zip(route[1::2], route[2::2], strict=False):
            assert start[1] == end[1]
            yield min(start[0], end[0]), max(start[0], end[0]), start[1]


def overlap(one: Box, other: Box) -> bool:
    return (
        one.x < other.right
        and other.x < one.right
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


@given(descriptions())
def test_no_two_boxes_overlap(description: AssemblyDescription) -> None:
    _, layout = drawn(description)
    assert not [pair for pair in combinations(layout.boxes.values(), 2) if overlap(*pair)]


@given(descriptions())
def test_lines_pass_a_column_beside_its_boxes(description: AssemblyDescription) -> None:
    _, layout = drawn(description)
    for left, right, height in level_stretches(layout):
        for box in layout.boxes.values():
            apart = right <= box.x or box.right <= left
            assert apart or not box.y < height < box.y + box.height


@given(descriptions())
def test_lines_bend_only_where_no_box_stands(description: AssemblyDescription) -> None:
    _, layout = drawn(description)
    for route in layout.routes:
        assert len(route) % 2 == 0
        for (x1, _), (x2, _) in zip(route[::2], route[1::2], strict=True):
            for box in layout.boxes.values():
                assert max(x1, x2) <= box.x or box.right <= min(x1, x2)


@given(descriptions())
def test_lines_leave_on_the_right_and_arrive_on_the_left(
    description: AssemblyDescription,
) -> None:
    graph, layout = drawn(description)
    for edge, route in zip(graph.edges, layout.routes, strict=True):
        source, target = layout.boxes[edge.source], layout.boxes[edge.target]
        assert route[0][0] == source.right
        assert route[-1][0] == target.x
        assert source.y < route[0][1] < source.y + source.height
        assert target.y < route[-1][1] < target.y + target.height


@given(descriptions())
def test_everything_lies_on_the_paper(description: AssemblyDescription) -> None:
    _, layout = drawn(description)
    corners = [
        corner
        for box in layout.boxes.values()
        for corner in ((box.x, box.y), (box.right, box.y + box.height))
    ]
    for x, y in (*corners, *(point for route in layout.routes for point in route)):
        assert 0 < x < layout.width
        assert 0 < y < layout.height


@pytest.mark.parametrize("description", [agent(), chain_of(30)], ids=["agent", "chain"])
def test_a_slot_stands_between_who_fills_it_and_who_needs_it(
    description: AssemblyDescription,
) -> None:
    graph, layout = drawn(description)
    names = {node.name: node.id for node in graph.nodes}
    backward = [
        (names[edge.source], names[edge.target])
        for edge in graph.edges
        if layout.boxes[edge.target].x < layout.boxes[edge.source].right
    ]
    assert backward in ([], [("audit.sink", "observe")])  # it may use what it fills itself


def test_a_label_fits_into_its_box() -> None:
    long = "company.department.team.product.component.part.detail"
    _, layout = drawn(
        AssemblyDescription(
            modules=(module(long), module("b", need(long, "one"))),
            slots=(slot(long, "one", contribution(long)),),
        )
    )
    for box in layout.boxes.values():
        assert columns(box.label) * CHARACTER < box.width


@pytest.mark.parametrize("limit", [4, 7, 10])
def test_a_long_identifier_keeps_both_ends(limit: int) -> None:
    short = shorten("standardagent.internal.gateway", limit)
    assert columns(short) == limit
    assert short.startswith("s")
    assert short.endswith("y")


def test_wide_characters_take_two_columns() -> None:
    assert columns("模块a") == 5
    assert columns(shorten("模块模块模块模块", 9)) <= 9
