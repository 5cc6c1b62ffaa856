"""A module enters whole or not at all."""

from collections.abc import AsyncGenerator

import pytest

from agentslot import (
    Builder,
    CompositionError,
    Contribution,
    DuplicateKey,
    DuplicateModule,
    InvalidContribution,
    InvalidKey,
    InvalidModule,
    Module,
    One,
    Registrar,
    RegistrationClosed,
    SlotConflict,
    SlotOccupied,
)
from tests.core.catalog import (
    COUNT,
    GENERATOR,
    NAMES,
    TOOLS,
    WORDS,
    Echo,
    Shell,
    build,
    problem,
    untyped,
)


class Bundle(Module):
    id = "test.bundle"

    def register(self, registrar: Registrar) -> None:
        registrar.contribute(GENERATOR.set(Echo()), TOOLS.add("shell", Shell()), WORDS.append("x"))


class Swallowing(Module):
    """Contributes something wrong, and hides that."""

    id = "test.swallowing"

    def __init__(self) -> None:
        self.errors: list[CompositionError] = []

    def register(self, registrar: Registrar) -> None:
        for contribution in (NAMES.add("a", "first"), NAMES.add("", "no key"), COUNT.set(1)):
            try:
                registrar.contribute(contribution)
            except CompositionError as error:
                self.errors.append(error)


class Keeping(Module):
    id = "test.keeping"
    registrar: Registrar

    def register(self, registrar: Registrar) -> None:
        self.registrar = registrar


def test_a_module_class_fills_many_slots() -> None:
    assembly = build(Bundle())

    assert isinstance(assembly[GENERATOR], Echo)
    assert list(assembly[TOOLS]) == ["shell"]
    assert assembly[WORDS] == ("x",)


def test_a_module_without_a_class_fills_many_slots() -> None:
    assembly = build(Module("a", COUNT.set(1), WORDS.append("x"), WORDS.append("y")))

    assert (assembly[COUNT], assembly[WORDS]) == (1, ("x", "y"))


def test_many_modules_fill_one_slot_in_the_order_of_the_list() -> None:
    assembly = build(
        Module("b", NAMES.add("z", "1"), WORDS.append("first")),
        Module("a", NAMES.add("y", "2"), WORDS.append("second")),
    )

    assert list(assembly[NAMES].items()) == [("z", "1"), ("y", "2")]
    assert assembly[WORDS] == ("first", "second")


def test_a_swallowed_error_still_refuses_the_module_with_all_it_contributed() -> None:
    builder, module = Builder(), Swallowing()

    with pytest.raises(InvalidKey) as caught:
        builder.install(module)

    assert module.errors == [caught.value, caught.value]
    assembly = builder.build()
    assert assembly.describe().slots == ()
    assert assembly.modules == ()


def test_a_refused_module_can_be_installed_later_corrected() -> None:
    builder = Builder()
    with pytest.raises(SlotOccupied):
        builder.install(Module("a", COUNT.set(1), NAMES.add("x", "1"), COUNT.set(2)))

    builder.install(Module("a", COUNT.set(2), NAMES.add("x", "2")))

    assembly = builder.build()
    assert (assembly[COUNT], dict(assembly[NAMES])) == (2, {"x": "2"})


def test_what_an_earlier_module_contributed_outlives_a_refused_one() -> None:
    builder = Builder()
    builder.install(Module("a", NAMES.add("x", "1")))
    with pytest.raises(DuplicateKey):
        builder.install(Module("b", NAMES.add("y", "2"), NAMES.add("x", "3")))

    assert dict(builder.build()[NAMES]) == {"x": "1"}


def test_an_error_of_register_itself_refuses_the_module_and_names_it() -> None:
    class Broken(Module):
        id = "test.broken"

        def register(self, registrar: Registrar) -> None:
            registrar.contribute(COUNT.set(1))
            raise KeyError("configuration")

    builder = Builder()
    with pytest.raises(KeyError, match="configuration") as caught:
        builder.install(Broken())

    assert "module 'test.broken'" in caught.value.__notes__[0]
    assert builder.build().get(COUNT) is None


def test_a_registrar_is_closed_after_its_call() -> None:
    module = Keeping()
    build(module)

    with pytest.raises(RegistrationClosed) as caught:
        module.registrar.contribute(COUNT.set(1))

    assert caught.value.module == "test.keeping"


def test_a_second_explicit_value_is_refused_and_the_first_owner_named() -> None:
    error = problem(Module("a", COUNT.set(1)), Module("b", COUNT.set(2)))

    assert isinstance(error, SlotOccupied)
    assert (error.slot, error.module, error.number) == ("test.count", "b", 2)
    assert "module 'a' filled it first" in error.what


def test_a_second_explicit_value_under_a_key_is_refused() -> None:
    """D08"""
    error = problem(Module("a", NAMES.add("x", "1")), Module("b", NAMES.add("x", "2")))

    assert isinstance(error, DuplicateKey)
    assert (error.slot, error.key, error.module) == ("test.name", "x", "b")


@pytest.mark.parametrize("key", ["", " x", None, 3])
def test_a_key_that_is_no_clean_text_is_refused(key: str) -> None:
    error = problem(Module("a", NAMES.add(key, "1")))

    assert isinstance(error, InvalidKey)
    assert repr(key) in error.what


@pytest.mark.parametrize(
    ("contribution", "expected"),
    [
        (NAMES.add("", untyped(None)), InvalidContribution),
        (One[str]("test.name").set("x"), SlotConflict),
        (NAMES.add("taken", untyped(3)), InvalidContribution),
        (NAMES.add("taken", "x"), DuplicateKey),
    ],
    ids=["value before key", "another slot", "type before occupation", "occupied"],
)
def test_the_first_thing_that_is_wrong_is_reported(
    contribution: Contribution, expected: type[CompositionError]
) -> None:
    error = problem(Module("a", NAMES.add("taken", "1")), Module("b", contribution))

    assert type(error) is expected


def test_one_id_for_two_modules_is_refused_and_both_places_are_named() -> None:
    first = Module("a")
    second = Module("a")
    error = problem(first, second)

    assert isinstance(error, DuplicateModule)
    assert first.where() in str(error)
    assert second.where() in str(error)


def test_one_module_listed_twice_is_refused() -> None:
    module = Bundle()
    error = problem(module, module)

    assert isinstance(error, DuplicateModule)
    assert "the same object" in error.what


def test_something_that_is_no_module_is_refused() -> None:
    error = problem(untyped(Echo()))

    assert isinstance(error, InvalidModule)
    assert error.what == "Echo is no module"


def test_a_module_class_in_place_of_a_module_is_told_to_be_called() -> None:
    error = problem(untyped(Bundle))

    assert isinstance(error, InvalidModule)
    assert error.fix == "write Bundle()"


@pytest.mark.parametrize("module_id", ["", " a", 3, None])
def test_a_module_id_that_is_no_clean_text_is_refused(module_id: str) -> None:
    assert isinstance(problem(Module(module_id)), InvalidModule)


def test_an_asynchronous_register_is_refused_and_its_coroutine_closed() -> None:
    async def coroutine(self: Module, registrar: Registrar) -> None:
        raise AssertionError("called")

    class Late(Module):
        id = "test.late"

        register = untyped(coroutine)

    error = problem(Late())

    assert isinstance(error, InvalidModule)
    assert error.fix == "write `def register`"


def test_a_lifespan_without_its_decorator_is_refused_before_anything_starts() -> None:
    async def bare() -> AsyncGenerator[None]:
        yield

    class Bare(Module):
        id = "test.bare"
        lifespan = untyped(staticmethod(bare))

    error = problem(Bare())

    assert isinstance(error, InvalidModule)
    assert "@asynccontextmanager" in error.fix
