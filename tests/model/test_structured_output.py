"""How a wanted form is asked for: the choice of the way, and the schemas that vendors take."""

import json
from dataclasses import replace
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter

from agentslot._json import dumps, loads
from agentslot.model import (
    Completion,
    ExecutionCapabilities,
    FinishReason,
    ModelRequest,
    Reasoning,
    RequestedCall,
    ToolDefinition,
)
from agentslot.model.structured import answered, shaped
from agentslot.model.wires.anthropic_messages import AnthropicMessagesWire
from agentslot.model.wires.openai_completions import OpenAICompletionsWire
from agentslot.model.wires.openai_responses.items import ORDER
from agentslot.model.wires.outputschema import constrained_schema, is_closed, strict_schema
from agentslot.model.wires.reading import JsonObject, as_object
from agentslot.session import (
    ClassifiedError,
    OutputFormat,
    OutputStrategy,
    ReasoningPart,
    TextPart,
)
from tests.model.support import CONFIG, PING, request

NATIVE, TOOL, PROMPTED = OutputStrategy
NUMBER = OutputFormat('{"type":"object","properties":{"n":{"type":"integer"}}}')
FREE = OutputFormat('{"type":"object","additionalProperties":{"type":"integer"}}')


def asked(
    output: OutputFormat, *strategies: OutputStrategy, tools: bool = False, together: bool = True
) -> ModelRequest:
    """The request to a model that can do that."""
    known = ExecutionCapabilities(
        100_000, structured_output=strategies, native_output_with_tools=together
    )
    plain = replace(request([], None, CONFIG), output=output, tools=(PING,) if tools else ())
    return shaped(plain, known)


def way(shown: ModelRequest) -> OutputStrategy | None:
    return None if shown.output is None else shown.output.strategy


def test_the_best_way_that_a_model_has_is_taken() -> None:
    assert way(asked(NUMBER, NATIVE, TOOL, PROMPTED)) is NATIVE
    assert way(asked(NUMBER, TOOL, PROMPTED)) is TOOL
    assert way(asked(NUMBER, NATIVE, TOOL, tools=True)) is NATIVE
    assert way(asked(NUMBER, NATIVE, TOOL, tools=True, together=False)) is TOOL
    assert way(asked(FREE, NATIVE, TOOL)) is TOOL
    for shown in (asked(NUMBER), asked(NUMBER, PROMPTED), asked(FREE, NATIVE)):
        assert shown.output is None
        assert shown.inputs.lasting == 0
        assert len(shown.inputs) == 1


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}},
        {"oneOf": [{"type": "object"}, {"type": "null"}]},
        {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {},
    ],
)
def test_what_is_not_plainly_an_object_is_no_tool(schema: JsonObject) -> None:
    """The arguments of a tool are an object everywhere."""
    assert way(asked(OutputFormat(dumps(schema)), TOOL, PROMPTED)) is None


def test_a_reference_that_leads_elsewhere_than_into_definitions_is_not_native() -> None:
    old = {"$ref": "#/definitions/x"}
    schema = {"type": "object", "properties": {"a": old}, "definitions": {"x": {"type": "null"}}}
    assert way(asked(OutputFormat(json.dumps(schema)), NATIVE, TOOL)) is TOOL
    itself = {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}}
    assert way(asked(OutputFormat(json.dumps(itself)), NATIVE, TOOL)) is TOOL


def test_a_way_can_be_forced_if_the_model_has_it() -> None:
    assert way(asked(replace(NUMBER, strategy=TOOL), NATIVE, TOOL)) is TOOL
    assert way(asked(replace(FREE, strategy=NATIVE), NATIVE, TOOL)) is NATIVE
    for tools, known in ((False, (TOOL,)), (True, (NATIVE, TOOL))):
        with pytest.raises(ClassifiedError) as caught:
            asked(replace(NUMBER, strategy=NATIVE), *known, tools=tools, together=False)
        assert caught.value.code == "output_strategy_not_supported"


def test_the_tool_for_the_answer_stands_last_under_a_name_of_its_own() -> None:
    taken = ToolDefinition("final_answer", "Mine.", {"type": "object"})
    plain = replace(request([], None, CONFIG), output=NUMBER, tools=(taken, PING))
    shown = shaped(plain, ExecutionCapabilities(100_000, structured_output=(TOOL,)))
    assert [tool.name for tool in shown.tools] == ["final_answer", "ping", "final_answer_"]
    assert shown.tools[-1].input_schema == json.loads(NUMBER.schema)


@pytest.mark.parametrize(
    ("server", "demanded"),
    [("https://api.openai.com/v1", True), ("https://api.deepseek.com", False)],
)
def test_a_call_is_demanded_of_servers_only_that_take_that(server: str, demanded: bool) -> None:
    body = json.loads(OpenAICompletionsWire(server).encode(asked(NUMBER, TOOL)).body)
    assert ("tool_choice" in body) == demanded
    assert len(body["tools"]) == 1


def test_claude_is_not_forced_to_call_while_it_thinks() -> None:
    shown = asked(NUMBER, TOOL)
    config = replace(shown.config, model="claude-opus-5", reasoning=Reasoning.LOW)
    wire = AnthropicMessagesWire()
    assert "tool_choice" not in json.loads(wire.encode(replace(shown, config=config)).body)


def test_an_answer_without_the_tool_is_left_as_it_is() -> None:
    said = Completion((TextPart('{"n":1}'),))
    assert answered(said, "final_answer") is said


def test_an_answer_that_was_cut_off_stays_so() -> None:
    cut = Completion((), (RequestedCall("c", "final_answer", '{"n":'),), FinishReason.LENGTH)
    answer = answered(cut, "final_answer")
    assert answer.finish is FinishReason.LENGTH
    assert answer.parts == (TextPart('{"n":'),)


@given(st.lists(st.sampled_from(["thought", "text", "ping", "final_answer"]), min_size=1))
def test_what_goes_back_to_the_model_fits_what_is_left(kinds: list[str]) -> None:
    """A call that stays keeps its own place; thoughts stay before what they led to."""
    blocks: list[JsonObject] = []
    parts: list[TextPart | ReasoningPart] = []
    calls: list[RequestedCall] = []
    for number, kind in enumerate(kinds):
        if kind == "thought":
            blocks.append({"type": "reasoning", "id": f"i{number}"})
            parts.append(ReasoningPart("hm"))
        elif kind == "text":
            blocks.append({"type": "message", "id": f"i{number}"})
            parts.append(TextPart("so"))
        else:
            blocks.append({"type": "function_call", "id": f"i{number}"})
            calls.append(RequestedCall(f"i{number}", kind, "{}"))
    completion = Completion(tuple(parts), tuple(calls), continuation=ORDER.to_state(blocks))
    answer = answered(completion, "final_answer")
    assert all(call.name == "ping" for call in answer.calls)
    kept = [as_object(block) for block in _array(answer.continuation)]
    if answer.calls and answer.continuation is not None:
        places = [block["id"] for block in kept if block["type"] == "function_call"]
        assert places == [call.correlation_id for call in answer.calls]
    if "final_answer" in kinds and "ping" not in kinds:
        assert answer.parts[-1] == TextPart("{}")
        assert answer.finish is FinishReason.STOP


def _array(state: str | None) -> list[Any]:
    read = [] if state is None else loads(state)
    return read if isinstance(read, list) else []


class Street(BaseModel):
    """Where somebody lives."""

    name: str = Field(min_length=1)
    number: int | None = None


class Person(BaseModel):
    age: Annotated[int, Field(ge=0)] = 0
    home: Street = Field(description="The first one.")
    kind: Literal["child", "adult"] = "adult"


class Tree(BaseModel):
    leaves: list["Tree"]


def schema(shape: Any) -> JsonObject:
    return as_object(loads(dumps(TypeAdapter(shape).json_schema())))


@pytest.mark.parametrize("shape", [Person, Street])
def test_common_types_can_be_held_to(shape: Any) -> None:
    assert is_closed(schema(shape))


@pytest.mark.parametrize("shape", [dict[str, int], Tree, list[Any], tuple[int, str], Any])
def test_what_leaves_something_open_or_contains_itself_cannot(shape: Any) -> None:
    assert not is_closed(schema(shape))
    assert strict_schema(schema(shape)) is None


def test_a_strict_schema_requires_every_member_and_closes_every_object() -> None:
    class Trip(BaseModel):
        stops: list[str] = []
        days: int = 1

    strict = strict_schema(schema(Trip))
    assert strict is not None
    assert strict["required"] == ["stops", "days"]
    assert strict["additionalProperties"] is False
    assert as_object(strict["properties"])["days"] == {"title": "Days", "type": "integer"}


def test_a_constraint_that_openai_refuses_makes_the_schema_a_wish() -> None:
    assert strict_schema(schema(Person)) is None  # a street's name has a least length


def test_what_anthropic_would_refuse_is_said_in_words() -> None:
    said = constrained_schema(schema(Person))
    age = as_object(as_object(said["properties"])["age"])
    assert age["description"] == 'Must also satisfy {"minimum":0}'
    assert "minimum" not in age
    assert "default" not in age
    home = as_object(as_object(said["properties"])["home"])
    assert home == {"anyOf": [{"$ref": "#/$defs/Street"}], "description": "The first one."}
    street = as_object(as_object(said["$defs"])["Street"])
    assert street["additionalProperties"] is False
    assert street["required"] == ["name"]


def test_a_union_by_a_discriminator_is_a_plain_one() -> None:
    class Cat(BaseModel):
        kind: Literal["cat"]

    class Dog(BaseModel):
        kind: Literal["dog"]

    class Owner(BaseModel):
        pet: Annotated[Cat | Dog, Field(discriminator="kind")]

    strict = strict_schema(schema(Owner))
    assert strict is not None
    pet = as_object(as_object(strict["properties"])["pet"])
    assert pet.keys() == {"title", "anyOf"}


@pytest.mark.parametrize(
    ("schema", "name", "problem"),
    [("{}", "two words", "letters, digits"), ("{", "a", "JSON object"), ("[]", "a", "JSON object")],
)
def test_a_form_has_a_schema_and_a_name_that_every_vendor_takes(
    schema: str, name: str, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        OutputFormat(schema, name)
