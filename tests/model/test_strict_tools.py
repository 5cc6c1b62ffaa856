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
