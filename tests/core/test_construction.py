"""Constructors, and the little that they see."""

from collections.abc import Callable
from typing import Any

import pytest

from agentslot import (
    Application,
    BuildFailed,
    DependencyNotReady,
    DependencyUndeclared,
    InvalidContribution,
    Module,
    One,
    Registrar,
    Requirement,
    RequirementUnsatisfied,
    Resolver,
    ResolverClosed,
)
from tests.core.catalog import (
    COUNT,
    GENERATOR,
    NAMES,
    WORDS,
    Echo,
    build,
    place,
    problem,
    problems,
    untyped,
)

RESULT = place("result")


PROVIDED = One[str]("test.provided")


def noting(ran: list[str], name: str) -> Callable[[Resolver], str]:
    """A constructor that writes down that it ran."""

    def construct(_: Resolver) -> str:
        ran.append(name)
        return name

    return construct


def ask_one(resolver: Resolver) -> object:
    return resolver[COUNT]


def ask_get(resolver: Resolver) -> object:
    return resolver.get(NAMES)


def ask_many(resolver: Resolver) -> object:
    return resolver[NAMES]


def ask_key(resolver: Resolver) -> object:
    return resolver.key(NAMES, "x")


def no_argument() -> int:
    return 1


def two_arguments(_: Resolver, more: int) -> int:
    return more


def asking(ask: Callable[[Resolver], Any], *requires: Requirement) -> Module:
    """A module whose constructor asks for something."""

    def construct(resolver: Resolver) -> int:
        ask(resolver)
        return 0

    return Module("asking", RESULT.set_with(construct), requires=requires)


GIVEN = Module(
    "given",
    COUNT.set(7),
    NAMES.add("x", "1"),
    NAMES.add("y", "2"),
    WORDS.append("w"),
    WORDS.append("v"),
)


def test_a_constructor_gets_what_its_module_requires() -> None:
    def ask(resolver: Resolver) -> None:
        assert resolver[COUNT] == resolver.get(COUNT) == 7
        assert resolver[NAMES] == resolver.get(NAMES) == {"x": "1", "y": "2"}
        assert resolver[WORDS] == resolver.get(WORDS) == ("w", "v")
        assert resolver.key(NAMES, "y") == "2"

    build(asking(ask, COUNT.required(), NAMES.at_least(1), WORDS.optional(), NAMES.key("y")), GIVEN)


def test_empty_optional_slots_are_none_and_empty_containers() -> None:
    def ask(resolver: Resolver) -> None:
        assert resolver.get(COUNT) is None
        assert resolver[NAMES] == resolver.get(NAMES) == {}
        assert resolver[WORDS] == resolver.get(WORDS) == ()

    build(asking(ask, COUNT.optional(), NAMES.optional(), WORDS.optional()))


def test_a_mapping_from_a_resolver_cannot_be_changed() -> None:
    def ask(resolver: Resolver) -> None:
        untyped(resolver[NAMES])["z"] = "3"

    with pytest.raises(TypeError, match="does not support item assignment"):
        build(asking(ask, NAMES.at_least(1)), GIVEN)


def test_an_empty_optional_slot_cannot_be_indexed() -> None:
    error = problem(asking(ask_one, COUNT.optional()))

    assert isinstance(error, RequirementUnsatisfied)
    assert "resolver.get(SLOT)" in error.fix


@pytest.mark.parametrize(
    ("ask", "requires", "missing"),
    [
        (ask_one, (), "One[int]('test.count').required()"),
        (ask_get, (), "Many[str]('test.name').at_least(1)"),
        (ask_key, (), "Many[str]('test.name').key('x')"),
        (ask_key, (NAMES.at_least(1),), "Many[str]('test.name').key('x')"),
        (ask_key, (NAMES.key("y"),), "Many[str]('test.name').key('x')"),
        (ask_many, (NAMES.key("x"),), "Many[str]('test.name').at_least(1)"),
    ],
)
def test_what_a_module_does_not_require_is_out_of_reach(
    ask: Callable[[Resolver], Any], requires: tuple[Requirement, ...], missing: str
) -> None:
    error = problem(asking(ask, *requires), GIVEN)

    assert isinstance(error, DependencyUndeclared)
    assert error.module == "asking"
    assert error.fix == f"add {missing} to `requires` of the module"


def test_a_resolver_is_closed_when_its_constructor_has_returned() -> None:
    kept: list[Resolver] = []
    build(asking(kept.append, COUNT.required()), GIVEN)

    for ask in (ask_one, ask_get, ask_key):
        with pytest.raises(ResolverClosed):
            ask(kept[0])


def test_a_value_constructed_later_in_the_same_module_is_not_ready() -> None:
    early = NAMES.add_with("early", lambda r: str(r[COUNT]))
    late = COUNT.set_with(lambda _: 3)
    requires = [COUNT.required()]

    error = problem(Module("a", early, late, requires=requires))
    assert isinstance(error, DependencyNotReady)
    assert error.slot == "test.count"

    assembly = build(Module("a", late, early, requires=requires))
    assert assembly[NAMES]["early"] == "3"


def test_a_constructor_cannot_ask_for_what_it_is_about_to_make() -> None:
    alone = Module("a", COUNT.set_with(lambda r: r[COUNT] + 1), requires=[COUNT.required()])
    among = Module(
        "b",
        NAMES.add_with("x", lambda r: "".join(r[NAMES].values())),
        requires=[NAMES.optional()],
    )

    errors = problems(alone, among)
    assert [type(error) for error in errors] == [DependencyNotReady, DependencyNotReady]
    assert all("which holds what it is about to make" in str(error) for error in errors)


def test_a_constructor_cannot_ask_for_text() -> None:
    def ask(resolver: Resolver) -> object:
        return untyped(resolver)["test.count"]

    with pytest.raises(TypeError, match="with a slot, not with"):
        build(asking(ask))


@pytest.mark.parametrize("constructor", [no_argument, two_arguments, Echo])
def test_a_constructor_that_takes_no_resolver_is_told(constructor: Any) -> None:
    error = problem(Module("a", place("x").set_with(constructor)))

    assert isinstance(error, InvalidContribution)
    assert "cannot be called with a resolver" in error.what
    assert error.module == "a"


def test_a_type_error_inside_a_constructor_is_its_own() -> None:
    with pytest.raises(TypeError, match="NoneType") as caught:
        build(Module("a", COUNT.set_with(lambda _: int(untyped(None)))))

    assert caught.value.__notes__[0].startswith("raised by the constructor")


def test_constructors_run_in_dependency_order_and_inside_a_module_in_registration_order() -> None:
    ran: list[str] = []
    build(
        Module(
            "user",
            WORDS.append_with(noting(ran, "user.first")),
            NAMES.add_with("u", noting(ran, "user.second")),
            requires=[PROVIDED.required()],
        ),
        Module("provider", PROVIDED.set_with(noting(ran, "provider"))),
    )

    assert ran == ["provider", "user.first", "user.second"]


def test_an_error_of_a_constructor_is_raised_itself_and_names_module_and_slot() -> None:
    def fail(_: Resolver) -> int:
        raise OSError("no such key file")

    with pytest.raises(OSError, match="no such key file") as caught:
        build(Module("a", COUNT.set_with(fail)))

    assert caught.value.__notes__ == [
        "raised by the constructor for slot 'test.count' of module 'a'",
        "in application 'test'",
    ]


def test_one_build_shows_every_constructor_that_fails_and_runs_none_that_depends_on_them() -> None:
    ran: list[str] = []

    def fail(resolver: Resolver) -> int:
        raise OSError("key")

    with pytest.raises(BuildFailed) as caught:
        build(
            Module("a", COUNT.set_with(fail)),
            Module("b", RESULT.set_with(fail)),
            Module(
                "dependent",
                WORDS.append_with(noting(ran, "dependent")),
                requires=[COUNT.required()],
            ),
            Module("independent", WORDS.append_with(noting(ran, "independent"))),
        )

    assert [type(error) for error in caught.value.exceptions] == [OSError, OSError]
    assert ran == ["independent"]


def test_a_failed_build_can_be_repeated_and_the_old_resolver_stays_closed() -> None:
    kept: list[Resolver] = []

    def construct(resolver: Resolver) -> Echo:
        kept.append(resolver)
        if len(kept) == 1:
            raise OSError("not yet")
        return Echo()

    application = Application("test", [Module("a", GENERATOR.set_with(construct))])
    with pytest.raises(OSError, match="not yet"):
        application.build()

    assert isinstance(application.build()[GENERATOR], Echo)
    assert len(kept) == 2
    with pytest.raises(ResolverClosed):
        kept[0].get(GENERATOR)


def test_the_line_of_a_foreign_error_tells_its_type_and_who_raised_it() -> None:
    def look_up(_: Resolver) -> int:
        return dict[str, int]()["x"]

    def give_up(_: Resolver) -> str:
        raise NotImplementedError

    with pytest.raises(BuildFailed) as caught:
        build(Module("a", COUNT.set_with(look_up)), Module("b", NAMES.add_with("one", give_up)))

    _, first, second = str(caught.value).splitlines()
    assert first == (
        "  - KeyError: 'x' (raised by the constructor for slot 'test.count' of module 'a')"
    )
    assert second.startswith("  - NotImplementedError (raised by the constructor for slot")


def test_no_constructor_runs_while_anything_else_is_wrong() -> None:
    def never(_: Resolver) -> int:
        raise AssertionError("called")

    error = problem(Module("a", COUNT.set_with(never)), requires=[GENERATOR.required()])

    assert isinstance(error, RequirementUnsatisfied)


def test_a_module_may_contribute_in_a_loop() -> None:
    class Loop(Module):
        id = "test.loop"

        def register(self, registrar: Registrar) -> None:
            for number in range(3):
                registrar.contribute(NAMES.add(f"n{number}", str(number)))

    assert build(Loop())[NAMES] == {"n0": "0", "n1": "1", "n2": "2"}
