"""Tools whose schema a provider shall hold the model to, where it can and the schema allows it."""

import json
from dataclasses import replace
from typing import Any

import pytest

from agentslot.model.wire import Wire
from agentslot.model.wires.anthropic_messages import AnthropicMessagesWire, AnthropicSettings
from agentslot.model.wires.google_generative_ai import GoogleGenerativeAIWire
from agentslot.model.wires.ollama_chat import OllamaChatWire
from agentslot.model.wires.openai_completions import OpenAICompletionsWire, profile_for
from agentslot.model.wires.openai_responses import OpenAIResponsesWire
from agentslot.session import ToolDefinition
from benchmarks.encode import Schema
from tests.model.support import request

CITY: dict[str, Any] = {"type": "string", "title": "City", "default": "Bern"}
CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"city": CITY, "days": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
    "required": ["city", "days"],
    "additionalProperties": False,
}
INNER = {**CLOSED, "properties": {"city": CITY, "days": {**CLOSED, "required": ["city"]}}}
UNFIT: dict[str, dict[str, Any]] = {
    "a member may be left out": {**CLOSED, "required": ["city"]},
    "one further inside may": INNER,
    "any member may be there": {**CLOSED, "additionalProperties": True},
    "anything may stand in one": {**CLOSED, "properties": {"city": {}, "days": CITY}},
    "members are not listed": {"type": "object", "additionalProperties": False},
}
OPENAI = OpenAICompletionsWire("https://api.openai.com/v1")
CLAUDE = AnthropicMessagesWire(AnthropicSettings(strict_tools=True))
HOLDING = {"completions": OPENAI, "responses": OpenAIResponsesWire(), "anthropic": CLAUDE}
OTHERS = {
    "compatible": OpenAICompletionsWire("https://api.together.ai/v1"),
    "anthropic": AnthropicMessagesWire(),
    "google": GoogleGenerativeAIWire(),
    "ollama": OllamaChatWire(),
}


def sent(wire: Wire, schema: Any, *, strict: bool = True) -> dict[str, Any]:
    """How a tool with that schema is sent."""
    tool = ToolDefinition("trip", "Plans a trip.", schema, strict)
    body = wire.encode(replace(request([]), tools=(tool,))).body
    tools: list[dict[str, Any]] = json.loads(body)["tools"]
    shown: dict[str, Any] = tools[0].get("function", tools[0])
    return shown


@pytest.mark.parametrize("wire", HOLDING.values(), ids=HOLDING)
def test_a_provider_that_can_is_asked_to_hold_the_model_to_a_schema_that_fits(wire: Wire) -> None:
    shown = sent(wire, CLOSED)
    assert shown["strict"] is True
    schema = shown["input_schema" if wire is CLAUDE else "parameters"]
    assert schema["required"] == ["city", "days"]
    assert schema["properties"]["city"] == {"type": "string", "title": "City"}  # no default


@pytest.mark.parametrize("wire", HOLDING.values(), ids=HOLDING)
@pytest.mark.parametrize("schema", UNFIT.values(), ids=UNFIT)
def test_a_schema_that_does_not_fit_goes_out_as_it_would_without_the_wish(
    wire: Wire, schema: dict[str, Any]
) -> None:
    shown = sent(wire, schema)
    assert not shown.get("strict")
    assert shown == sent(wire, schema, strict=False)


@pytest.mark.parametrize("wire", OTHERS.values(), ids=OTHERS)
def test_a_provider_that_cannot_is_sent_the_tool_without_the_wish(wire: Wire) -> None:
    shown = sent(wire, CLOSED)
    assert "strict" not in shown
    assert shown == sent(wire, CLOSED, strict=False)


def test_a_constraint_that_openai_refuses_leaves_the_tool_without_the_wish() -> None:
    bounded = {**CLOSED, "properties": {"city": {**CITY, "minLength": 2}, "days": CITY}}
    assert "strict" not in sent(OPENAI, bounded)
    city = sent(CLAUDE, bounded)["input_schema"]["properties"]["city"]
    assert city["description"] == 'Must also satisfy {"minLength":2}'


@pytest.mark.parametrize("wire", HOLDING.values(), ids=HOLDING)
def test_it_is_decided_once_for_each_tool(wire: Wire) -> None:
    tool = ToolDefinition("trip", "Plans a trip.", Schema(CLOSED), strict=True)
    asked = replace(request([]), tools=(tool,))
    wire.encode(asked)
    read = Schema.reads
    wire.encode(asked)
    assert Schema.reads == read


def test_openais_models_alone_are_held_to_schemas_through_openrouter() -> None:
    host = "https://openrouter.ai/api/v1"
    models = ("openai/gpt-5", "anthropic/claude-opus-5", "qwen/qwen3")
    assert [profile_for(host, model).strict_tools for model in models] == [True, False, False]


def closed(**members: Any) -> dict[str, Any]:
    return {**CLOSED, "properties": members, "required": list(members)}


def either(*options: dict[str, Any]) -> dict[str, Any]:
    return closed(it={"anyOf": [*options, {"type": "null"}]})


def nested(levels: int) -> dict[str, Any]:
    return closed(inner=nested(levels - 1)) if levels > 1 else closed(city=CITY)


def one_of(*values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


TOO_MUCH: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "levels": (nested(10), nested(11)),
    "members": (closed(**{f"m{n}": CITY for n in range(5000)}), nested(11)),
    "enum values": (
        closed(a=one_of(*map(str, range(500))), b=one_of(*map(str, range(500)))),
        closed(a=one_of(*map(str, range(500))), b=one_of(*map(str, range(501)))),
    ),
    "a long enum": (
        closed(a=one_of(*(f"{n:058}" for n in range(251)))),
        closed(a=one_of(*(f"{n:060}" for n in range(251)))),
    ),
    "characters": (closed(**{"m" * 119_000: CITY}), closed(**{"m" * 120_001: CITY})),
    "alternatives that begin with one member": (
        either(closed(name=CITY, a=CITY), closed(title=CITY, a=CITY)),
        either(closed(name=CITY, a=CITY), closed(name=CITY, b=CITY)),
    ),
    "constants that begin alternatives": (
        either(closed(kind={"const": "a"}, a=CITY), closed(kind={"enum": ["b", "c"]}, a=CITY)),
        either(closed(kind={"enum": ["a", "c"]}, a=CITY), closed(kind={"enum": ["b", "c"]})),
    ),
}


@pytest.mark.parametrize(("fits", "exceeds"), TOO_MUCH.values(), ids=TOO_MUCH)
@pytest.mark.parametrize("wire", [OPENAI, HOLDING["responses"]], ids=["completions", "responses"])
def test_openai_is_not_asked_for_more_than_it_holds_a_model_to(
    wire: Wire, fits: dict[str, Any], exceeds: dict[str, Any]
) -> None:
    assert sent(wire, fits)["strict"] is True
    assert not sent(wire, exceeds).get("strict")


def test_definitions_that_are_used_again_and_again_are_looked_at_once() -> None:
    """Forty levels of two uses each would be a million million ways."""
    definitions: dict[str, Any] = {"d0": {"type": "string"}}
    for level in range(1, 41):
        use = {"$ref": f"#/$defs/d{level - 1}"}
        definitions[f"d{level}"] = {"anyOf": [use, use]}
    shown = sent(OPENAI, {**closed(it={"$ref": "#/$defs/d40"}), "$defs": definitions})
    assert shown["strict"] is True
