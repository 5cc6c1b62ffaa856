"""Defaults are decided from the whole list of modules, never by their order."""

from itertools import permutations

import pytest

from agentslot import (
    Contribution,
    DuplicateKey,
    InvalidContribution,
    Module,
    One,
    Resolver,
    SlotOccupied,
    UnusedOverride,
    diff,
)
from tests.core.catalog import COUNT, NAMES, WORDS, build, problem, problems, untyped


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
    explanation = build(Module("a", COUNT.set(1))).why("test.cuont")
    assert explanation.near == ("test.count",)
    assert str(explanation).endswith("nobody contributes; did you mean 'test.count'?")


OVERRIDES = (
    COUNT.set(2).replacing_default(),
    NAMES.add("x", "e").replacing_default(),
    WORDS.append("e").replacing_default(),
)


@pytest.mark.parametrize("modules", list(permutations((MODULES[0], Module("o", *OVERRIDES)))))
def test_an_override_replaces_the_default_that_is_there(modules: tuple[Module, ...]) -> None:
    assembly = build(*modules)

    assert (assembly[COUNT], assembly[NAMES]["x"], assembly[WORDS]) == (2, "e", ("e",))
    assert str(assembly.why(COUNT)).splitlines()[1] == (
        "  ✓ from 'o', explicit: an explicit value stands, declared to replace a default"
    )


def test_an_override_is_seen_in_descriptions_and_between_them() -> None:
    plain = build(MODULES[0], Module("o", COUNT.set(2)))
    override = build(MODULES[0], Module("o", OVERRIDES[0]))
    slot = next(each for each in override.describe().slots if each.id == COUNT.id)

    assert slot.contributions[0].replaces_default
    assert plain.fingerprint() != override.fingerprint()
    assert "from o (explicit) → from o (explicit, replacing a default)" in str(
        diff(plain, override)
    )
    assert "replaces_default" not in plain.describe().model_dump_json()


@pytest.mark.parametrize("override", OVERRIDES)
def test_an_override_that_replaces_nothing_is_an_error(override: Contribution) -> None:
    """D08"""
    elsewhere = Module("d", NAMES.add_default("y", "d"), One[int]("test.other").set_default(1))
    error = problem(Module("o", override), elsewhere)

    assert isinstance(error, UnusedOverride)
    assert isinstance(error, InvalidContribution)
    assert (error.slot, error.key, error.module) == (override.slot.id, override.key, "o")


def test_an_override_names_the_default_that_was_probably_meant() -> None:
    """D08"""
    defaults = Module("d", NAMES.add_default("shell", "d"), COUNT.set_default(1))
    misspelt = One[int]("test.cuont").set(2).replacing_default()
    for_key, for_slot = problems(
        defaults, Module("o", NAMES.add("shel", "e").replacing_default(), misspelt)
    )

    assert isinstance(for_key, UnusedOverride)
    assert for_key.near == ("shell",)
    assert str(for_key) == (
        "key 'shel' of slot 'test.name' has no default that module 'o' could replace;"
        f" did you mean 'shell'?\n  where: module 'o' ({for_key.where})"
        " in application 'test'\n  fix: install the module whose default is meant, or contribute"
        " without replacing_default()"
    )
    assert isinstance(for_slot, UnusedOverride)
    assert for_slot.near[0] == "test.count"


def test_a_default_that_a_refused_module_may_have_is_not_missed() -> None:
    refused = Module("d", COUNT.set_default(1), NAMES.add("x", untyped(3)))
    error = problem(refused, Module("o", COUNT.set(2).replacing_default()))

    assert isinstance(error, InvalidContribution)
    assert not isinstance(error, UnusedOverride)


def test_a_default_replaces_no_default() -> None:
    with pytest.raises(ValueError, match="cannot replace another default"):
        COUNT.set_default(1).replacing_default()
