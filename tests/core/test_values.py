"""Which values a slot takes: certain mistakes are refused when the application is put together."""

import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Literal, NewType, Protocol, TypeVar
from unittest.mock import Mock

import pytest
from typing_extensions import TypedDict

from agentslot import InvalidContribution, Module, One, Resolver
from tests.core.catalog import GENERATOR, TOOLS, Echo, Shell, build, problem, untyped

T = TypeVar("T")


class Doc: ...


class Page(Doc): ...


class Repo(Generic[T]): ...


class DocRepo(Repo[Doc]): ...


class Labelled(list[int], Generic[T]):
    """Its parameter says nothing about its elements."""


class Proxy:
    """Answers to every name by itself."""

    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, "__class__")


class Store(Protocol):
    name: str

    def read(self) -> str: ...
    def write(self, text: str) -> None: ...


if TYPE_CHECKING:
    NotImported = Doc

UserId = NewType("UserId", str)


class Options(TypedDict):
    size: int


class Upper(Protocol):
    def up(self, text: str) -> str: ...


class Loud:
    def up(self, text: str) -> str:
        return text.upper()


class Namespace:
    @staticmethod
    def up(text: str) -> str:
        return text.upper()


DOC = One[Doc]("test.doc")


def refusal(type_form: Any, value: object) -> str | None:
    """What is said about a value in a slot of this type; None if it is taken."""
    slot: One[Any] = One[type_form]("test.slot")
    try:
        build(Module("a", slot.set(value)))
    except InvalidContribution as error:
        return error.what
    return None


@pytest.mark.parametrize(
    ("type_form", "value", "wanted", "found"),
    [
        (Doc, [Doc()], "Doc", "list[tests.core.test_values.Doc]"),
        (str, ["a"], "str", "list[str]"),
        (dict[str, str], {"a": 1}, "dict[str, str]", "dict[str, int]"),
        (list[Doc], [1, "a"], "list[tests.core.test_values.Doc]", "list[int | str]"),
        (list[Doc], Doc(), "list[tests.core.test_values.Doc]", "Doc"),
        (tuple[int, str], (1, 2), "tuple[int, str]", "tuple[int]"),
        (tuple[int, ...], (1, "a"), "tuple[int, ...]", "tuple[int | str]"),
        (Sequence[int], ["a"], "Sequence[int]", "list[str]"),
        (Mapping[str, int], {1: 1}, "Mapping[str, int]", "dict[int, int]"),
        (Callable[[int], int], 3, "Callable[[int], int]", "int"),
        (Literal["a", "b"], "c", "Literal['a', 'b']", "str"),
        (Literal[1], True, "Literal[1]", "bool"),
        (UserId, 3, "UserId", "int"),
        (str | list[str], 3, "str | list[str]", "int"),
        (type[Doc], Doc(), "type[tests.core.test_values.Doc]", "Doc"),
        (Repo[int], Repo[str](), "Repo[int]", "Repo[str]"),
        (Repo[int], DocRepo(), "Repo[int]", "DocRepo"),
        (int, "1", "int", "str"),
        (float, "1", "float", "str"),
        (Options, 3, "Options", "int"),
        (list[Options], [3], "list[tests.core.test_values.Options]", "list[int]"),
        (Doc, Doc, "Doc", "type[tests.core.test_values.Doc]"),
        (Upper, Loud, "Upper", "type[tests.core.test_values.Loud]"),
    ],
)
def test_a_value_of_another_type_is_refused_with_both_types(
    type_form: Any, value: object, wanted: str, found: str
) -> None:
    """D02"""
    message = refusal(type_form, value)

    assert message is not None
    assert f"{wanted}, and was given" in message
    assert message.endswith(found)


@pytest.mark.parametrize(
    ("type_form", "value"),
    [
        (Doc, Page()),
        (list[Doc], [Page()]),
        (list[Doc], []),
        (untyped(list), [1]),
        (Any, 1),
        (object, 1),
        (float, 1),
        (Iterable[str], "text"),
        (tuple[()], ()),
        (str | list[str], "a"),
        (str | list[str], ["a"]),
        (Callable[[int], int], abs),
        (UserId, "u1"),
        (type[Doc], Page),
        (Repo[Doc], Repo[Page]()),
        (Repo[Doc], DocRepo()),
        (Labelled[str], Labelled[str]([1, 2])),
        (Store, Proxy()),
        (Repo[Doc], untyped(Repo)()),
        (Doc, Mock(spec=Doc)),
        (Store, Mock()),
        (Options, {"size": 1}),
        (Options | None, {"size": 1}),
        (dict[str, Options], {"a": {"size": 1}}),
        (Upper, Loud()),
        (Upper, Namespace),
    ],
)
def test_a_value_that_fits_or_cannot_be_decided_is_taken(type_form: Any, value: object) -> None:
    assert refusal(type_form, value) is None


def test_an_object_without_a_method_of_the_protocol_is_refused_and_the_method_is_named() -> None:
    class Half:
        def read(self) -> str:
            return ""

    message = refusal(Store, Half())

    assert message is not None
    assert message.endswith("Half, which has no write")


def test_a_class_where_an_object_belongs_is_refused_with_what_to_write() -> None:
    slot = One[Upper]("test.upper")

    error = problem(Module("a", slot.set(untyped(Loud))))

    assert isinstance(error, InvalidContribution)
    assert error.fix == "give an object of the class: Loud(…)"


def test_a_list_of_tools_in_the_slot_of_one_tool_is_refused() -> None:
    """D02"""
    error = problem(Module("a", TOOLS.add("shell", untyped([Shell()]))))

    assert isinstance(error, InvalidContribution)
    assert (error.slot, error.key, error.module) == ("test.tool", "shell", "a")


def test_a_property_of_a_value_is_not_run_to_look_at_it() -> None:
    class Lazy:
        @property
        def read(self) -> Any:
            raise AssertionError("looked at")

        write = read

    assert refusal(Store, Lazy()) is None


def docs(_: Resolver) -> list[Doc]:
    raise AssertionError("called")


def maybe_doc(_: Resolver) -> Doc | None:
    raise AssertionError("called")


def bare(_: Resolver) -> object:
    raise AssertionError("called")


bare.__annotations__["return"] = list  # checkers refuse to read it without parameters


def numbers(_: Resolver) -> dict[str, int]:
    raise AssertionError("called")


def handler(_: Resolver) -> Callable[[int], str]:
    return str


def options(_: Resolver) -> Options:
    return {"size": 1}


def anything(_: Resolver) -> object:
    return Doc()


def unresolvable(_: Resolver) -> "NotImported":
    return Doc()


@pytest.mark.parametrize(
    ("type_form", "constructor", "declared"),
    [
        (Doc, docs, "list[tests.core.test_values.Doc]"),
        (Doc, maybe_doc, "tests.core.test_values.Doc | None"),
        (Doc, bare, "list"),
        (list[Doc], bare, "list"),
        (dict[str, str], numbers, "dict[str, int]"),
        (str, partial(docs), "list[tests.core.test_values.Doc]"),
        (Store, docs, "list[tests.core.test_values.Doc]"),
        (Callable[[int], int], docs, "list[tests.core.test_values.Doc]"),
        (Options, docs, "list[tests.core.test_values.Doc]"),
        (int, options, "tests.core.test_values.Options"),
    ],
)
def test_a_constructor_that_declares_another_type_is_refused_before_it_is_called(
    type_form: Any, constructor: Any, declared: str
) -> None:
    """D02"""
    slot: One[Any] = One[type_form]("test.slot")
    error = problem(Module("a", slot.set_with(constructor)))

    assert isinstance(error, InvalidContribution)
    assert error.what.endswith(f"a constructor of {declared}")


def undeclared(_: Resolver) -> object:
    return Page()


del undeclared.__annotations__["return"]


@pytest.mark.parametrize("constructor", [anything, unresolvable, undeclared])
def test_what_a_constructor_does_not_declare_is_decided_by_its_value(constructor: Any) -> None:
    assert isinstance(build(Module("a", DOC.set_with(constructor)))[DOC], Doc)


def test_a_constructor_that_declares_the_type_of_the_slot_is_called() -> None:
    slot = One[Callable[[int], str]]("test.handler")

    assert build(Module("a", slot.set_with(handler)))[slot] is str


def test_a_constructor_of_a_typed_dict_is_called() -> None:
    slot = One[Options]("test.options")

    assert build(Module("a", slot.set_with(options)))[slot] == {"size": 1}


def test_a_constructed_value_of_another_type_is_refused() -> None:
    error = problem(Module("a", DOC.set_with(lambda _: untyped([Doc()]))))

    assert isinstance(error, InvalidContribution)
    assert "list[tests.core.test_values.Doc]" in error.what


def test_none_is_no_value() -> None:
    error = problem(Module("a", GENERATOR.set(untyped(None))))

    assert isinstance(error, InvalidContribution)
    assert error.what == "slot 'test.generator' is given None"


def test_none_from_a_constructor_is_no_value() -> None:
    error = problem(Module("a", GENERATOR.set_with(lambda _: untyped(None))))

    assert isinstance(error, InvalidContribution)
    assert error.what == "slot 'test.generator' got None from its constructor"


@pytest.mark.parametrize("constructor", [None, Echo()])
def test_a_constructor_that_cannot_be_called_is_refused(constructor: Any) -> None:
    error = problem(Module("a", GENERATOR.set_with(constructor)))

    assert isinstance(error, InvalidContribution)
    assert "as a constructor" in error.what


def test_an_asynchronous_constructor_is_refused_before_it_is_called() -> None:
    async def make(_: Resolver) -> Echo:
        raise AssertionError("called")

    error = problem(Module("a", GENERATOR.set_with(untyped(make))))

    assert isinstance(error, InvalidContribution)
    assert error.what == "slot 'test.generator' has an asynchronous constructor"
    assert "lifespan" in error.fix


def test_a_coroutine_from_a_constructor_is_refused_and_closed() -> None:
    async def make() -> Echo:
        raise AssertionError("called")

    error = problem(Module("a", GENERATOR.set_with(lambda _: untyped(make()))))

    assert isinstance(error, InvalidContribution)
    assert error.what == "slot 'test.generator' has an asynchronous constructor"


def test_a_callable_component_is_a_value_and_not_a_constructor() -> None:
    handler = One[Callable[[str], str]]("test.handler")

    assert build(Module("a", handler.set(str.upper)))[handler] is str.upper


def test_something_that_is_no_contribution_is_refused() -> None:
    error = problem(Module("a", untyped(Echo())))

    assert isinstance(error, InvalidContribution)
    assert "Echo is no contribution" in error.what


EITHER = """
from agentslot import Application, Chain, Module, One
slot = One[str | list[str]]("either")
chain = Chain[set[str] | frozenset[str]]("sets")
module = Module("a", slot.set(["a", "b"]), chain.append({"b", "a", "c"}))
assembly = Application("x", [module]).build()
print(assembly.fingerprint(), type(assembly[slot]).__name__)
"""


def test_a_slot_of_several_types_gives_the_value_back_unconverted_under_every_hash_seed() -> None:
    """D03: there is no conversion to choose, so there is no choice that could differ."""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", EITHER],
            env={"PYTHONHASHSEED": str(seed), "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in range(16)
    }

    (only,) = outputs
    assert only.endswith(" list\n")
