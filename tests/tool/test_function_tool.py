"""Functions as tools: what the model is shown, what the function gets, what comes back."""

import json
import logging
import math
import threading
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, Literal

import anyio
import pytest
from pydantic import BaseModel, Field

from agentslot.session import ToolResult
from agentslot.tool import (
    Effect,
    ToolDeclarationError,
    ToolFailedError,
    ToolInvocation,
    function_tool,
)
from tests.tool.invoking import invocation, invoke, invoke_text, output


class Unit(StrEnum):
    CELSIUS = "celsius"
    KELVIN = "kelvin"


class Place(BaseModel):
    name: str
    height: float | None = None


@function_tool
async def add(a: int, b: int = 3) -> int:
    """Add two integers.

    Args:
        a: the first,
            which is needed.
        b: the second.
    """
    return a + b


@function_tool
async def nothing() -> str:
    """Take no arguments."""
    return "done"


def code(result: ToolResult) -> str:
    assert result.error is not None
    return result.error.code


def test_the_schema_is_closed_and_described() -> None:
    assert add.definition.name == "add"
    assert add.definition.description == "Add two integers."
    assert add.definition.input_schema == {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "description": "the first, which is needed."},
            "b": {"type": "integer", "description": "the second.", "default": 3},
        },
        "required": ["a"],
        "additionalProperties": False,
    }


def test_types_of_parameters_become_their_schemas() -> None:
    @function_tool
    def measure(
        place: Place,
        unit: Unit,
        how: Literal["fast", "exact"],
        times: Annotated[int, Field(ge=1, description="repetitions")] | None = None,
        tags: tuple[str, ...] = (),
    ) -> None: ...

    assert measure.definition.input_schema["properties"] == {
        "place": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "height": {"type": "number"}},
            "required": ["name"],
        },
        "unit": {"type": "string", "enum": ["celsius", "kelvin"]},
        "how": {"type": "string", "enum": ["fast", "exact"]},
        "times": {"type": "integer", "minimum": 1, "description": "repetitions"},
        "tags": {"type": "array", "items": {"type": "string"}},
    }


def test_what_an_annotation_says_wins_over_the_docstring() -> None:
    @function_tool
    def measure(
        a: Annotated[int, Field(ge=0, description="own")],
        b: Annotated[int, Field(description="own", json_schema_extra={"unit": "m"})] = 1,
        c: Annotated[int, Field(le=9)] = 2,
    ) -> None:
        """Measure.

        Args:
            b: from the docstring
            c: from the docstring
        """

    assert measure.definition.input_schema["properties"] == {
        "a": {"type": "integer", "minimum": 0, "description": "own"},
        "b": {"type": "integer", "description": "own", "unit": "m", "default": 1},
        "c": {"type": "integer", "maximum": 9, "description": "from the docstring", "default": 2},
    }


def test_a_default_that_is_no_json_is_not_shown() -> None:
    class Box(BaseModel):
        width: float = math.inf

    @function_tool
    def search(
        limit: float = math.inf, least: float = Field(-math.inf), box: Box | None = None
    ) -> None: ...

    assert search.definition.input_schema["properties"] == {
        "limit": {"type": "number"},
        "least": {"type": "number"},
        "box": {"type": "object", "properties": {"width": {"type": "number"}}},
    }


def test_a_union_that_is_told_apart_by_a_member_needs_no_definitions() -> None:
    class Cat(BaseModel):
        kind: Literal["cat"]

    class Dog(BaseModel):
        kind: Literal["dog"]

    @function_tool
    def feed(pet: Annotated[Cat | Dog, Field(discriminator="kind")]) -> None: ...

    assert "$defs" not in str(feed.definition.input_schema)
    assert "discriminator" not in str(feed.definition.input_schema)


async def test_a_default_written_as_a_field_is_a_default() -> None:
    @function_tool
    def page(
        name: str = Field(description="which one"), size: int = Field(20, ge=1, description="rows")
    ) -> str:
        return f"{name} {size}"

    assert page.definition.input_schema["properties"] == {
        "name": {"type": "string", "description": "which one"},
        "size": {"type": "integer", "minimum": 1, "description": "rows", "default": 20},
    }
    assert page.definition.input_schema["required"] == ["name"]
    assert output(await invoke(page, name="a")) == "a 20"
    assert code(await invoke(page, name="a", size=0)) == "invalid_arguments"


async def test_a_partial_function_is_shown_without_what_it_has() -> None:
    def search(index: str, query: str) -> str:
        """Search an index."""
        return f"{index}: {query}"

    tool = function_tool(partial(search, "books"))

    assert tool.definition.name == "search"
    assert tool.definition.description == "Search an index."
    assert tool.definition.input_schema["required"] == ["query"]
    assert output(await invoke(tool, query="cats")) == "books: cats"


def test_a_type_that_contains_itself_keeps_its_definition() -> None:
    class Node(BaseModel):
        children: list["Node"] = []

    @function_tool
    def walk(node: Node) -> None: ...

    schema = walk.definition.input_schema
    assert "#/$defs/Node" in json.dumps(schema["properties"])
    assert "Node" in json.dumps(schema["$defs"])


def test_a_declared_tool_is_still_a_function() -> None:
    @function_tool
    def double(a: int) -> int:
        """Double."""
        return a * 2

    assert double(4) == 8
    assert double.__doc__ == "Double."


def test_options_are_kept() -> None:
    @function_tool(name="look-up", description="Look.", parallel_safe=True, effect=Effect.READ)
    async def find(key: str) -> str:
        """Something else."""
        return key

    assert (find.definition.name, find.definition.description) == ("look-up", "Look.")
    assert (find.parallel_safe, find.effect) == (True, Effect.READ)
    assert (add.parallel_safe, add.effect) == (False, Effect.IRREVERSIBLE)


async def test_arguments_reach_the_function_and_its_value_comes_back() -> None:
    assert (await invoke(add, a=1, b=2)).output == "3"
    assert (await invoke(add, a=1)).output == "4"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": "1", "b": 2.0}', "3"),  # numbers as text and whole floats
        ('{"a": 1, "b": null}', "4"),  # a null for an optional argument
        ('"{\\"a\\": 1}"', "4"),  # encoded twice
    ],
)
async def test_common_slips_of_models_are_understood(text: str, expected: str) -> None:
    assert (await invoke_text(add, text)).output == expected


@pytest.mark.parametrize("text", ["", "  ", "null", "{}"])
async def test_no_arguments_at_all_are_an_empty_object(text: str) -> None:
    assert output(await invoke_text(nothing, text)) == "done"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1, "a": 2}', "duplicate member"),
        ('{"a": 1', "invalid JSON"),
        ('{"a": 1} x', "invalid JSON"),
        ('{"a": NaN}', "invalid JSON"),
        ("[1]", "must be one JSON object"),
        ("5", "must be one JSON object"),
        ('"abc"', "invalid JSON"),
        ("{}", "a: required but missing"),
        ('{"a": null}', "a: input should be a valid integer"),
        ('{"a": 1, "c": 2}', "c: no such argument"),
        ('{"a": 1.5}', "a: input should be a valid integer, got a number with a fractional part"),
    ],
)
async def test_wrong_arguments_are_explained_with_what_the_model_wrote(
    text: str, reason: str
) -> None:
    result = await invoke_text(add, text)
    assert result.error is not None
    assert result.error.code == "invalid_arguments"
    assert reason in result.error.message
    assert result.error.message.endswith(f"You wrote: {text}")


async def test_numbers_and_booleans_are_coerced_both_ways() -> None:
    seen: list[object] = []

    @function_tool
    async def take(text: str, flag: bool, many: list[float]) -> None:
        seen.extend([text, flag, many])

    await invoke(take, text=12, flag="true", many=["1.5"])
    assert seen == ["12", True, [1.5]]


async def test_nulls_of_optional_members_are_dropped_at_any_depth() -> None:
    class Options(BaseModel):
        retries: int = 3

    @function_tool
    async def run(options: list[Options]) -> int:
        return options[0].retries

    assert (await invoke(run, options=[{"retries": None}])).output == "3"


async def test_a_null_that_means_something_is_kept() -> None:
    @function_tool
    async def limit(most: int | None = 5) -> str:
        return repr(most)

    assert output(await invoke(limit, most=None)) == "None"


async def test_the_invocation_is_injected_and_hidden() -> None:
    @function_tool
    async def who(name: str, call: ToolInvocation) -> str:
        call.report(f"asking {name}")
        return f"{name} in {call.session_id}"

    assert list(who.definition.input_schema["properties"]) == ["name"]  # type: ignore[call-overload]  # plain JSON
    assert output(await invoke(who, name="me")) == "me in session-1"


async def test_a_sync_function_runs_in_a_worker_thread() -> None:
    @function_tool
    def where() -> bool:
        return threading.current_thread() is threading.main_thread()

    assert (await invoke(where)).output == "false"


@dataclass
class Point:
    x: int
    y: int


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain text", '"plain text"'),
        (None, None),
        ({"a": [1, 2.5, True]}, '{"a":[1,2.5,true]}'),
        (Point(1, 2), '{"x":1,"y":2}'),
        (Place(name="K2"), '{"name":"K2","height":null}'),
        (float("nan"), '"NaN"'),
        (Unit.KELVIN, '"kelvin"'),
    ],
)
async def test_what_a_function_returns_becomes_json(value: object, expected: str | None) -> None:
    @function_tool
    async def give() -> object:
        return value

    assert (await invoke(give)).output == expected


async def test_a_tool_result_passes_through() -> None:
    @function_tool
    async def vote(call: ToolInvocation) -> ToolResult:
        return ToolResult(call.call.id, ToolResult.succeeded(call.call.id).status, terminate=True)

    assert (await invoke(vote)).terminate


async def test_a_value_without_a_json_form_is_a_failure() -> None:
    @function_tool
    async def give() -> object:
        return object()

    assert code(await invoke(give)) == "invalid_tool_result"


async def test_a_result_that_is_too_large_is_a_failure_that_says_so() -> None:
    @function_tool
    async def much() -> str:
        return "x" * 2000

    result = await invoke_text(much, "{}", max_bytes=1000)
    assert code(result) == "result_too_large"


async def test_an_expected_failure_reaches_the_model_in_its_own_words() -> None:
    @function_tool
    async def pay() -> None:
        raise ToolFailedError("card_declined", "the card was declined; ask for another")

    result = await invoke(pay)
    assert result.error is not None
    assert (result.error.code, result.error.message) == (
        "card_declined",
        "the card was declined; ask for another",
    )


async def test_the_text_of_another_exception_stays_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @function_tool
    async def leak() -> None:
        raise ValueError("password=hunter2")

    with caplog.at_level(logging.WARNING, logger="agentslot.tool"):
        result = await invoke(leak)
    assert result.error is not None
    assert result.error.code == "tool_internal"
    assert "hunter2" not in result.error.message
    assert "ValueError" in result.error.message
    assert "hunter2" in caplog.text


async def test_a_call_that_takes_too_long_is_a_failure() -> None:
    @function_tool(timeout_seconds=0.01)
    async def wait() -> None:
        await anyio.sleep_forever()

    assert code(await invoke(wait)) == "timeout"


async def test_a_sync_call_that_takes_too_long_is_left_to_itself() -> None:
    released = threading.Event()

    @function_tool(timeout_seconds=0.01)
    def wait() -> None:
        released.wait(5)

    try:
        assert code(await invoke(wait)) == "timeout"
    finally:
        released.set()


async def test_cancellation_passes_through() -> None:
    entered = anyio.Event()
    finished: list[ToolResult] = []

    @function_tool
    async def wait() -> None:
        entered.set()
        await anyio.sleep_forever()

    async def call() -> None:
        finished.append(await wait.invoke(invocation("wait", "{}")))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        await entered.wait()
        tasks.cancel_scope.cancel()
    assert finished == []


class Desk:
    def ring(self) -> None:
        """Ring the bell."""


@dataclass
class HalfDefined:
    member: "Nowhere"  # type: ignore[name-defined]  # noqa: F821  # on purpose


def no_annotation(a) -> None: ...  # type: ignore[no-untyped-def]  # on purpose
def open_ended(*args: int) -> None: ...
def open_named(**options: int) -> None: ...
def positional(a: int, /) -> None: ...
def unknown_type(a: int, b: threading.Event) -> None: ...
def half_defined(a: HalfDefined) -> None: ...
def boundless(a: list[ToolInvocation]) -> None: ...
def unresolved(a: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821  # on purpose


async def stream() -> AsyncGenerator[int]:
    yield 1


REFUSED: list[tuple[Callable[..., object], str]] = [
    (no_annotation, "parameter 'a' has no annotation"),
    (Desk.ring, "'self' has no annotation; make a tool of the bound method instead"),
    (open_ended, "parameter 'args' cannot be passed by name; take a list instead"),
    (open_named, "parameter 'options' cannot be passed by name; .* or take a dict"),
    (positional, "parameter 'a' cannot be passed by name; take the `/` out"),
    (unknown_type, "type of parameter 'b' has no JSON Schema: .*threading.Event'>$"),
    (half_defined, "type of parameter 'a' has no JSON Schema: a name in it is not defined"),
    (boundless, "type of parameter 'a' has no JSON Schema: it holds itself without a name"),
    (unresolved, "its annotations cannot be read"),
    (lambda: None, "pass name=…"),
    (stream, "it is an async generator; return a list of what it gives"),
    (str, "no signature found .*; wrap it in a function of your own"),
]


@pytest.mark.parametrize(("function", "reason"), REFUSED)
def test_a_function_that_cannot_be_shown_to_a_model_is_refused(
    function: Callable[..., object], reason: str
) -> None:
    with pytest.raises(ToolDeclarationError, match=reason):
        function_tool(function)


def weigh(grams: int) -> int:
    """Weigh something."""
    return grams


@pytest.mark.parametrize("effect", ["reed", "read", None, 3])
def test_an_effect_is_one_of_ours(effect: Any) -> None:  # as untyped code gives it
    wanted = f"its effect is {effect!r}: use one of Effect.PURE, Effect.READ"
    with pytest.raises(ToolDeclarationError, match=wanted):
        function_tool(effect=effect)(weigh)


def test_a_tool_is_made_once() -> None:
    with pytest.raises(ToolDeclarationError, match="'add' cannot be a tool: it is one already"):
        function_tool(add)


def test_a_time_limit_must_be_positive() -> None:
    with pytest.raises(ToolDeclarationError, match="timeout_seconds must be positive"):
        function_tool(timeout_seconds=0)(weigh)
