"""What is missing, who needs it, and what is there instead."""

from typing import Any

import pytest

from agentslot import (
    Application,
    Chain,
    CompositionError,
    InvalidRequirement,
    Many,
    Module,
    One,
    Requirement,
    RequirementUnsatisfied,
    SlotConflict,
)
from tests.core.catalog import (
    COUNT,
    GENERATOR,
    NAMES,
    TOOLS,
    WORDS,
    Echo,
    Journal,
    Shell,
    build,
    place,
    problem,
    problems,
    untyped,
)


def unsatisfied(*modules: Module, requires: Requirement) -> RequirementUnsatisfied:
    error = problem(*modules, requires=[requires])
    assert isinstance(error, RequirementUnsatisfied)
    return error


def test_what_is_there_satisfies() -> None:
    build(
        Module("a", GENERATOR.set(Echo()), NAMES.add("x", "1"), NAMES.add("y", "2")),
        Module("b", WORDS.append("1"), WORDS.append("2")),
        requires=[
            GENERATOR.required(),
            GENERATOR.optional(),
            NAMES.at_least(2),
            NAMES.key("x"),
            NAMES.optional(),
            WORDS.at_least(2),
            WORDS.optional(),
        ],
    )


def test_optional_slots_may_be_empty() -> None:
    build(requires=[COUNT.optional(), NAMES.optional(), WORDS.optional()])


def test_a_misspelt_slot_names_the_near_one() -> None:
    tols = Many[int]("tols")
    error = unsatisfied(Module("a", Many[str]("tool").add("shell", "x")), requires=tols.at_least(1))

    assert str(error) == (
        "no slot 'tols'; did you mean 'tool'?\n"
        "  required: Many[int]('tols').at_least(1)\n"
        "  there is: slot 'tool' of str, from 'a'\n"
        "  where: application 'test'\n"
        "  fix: install a module that fills slot 'tols'"
    )
    assert error.near == ("tool",)
    assert (error.minimum, error.actual) == (1, 0)


def test_a_missing_slot_names_what_usually_fills_it() -> None:
    store = One[str]("test.store", filled_by="StoreModule(folder)")
    fix = unsatisfied(requires=store.required()).fix
    assert fix == "install a module that fills slot 'test.store', such as StoreModule(folder)"


def test_a_need_of_a_mere_default_names_what_may_be_filled_instead() -> None:
    stands_in = Module(
        "standard", COUNT.set_default(1), NAMES.add_default("x", "d"), requires=(WORDS.at_least(1),)
    )
    (error,) = problems(stands_in, Module("own", NAMES.add("x", "e")))

    assert isinstance(error, RequirementUnsatisfied)
    assert str(error).endswith(
        f"  fix: install a module that fills slot {WORDS.id!r}, or fill {COUNT.id!r}, of which"
        " 'standard' is only the default"
    )


def test_a_slot_of_the_same_type_is_a_candidate_whatever_its_id() -> None:
    error = unsatisfied(
        Module("vault", One[Shell]("secrets").set(Shell())),
        requires=One[Shell]("credentials").required(),
    )

    assert error.providers == ("slot 'secrets' of tests.core.catalog.Shell, from 'vault'",)


def test_a_missing_key_names_the_near_one_and_who_has_what() -> None:
    error = unsatisfied(
        Module("a", TOOLS.add("shell", Shell())),
        Module("b", TOOLS.add("search", Shell())),
        requires=TOOLS.key("shel"),
    )

    assert error.what == "slot 'test.tool' has no key 'shel'; did you mean 'shell'?"
    assert error.providers == ("key 'shell' from 'a'", "key 'search' from 'b'")
    assert (error.slot, error.key, error.near) == ("test.tool", "shel", ("shell",))


def test_a_long_list_of_what_is_there_is_cut_where_it_is_printed() -> None:
    error = unsatisfied(
        Module("a", *(NAMES.add(str(n), "x") for n in range(12))), requires=NAMES.key("missing")
    )

    assert len(error.providers) == 12
    assert "  there is: key '9' from 'a'\n  and 2 more\n" in str(error)


def test_thousands_of_missing_slots_are_all_reported() -> None:
    missing = [One[int](f"missing.{n}").required() for n in range(1000)]
    found = problems(Module("a", One[int]("missing.one").set(1)), requires=missing)

    assert len(found) == 1000
    assert str(found[0]).startswith("no slot 'missing.0'; did you mean 'missing.one'?")


def test_too_few_says_how_many_there_are_and_from_whom() -> None:
    error = unsatisfied(Module("a", WORDS.append("x")), requires=WORDS.at_least(3))

    assert error.what == "slot 'test.word' has 1 of at least 3 values"
    assert (error.minimum, error.actual) == (3, 1)
    assert error.providers == ("a value from 'a'",)


@pytest.mark.parametrize(
    "requirement",
    [
        NAMES.at_least(0),
        NAMES.at_least(-1),
        NAMES.at_least(True),
        NAMES.at_least(untyped(1.5)),
        WORDS.at_least(0),
        NAMES.key(""),
        NAMES.key(" x"),
        NAMES.key(untyped(None)),
        NAMES,
        "test.name",
        None,
    ],
)
def test_a_requirement_without_sense_is_refused_when_building(requirement: Any) -> None:
    module = Module("a", NAMES.add("x", "1"), requires=[requirement])

    assert isinstance(
        problem(Module("b", NAMES.add("y", "1")), requires=[requirement]), InvalidRequirement
    )
    error = problem(module)
    assert isinstance(error, InvalidRequirement)
    assert error.module == "a"


@pytest.mark.parametrize("requires", [GENERATOR, "test.generator", None])
def test_requires_that_is_no_list_is_told(requires: Any) -> None:
    class Wrong(Module):
        id = "a"

    module = Wrong()
    module.requires = requires
    error = problem(module)

    assert isinstance(error, InvalidRequirement)
    assert "not several requirements" in error.what
    assert (error.module, error.slot) == ("a", None)


def test_a_single_requirement_of_a_module_without_a_class_is_told() -> None:
    error = problem(Module("a", requires=untyped(NAMES.optional())))

    assert isinstance(error, InvalidRequirement)
    assert error.what.startswith("`requires` is one requirement")


def test_a_key_of_a_slot_that_nobody_fills_is_told() -> None:
    error = unsatisfied(requires=TOOLS.key("shell"))

    assert error.fix == "install a module that adds key 'shell' to slot 'test.tool'"


def test_a_forgotten_comma_in_requires_is_told() -> None:
    class Forgetful(Module):
        id = "test.forgetful"
        requires = untyped(NAMES.optional())

    error = problem(Forgetful())

    assert isinstance(error, InvalidRequirement)
    assert "with the comma" in error.fix


def test_a_requirement_for_another_kind_or_type_is_a_conflict() -> None:
    for other in (Chain[str]("test.name").at_least(1), Many[int]("test.name").optional()):
        error = problem(Module("a", NAMES.add("x", "1")), requires=[other])

        assert isinstance(error, SlotConflict)
        assert error.slot == "test.name"


def test_what_is_missing_deep_inside_is_blamed_on_who_needs_it() -> None:
    """D08"""
    journal = Journal()
    credentials = One[str]("credentials")
    wire = journal.module("wire", credentials.required())
    agent = journal.module("agent", place("wire").required())
    app = journal.module("app", place("agent").required())

    error = problem(app, agent, wire, Module("vault", One[str]("credential").set("secret")))

    assert isinstance(error, RequirementUnsatisfied)
    assert (error.slot, error.module) == ("credentials", "wire")
    assert error.path == ("app", "agent", "wire")
    lines = str(error).splitlines()
    assert lines[0] == "no slot 'credentials'; did you mean 'credential'?"
    assert "  path: test → app → agent → wire → credentials" in lines
    assert "  there is: slot 'credential' of str, from 'vault'" in lines
    assert error.__cause__ is None
    assert error.__context__ is None
    assert "secret" not in str(error)


def test_every_unsatisfied_requirement_is_reported_at_once() -> None:
    found = problems(
        Module("a", requires=[COUNT.required(), NAMES.key("x")]),
        Module("b", requires=[WORDS.at_least(2)]),
        requires=[GENERATOR.required()],
    )

    named = [
        (type(error), error.module, error.slot)
        for error in found
        if isinstance(error, CompositionError)
    ]
    assert named == [
        (RequirementUnsatisfied, None, "test.generator"),
        (RequirementUnsatisfied, "a", "test.count"),
        (RequirementUnsatisfied, "a", "test.name"),
        (RequirementUnsatisfied, "b", "test.word"),
    ]


def test_a_requirement_of_the_application_makes_no_order() -> None:
    modules = [Module("b", requires=[COUNT.optional()]), Module("a")]
    assembly = Application("test", modules, [COUNT.optional()]).build()

    assert [module.id for module in assembly.modules] == ["b", "a"]
