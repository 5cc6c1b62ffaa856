"""Who comes before whom, and what a circle looks like."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot import Chain, DependencyCycle, DependencyNotReady, Module, One, Requirement
from tests.core.catalog import NAMES, Journal, build, place, problem, problems

WRAPPED, X = One[int]("test.wrapped"), One[int]("test.x")


def order(*modules: Module) -> list[str]:
    return [module.id for module in build(*modules).modules]


def needs(name: str, *requires: Requirement) -> Module:
    """A module that fills the slot of its name, and needs others."""
    return Journal().module(name, *requires)


def test_independent_modules_keep_the_order_of_the_list() -> None:
    assert order(*(Module(name) for name in "dbca")) == ["d", "b", "c", "a"]


def test_a_module_comes_after_what_it_requires() -> None:
    assert order(needs("a", place("b").required()), needs("b"), needs("c")) == ["b", "a", "c"]


def test_an_optional_slot_that_is_filled_makes_an_order() -> None:
    assert order(needs("a", place("b").optional()), needs("b")) == ["b", "a"]
    assert order(needs("a", place("b").optional())) == ["a"]


def test_a_whole_slot_depends_on_every_contributor_and_a_key_on_its_owner_only() -> None:
    first, second = Module("first", NAMES.add("x", "1")), Module("second", NAMES.add("y", "1"))

    assert order(Module("all", requires=[NAMES.at_least(1)]), first, second) == [
        "first",
        "second",
        "all",
    ]
    assert order(Module("key", requires=[NAMES.key("x")]), first, second) == [
        "first",
        "key",
        "second",
    ]


def test_a_default_that_stands_is_depended_on_and_one_that_was_replaced_is_not() -> None:
    default = Module("default", NAMES.add_default("x", "1"), NAMES.add_default("y", "1"))
    explicit = Module("explicit", NAMES.add("x", "1"))

    assert order(Module("u", requires=[NAMES.key("x")]), default, explicit) == [
        "default",
        "explicit",
        "u",
    ]
    assert order(Module("u", requires=[NAMES.key("y")]), default, explicit) == [
        "default",
        "u",
        "explicit",
    ]


def test_a_module_may_require_the_slot_that_it_fills() -> None:
    assert order(Module("a", NAMES.add("x", "1"), requires=[NAMES.at_least(1)])) == ["a"]


def test_a_circle_is_drawn_with_every_step() -> None:
    """D01"""
    a = needs("A", X.required())
    w = Module("W", X.set(0), requires=[WRAPPED.required()])
    c = Module("C", WRAPPED.set(0), requires=[place("A").required()])

    error = problem(a, w, c)

    assert isinstance(error, DependencyCycle)
    assert error.path == ("A", "W", "C", "A")
    assert str(error).splitlines() == [
        "modules need each other in a circle: A → W → C → A",
        f"  ╭─> A needs One[int]('test.x').required() of W  ({a.where()})",
        f"  │   W needs One[int]('test.wrapped').required() of C  ({w.where()})",
        f"  ╰── C needs One[int]('test.place.A').required() of A  ({c.where()})",
        "  where: module 'A' in application 'test'",
        "  fix: split one of them, so that what the others need stands in a module of its own",
    ]


def test_a_circle_behind_an_optional_slot_is_a_circle() -> None:
    """D01"""
    error = problem(needs("a", place("b").optional()), needs("b", place("a").required()))

    assert isinstance(error, DependencyCycle)
    assert error.path == ("a", "b", "a")
    assert ".optional()" in error.steps[0]


def test_a_module_that_resolves_what_it_constructs_itself_is_told_so() -> None:
    """D01: a circle of one."""
    error = problem(Module("a", X.set_with(lambda r: r[X]), requires=[X.required()]))

    assert isinstance(error, DependencyNotReady)
    assert (error.slot, error.module) == ("test.x", "a")


def test_every_circle_is_reported_and_what_is_merely_behind_one_is_listed() -> None:
    found = problems(
        needs("behind", place("a").required()),
        needs("a", place("b").required()),
        needs("b", place("a").required()),
        needs("c", place("d").required()),
        needs("d", place("c").required()),
    )

    assert [error.path for error in found if isinstance(error, DependencyCycle)] == [
        ("a", "b", "a"),
        ("c", "d", "c"),
    ]
    assert isinstance(found[0], DependencyCycle)
    assert found[0].blocked == ("behind", "a", "b", "c", "d")


@pytest.mark.parametrize("names", list(permutations("bac")))
def test_a_chain_follows_the_list_of_modules_whatever_their_names_and_needs(
    names: tuple[str, ...],
) -> None:
    """D04"""
    chain = Chain[str]("test.middleware")
    modules = [Module(name, chain.append(name)) for name in names]
    # The first in the list starts last, and is the outermost in the chain all the same.
    modules[0].requires = [NAMES.at_least(1)]
    assembly = build(*modules, Module("later", NAMES.add("x", "1")))

    assert assembly[chain] == names
    (described,) = [slot for slot in assembly.describe().slots if slot.id == chain.id]
    assert [contribution.module for contribution in described.contributions] == list(names)
    assert assembly.modules[-1].id == names[0]


@given(st.data())
def test_any_graph_without_circles_is_ordered_and_ties_keep_the_list(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12), label="modules")
    # Edges point from a place in some order to earlier places of it, so there is no circle.
    ranks = data.draw(st.permutations(range(count)), label="ranks")
    edges = {
        node: {
            other
            for other in range(count)
            if ranks[other] < ranks[node] and data.draw(st.booleans())
        }
        for node in range(count)
    }
    modules = [
        needs(str(node), *(place(str(each)).required() for each in sorted(edges[node])))
        for node in range(count)
    ]

    result = [int(name) for name in order(*modules)]

    done: set[int] = set()
    for node in result:
        could_come = [n for n in range(count) if n not in done and edges[n] <= done]
        assert node == min(could_come)
        done.add(node)
    assert done == set(range(count))


@given(st.permutations(range(8)))
def test_a_shuffle_of_unrelated_modules_moves_nothing_else(shuffled: list[int]) -> None:
    assert order(*(Module(str(number)) for number in shuffled)) == [str(n) for n in shuffled]
