"""Looking into an Assembly, and what it says of itself."""

import hashlib
import json
from typing import Any

import pytest

from agentslot import (
    AssemblyDescription,
    Chain,
    Many,
    Module,
    One,
    SlotEmpty,
    diff,
)
from tests.core.catalog import COUNT, GENERATOR, NAMES, TOOLS, WORDS, Echo, Shell, build, untyped

USER = Module(
    "user",
    WORDS.append_with(lambda r: r.key(NAMES, "x")),
    requires=[NAMES.key("x"), COUNT.optional(), NAMES.at_least(1)],
)
GIVEN = Module(
    "given", NAMES.add("x", "secret-value"), NAMES.add_default("y", "2"), GENERATOR.set(Echo())
)


def test_a_slot_is_looked_up_by_its_kind() -> None:
    assembly = build(USER, GIVEN)

    assert isinstance(assembly[GENERATOR], Echo)
    assert dict(assembly[NAMES]) == {"x": "secret-value", "y": "2"}
    assert assembly[WORDS] == ("secret-value",)
    assert assembly.get(NAMES) == assembly[NAMES]
    assert assembly.get(WORDS) == assembly[WORDS]
    assert assembly.get(GENERATOR) is assembly[GENERATOR]


def test_a_value_is_the_very_object_that_was_contributed() -> None:
    echo, shell = Echo(), Shell()
    assembly = build(Module("a", GENERATOR.set(echo), TOOLS.add("shell", shell)))

    assert assembly[GENERATOR] is echo
    assert assembly[TOOLS]["shell"] is shell


def test_an_empty_one_slot_raises_and_names_the_near_one() -> None:
    assembly = build(Module("a", One[int]("test.counter").set(1)))

    with pytest.raises(SlotEmpty, match=r"did you mean 'test\.counter'") as caught:
        assembly[COUNT]
    assert isinstance(caught.value, LookupError)
    assert caught.value.slot == "test.count"
    assert assembly.get(COUNT) is None


def test_empty_many_and_chain_slots_are_empty() -> None:
    assembly = build()

    assert dict(assembly[NAMES]) == {}
    assert assembly[WORDS] == ()
    assert dict(assembly.get(NAMES)) == {}
    assert assembly.get(WORDS) == ()


@pytest.mark.parametrize(
    "slot", [One[str]("test.name"), Many[int]("test.name"), Chain[str]("test.name")]
)
def test_looking_up_another_slot_with_the_same_id_is_a_mistake_in_the_program(slot: Any) -> None:
    assembly = build(GIVEN)

    with pytest.raises(TypeError, match=r"test\.name"):
        assembly[slot]
    with pytest.raises(TypeError, match=r"test\.name"):
        assembly.get(slot)


def test_looking_up_something_that_is_no_slot_is_a_mistake_in_the_program() -> None:
    for look in (build().__getitem__, build().get):
        with pytest.raises(TypeError, match="with a slot, not with"):
            look(untyped("test.name"))


def test_a_printed_assembly_says_how_large_it_is() -> None:
    assert repr(build(GIVEN)) == "<agentslot.Assembly modules=1 slots=2>"


def test_a_mapping_from_an_assembly_cannot_be_changed() -> None:
    names: Any = build(GIVEN)[NAMES]

    with pytest.raises(TypeError, match="does not support item assignment"):
        names["x"] = "other"


def test_the_description_is_exactly_this() -> None:
    assembly = build(USER, GIVEN, requires=[WORDS.at_least(1), GENERATOR.optional()])

    assert json.loads(assembly.describe().model_dump_json()) == {
        "schema": "agentslot.assembly/v0",
        "modules": [
            {"id": "given"},
            {
                "id": "user",
                "requires": [
                    {"slot": "test.count", "kind": "one", "minimum": 0, "optional": True},
                    {"slot": "test.name", "kind": "many", "minimum": 1},
                    {"slot": "test.name", "kind": "many", "key": "x", "minimum": 1},
                ],
            },
        ],
        "slots": [
            {
                "id": "test.generator",
                "kind": "one",
                "value_type": "tests.core.catalog.Generator",
                "contributions": [{"module": "given", "source": "explicit"}],
            },
            {
                "id": "test.name",
                "kind": "many",
                "value_type": "str",
                "contributions": [
                    {"module": "given", "key": "x", "source": "explicit"},
                    {"module": "given", "key": "y", "source": "default"},
                ],
            },
            {
                "id": "test.word",
                "kind": "chain",
                "value_type": "str",
                "contributions": [{"module": "user", "source": "explicit"}],
            },
        ],
        "profile": [
            {"slot": "test.generator", "kind": "one", "minimum": 0, "optional": True},
            {"slot": "test.word", "kind": "chain", "minimum": 1},
        ],
    }


def test_an_empty_assembly_leaves_out_what_is_empty() -> None:
    assert build().describe().model_dump(mode="json") == {
        "schema": "agentslot.assembly/v0",
        "modules": [],
        "slots": [],
    }


def test_a_description_survives_json() -> None:
    description = build(USER, GIVEN, requires=[WORDS.at_least(1)]).describe()

    assert AssemblyDescription.model_validate_json(description.model_dump_json()) == description


def test_describing_twice_gives_equal_and_distinct_objects_without_values() -> None:
    assembly = build(USER, GIVEN)
    first, second = assembly.describe(), assembly.describe()

    assert first == second
    assert first is not second
    assert "secret-value" not in first.model_dump_json()


def test_a_fingerprint_says_whether_two_assemblies_are_wired_the_same_way() -> None:
    fingerprint = build(USER, GIVEN).fingerprint()

    assert fingerprint == build(USER, GIVEN).fingerprint()
    assert fingerprint != build(GIVEN).fingerprint()
    assert fingerprint != build(USER, GIVEN, requires=[NAMES.optional()]).fingerprint()


def test_a_fingerprint_is_the_hash_of_the_canonical_json() -> None:
    canonical = b'{"modules":[],"schema":"agentslot.assembly/v0","slots":[]}'

    assert build().fingerprint() == f"sha256:{hashlib.sha256(canonical).hexdigest()}"


def test_a_diff_says_what_was_added_removed_and_changed() -> None:
    before = build(GIVEN, Module("old", COUNT.set(1)), requires=[COUNT.required()])
    after = build(
        GIVEN,
        Module("new", COUNT.set(1), WORDS.append("x"), requires=[NAMES.key("x"), NAMES.optional()]),
        requires=[COUNT.required(), WORDS.at_least(1)],
    )

    assert str(diff(before, after)).splitlines() == [
        "~ start order: given, old → given, new",
        "- module 'old': requires nothing",
        "~ slot 'test.count' holds: from old (explicit) → from new (explicit)",
        (
            "~ profile: requires test.count (one, at least 1) → "
            "requires test.count (one, at least 1), test.word (chain, at least 1)"
        ),
        "+ module 'new': requires test.name (many, optional), test.name['x']",
        "+ slot 'test.word': chain of str",
        "+ slot 'test.word' holds: from new (explicit)",
    ]


def test_a_diff_keeps_a_line_for_each_change_whatever_stands_in_an_id() -> None:
    name = "a\x1b[2J\nb\u202ec"
    found = diff(build(), build(Module(name, One[int](f"slot.{name}").set(1))))

    assert str(found).splitlines() == [
        r"~ start order:  → a\x1b[2J\nb\u202ec",
        r"+ module 'a\x1b[2J\nb\u202ec': requires nothing",
        r"+ slot 'slot.a\x1b[2J\nb\u202ec': one of int",
        r"+ slot 'slot.a\x1b[2J\nb\u202ec' holds: from a\x1b[2J\nb\u202ec (explicit)",
    ]


def test_a_diff_of_equal_assemblies_is_empty() -> None:
    same = diff(build(GIVEN), build(GIVEN).describe())

    assert not same
    assert str(same) == "no difference"
