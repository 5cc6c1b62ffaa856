"""What a slot is, and what its value type means at run time."""

import sys
from typing import Annotated, Any, Generic, List, Optional, TypeAlias, TypeVar, Union  # noqa: UP035  # the old spellings too

import pytest
from typing_extensions import TypeAliasType

from agentslot import (
    Chain,
    InvalidContribution,
    InvalidRequirement,
    Many,
    Module,
    One,
    RequirementUnsatisfied,
    SlotConflict,
)
from tests.core.catalog import GENERATOR, Generator, build, problem, untyped

T = TypeVar("T")


class User: ...


class Order: ...


class Repo(Generic[T]): ...


USERS = One[Repo[User]]("repo.users")
ORDERS = One[Repo[Order]]("repo.orders")

UserRepo: TypeAlias = Repo[User]
LateUserRepo = TypeAliasType("LateUserRepo", Repo[User])
Listed = TypeAliasType("Listed", list[T], type_params=(T,))


@pytest.mark.parametrize("slot_id", ["", " x", "x ", "\tx", 7, None])
def test_an_id_that_is_empty_or_has_space_around_it_is_refused_where_it_is_declared(
    slot_id: str,
) -> None:
    with pytest.raises(ValueError, match="slot id"):
        One[int](slot_id)


def test_a_slot_knows_its_id_kind_and_value_type() -> None:
    assert (GENERATOR.id, GENERATOR.kind, GENERATOR.value_type) == (
        "test.generator",
        "one",
        Generator,
    )
    assert Many[int]("x").kind == "many"
    assert Chain[int]("x").kind == "chain"
    assert repr(GENERATOR) == "One('test.generator')"


def test_two_declarations_mean_one_slot_if_id_kind_and_type_agree() -> None:
    assert One[int]("x").is_same(One[int]("x"))
    assert not One[int]("x").is_same(One[int]("y"))
    assert not One[int]("x").is_same(One[str]("x"))
    assert not Many[int]("x").is_same(Chain[int]("x"))


def test_values_are_found_through_another_declaration_of_the_slot() -> None:
    assembly = build(Module("a", One[int]("x").set(1)))

    assert assembly[One[int]("x")] == 1


def test_generic_types_keep_their_parameters() -> None:
    """D07"""
    users, orders = Repo[User](), Repo[Order]()
    assembly = build(Module("a", USERS.set(users), ORDERS.set(orders)))

    assert assembly[USERS] is users
    assert assembly[ORDERS] is orders
    types = {slot.id: slot.value_type for slot in assembly.describe().slots}
    name = __name__
    assert types == {
        "repo.users": f"{name}.Repo[{name}.User]",
        "repo.orders": f"{name}.Repo[{name}.Order]",
    }


def test_one_id_with_two_parameters_of_a_generic_is_a_conflict() -> None:
    """D07"""
    error = problem(
        Module("a", One[Repo[User]]("repo").set(Repo[User]())),
        Module("b", One[Repo[Order]]("repo").set(Repo[Order]())),
    )

    assert isinstance(error, SlotConflict)
    assert (error.slot, error.module) == ("repo", "b")
    assert "Repo[tests.core.test_slots.User]" in str(error)
    assert "Repo[tests.core.test_slots.Order]" in str(error)
    assert __file__ in str(error)


@pytest.mark.parametrize(
    "slot",
    [
        One[UserRepo]("repo.users"),
        One[LateUserRepo]("repo.users"),
        One[Annotated[Repo[User], "main"]]("repo.users"),
        One[Annotated[LateUserRepo, "main"]]("repo.users"),
    ],
    ids=["alias", "late-alias", "annotated", "annotated-alias"],
)
def test_an_alias_or_annotated_is_the_type_it_stands_for(slot: One[Repo[User]]) -> None:
    """D07"""
    users = Repo[User]()

    assert build(Module("a", slot.set(users)))[USERS] is users


def test_every_spelling_of_a_type_is_one_type() -> None:
    assert One[List[int]]("x").value_type == One[list[int]]("x").value_type  # noqa: UP006  # the old spelling
    assert One[Listed[int]]("x").value_type == list[int]
    assert One[Union[int, str]]("x").is_same(One[str | int]("x"))  # noqa: UP007  # the old spelling
    assert One[Optional[int]]("x").is_same(One[int | None]("x"))  # noqa: UP045  # the old spelling


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the statement came with Python 3.12")
def test_an_alias_that_speaks_of_itself_stands_for_itself() -> None:
    names: dict[str, Any] = {}
    exec("type Json = dict[str, Json] | str", names)
    json = names["Json"]
    slot: One[Any] = untyped(One)[json]("x")

    assert slot.value_type == untyped(dict)[str, json] | str


def test_a_class_defined_in_a_function_is_a_type_like_any_other() -> None:
    class Local: ...

    local = Local()
    slot = One[Repo[Local]]("local")
    repo = Repo[Local]()

    assert build(Module("a", slot.set(repo)))[slot] is repo
    assert isinstance(local, Local)


def test_a_free_type_variable_is_an_error_that_names_it() -> None:
    """D07"""
    slot = One[Repo[T]]("repo")  # type: ignore[valid-type]  # on purpose

    with pytest.raises(TypeError, match=r"slot 'repo'.*type variable ~T is free"):
        _ = slot.value_type
    error = problem(Module("a", slot.set(untyped(Repo[User]()))))
    assert isinstance(error, InvalidContribution)
    assert "~T" in str(error)
    error = problem(requires=[slot.required()])
    assert isinstance(error, InvalidRequirement)
    assert "~T" in str(error)


def test_a_missing_generic_says_which_and_lists_the_near_ones() -> None:
    """D07"""
    error = problem(Module("a", USERS.set(Repo[User]())), requires=[ORDERS.required()])

    assert isinstance(error, RequirementUnsatisfied)
    assert "Repo[tests.core.test_slots.Order]" in error.required
    assert error.providers == (
        "slot 'repo.users' of tests.core.test_slots.Repo[tests.core.test_slots.User], from 'a'",
    )


def test_a_slot_without_a_value_type_says_what_to_write() -> None:
    slot: One[int] = One("x")

    with pytest.raises(TypeError, match=r"write One\[SomeType\]\('x'\)"):
        _ = slot.value_type
    assert isinstance(problem(Module("a", slot.set(1))), InvalidContribution)


def test_text_in_place_of_a_type_is_refused() -> None:
    slot = One["Repo[User]"]("repo")

    assert "'Repo[User]' is text" in str(problem(Module("a", slot.set(Repo[User]()))))
