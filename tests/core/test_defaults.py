"""Defaults are decided from the whole list of modules, never by their order."""

from itertools import permutations

import pytest

from agentslot import DuplicateKey, Module, Resolver, SlotOccupied
from tests.core.catalog import COUNT, NAMES, WORDS, build, problem


def never(_: Resolver) -> int:
    raise AssertionError("called")


MODULES = (
    Module("default", COUNT.set_default(1), NAMES.add_default("x", "d"), WORDS.append_default("d")),
    Module("explicit", COUNT.set(2), NAMES.add("x", "e"), WORDS.append("e")),
    Module("other", NAMES.add_default("y", "d"), WORDS.append_default("dd")),
)


@pytest.mark.parametrize("modules", list(permutations(MODULES)))
def test_an_explicit_value_wins_wherever_it_is_installed(modules: tuple[Module, ...]) -> None:
    assembly = build(*modules)

    assert assembly[COUNT] == 2
    assert dict(assembly[NAMES]) == {"x": "e", "y": "d"}
    assert assembly[WORDS] == ("e",)


def test_a_default_stands_where_nothing_is_explicit() -> None:
    assembly = build(MODULES[0], MODULES[2])

    assert assembly[COUNT] == 1
    assert dict(assembly[NAMES]) == {"x": "d", "y": "d"}
    assert assembly[WORDS] == ("d", "dd")


def test_two_defaults_of_a_one_slot_are_ambiguous() -> None:
    error = problem(Module("a", COUNT.set_default(1)), Module("b", COUNT.set_default(2)))

    assert isinstance(error, SlotOccupied)
    assert "module 'a' and module 'b'" in error.what


def test_two_defaults_of_one_key_are_ambiguous_and_other_keys_are_not() -> None:
    error = problem(
        Module("a", NAMES.add_default("x", "1"), NAMES.add_default("y", "1")),
        Module("b", NAMES.add_default("x", "2")),
    )

    assert isinstance(error, DuplicateKey)
    assert (error.slot, error.key) == ("test.name", "x")


def test_several_defaults_are_fine_where_an_explicit_value_decides() -> None:
    assembly = build(
        Module("a", COUNT.set_default(1)),
        Module("b", COUNT.set_default(2)),
        Module("c", COUNT.set(3)),
    )

    assert assembly[COUNT] == 3


def test_a_module_of_which_nothing_is_in_force_takes_no_part() -> None:
    replaced = Module("replaced", COUNT.set_default_with(never), requires=[NAMES.at_least(9)])
    assembly = build(replaced, Module("explicit", COUNT.set(1)))

    assert [module.id for module in assembly.modules] == ["explicit"]
    assert "replaced" not in assembly.describe().model_dump_json()


def test_a_module_that_is_partly_replaced_stays() -> None:
    partly = Module("partly", COUNT.set_default_with(never), NAMES.add_default("x", "d"))
    assembly = build(partly, Module("explicit", COUNT.set(1)))

    assert [module.id for module in assembly.modules] == ["partly", "explicit"]
    assert dict(assembly[NAMES]) == {"x": "d"}


def test_a_module_that_contributes_nothing_stays() -> None:
    assert [module.id for module in build(Module("silent")).modules] == ["silent"]


def test_why_tells_who_won_who_lost_and_by_which_rule() -> None:
    assembly = build(*MODULES)

    assert str(assembly.why(COUNT)) == (
        "slot 'test.count'\n"
        "  ✓ from 'explicit', explicit: an explicit value stands\n"
        "  ✗ from 'default', default: an explicit value replaces every default"
    )
    assert str(assembly.why(WORDS)) == (
        "slot 'test.word'\n"
        "  ✓ from 'explicit', explicit: an explicit value stands\n"
        "  ✗ from 'default', default: an explicit value replaces the whole default chain\n"
        "  ✗ from 'other', default: an explicit value replaces the whole default chain"
    )
    names = assembly.why("test.name")
    assert [(each.module, each.key) for each in names.winners] == [
        ("explicit", "x"),
        ("other", "y"),
    ]
    assert [(each.module, each.key) for each in names.losers] == [("default", "x")]
    assert names.winners[1].rule == "a default stands alone"


def test_why_of_an_empty_slot_says_that_nobody_contributes() -> None:
    assert str(build().why(COUNT)) == "slot 'test.count': nobody contributes"
