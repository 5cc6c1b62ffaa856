"""What the families of Gemini models take, where they are asked, and tools in their dialect."""

import json
from dataclasses import replace
from typing import Any

import pytest

from agentslot.model import GoogleSettings, ModelConfig, Reasoning, VertexProject
from agentslot.model.wires.google_generative_ai import (
    GoogleGenerativeAIDecoder,
    GoogleGenerativeAIWire,
)
from tests.model.support import decode, remembered, request
from tests.model.test_google_decoder import chunk, sse
from tests.model.test_google_encoder import CONFIG, GO_ON, body_of


@pytest.mark.parametrize(
    ("model", "effort", "thinking"),
    [
        ("gemini-3.8-flash", Reasoning.LOW, {"thinkingLevel": "LOW"}),
        ("gemini-3.8-flash", Reasoning.MAX, {"thinkingLevel": "HIGH"}),
        ("gemini-3-pro-preview", Reasoning.MEDIUM, {"thinkingLevel": "HIGH"}),
        ("gemini-3.1-pro-preview", Reasoning.MEDIUM, {"thinkingLevel": "MEDIUM"}),
        ("gemini-flash-latest", Reasoning.MEDIUM, {"thinkingLevel": "MEDIUM"}),
        ("gemini-2.5-pro", Reasoning.XHIGH, {"thinkingBudget": 32_768}),
        ("gemini-2.5-flash-lite", Reasoning.LOW, {"thinkingBudget": 1_024}),
        ("gemini-2.0-flash", Reasoning.HIGH, None),
        ("gemma-3-27b-it", Reasoning.HIGH, None),
        ("gemini-3.8-flash", Reasoning.DEFAULT, None),
    ],
)
def test_a_model_is_asked_to_think_as_its_family_takes_it(
    model: str, effort: Reasoning, thinking: dict[str, Any] | None
) -> None:
    sent = body_of([GO_ON], config=ModelConfig("google", model, effort))
    assert sent.get("generationConfig", {}).get("thinkingConfig") == thinking


def test_thoughts_are_asked_for_only_of_models_that_think() -> None:
    show = GoogleSettings(show_thoughts=True)
    sent = body_of([GO_ON], settings=show)
    assert sent["generationConfig"] == {"thinkingConfig": {"includeThoughts": True}}
    old = replace(CONFIG, model="gemini-2.0-flash")
    assert "generationConfig" not in body_of([GO_ON], settings=show, config=old)


@pytest.mark.parametrize(
    ("model", "vertex", "path"),
    [
        ("gemini-x", None, "models/gemini-x"),
        ("tunedModels/mine", None, "tunedModels/mine"),
        ("odd?name#", None, "models/odd%3Fname%23"),
        (
            "gemini-x",
            VertexProject("p", "us-central1"),
            "projects/p/locations/us-central1/publishers/google/models/gemini-x",
        ),
        (
            "publishers/meta/models/llama",
            VertexProject("p"),
            "projects/p/locations/global/publishers/meta/models/llama",
        ),
        (
            "projects/q/locations/l/endpoints/1",
            VertexProject("p"),
            "projects/q/locations/l/endpoints/1",
        ),
    ],
)
def test_the_path_names_the_model_where_it_is(
    model: str, vertex: VertexProject | None, path: str
) -> None:
    wire = GoogleGenerativeAIWire(GoogleSettings(api_version="v1beta"), vertex)
    sent = wire.encode(request([GO_ON], config=ModelConfig("google", model)))
    assert sent.path == f"/v1beta/{path}:streamGenerateContent?alt=sse"


def test_a_project_has_its_own_server_and_wants_a_token_instead_of_a_key() -> None:
    regional, everywhere = VertexProject("p", "europe-west4"), VertexProject("p")
    assert regional.base_url == "https://europe-west4-aiplatform.googleapis.com"
    assert everywhere.base_url == "https://aiplatform.googleapis.com"
    assert GoogleGenerativeAIWire(None, regional).authorization("t") == {
        "authorization": "Bearer t"
    }
    assert GoogleGenerativeAIWire().authorization("k") == {"x-goog-api-key": "k"}
    with pytest.raises(ValueError, match="location must be the id"):
        VertexProject("p", "evil.example/")


def declared(schema: dict[str, Any]) -> dict[str, Any]:
    asked = request([GO_ON], config=CONFIG)
    tool = replace(asked.tools[0], input_schema=schema)
    sent = json.loads(GoogleGenerativeAIWire().encode(replace(asked, tools=(tool,))).body)
    written: dict[str, Any] = sent["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"]
    return written


def test_a_schema_that_the_vendor_reads_stays_as_it_is() -> None:
    schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "const": {"type": ["string", "null"], "enum": ["a", None], "title": "T"},
            "list": {"type": "array", "items": {"$ref": "#/$defs/n"}, "minItems": 1},
            "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "number"}]},
            "map": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
        },
        "required": ["const"],
        "$defs": {"n": {"anyOf": [{"type": "integer"}, {"type": "boolean"}], "description": "d"}},
    }
    assert declared(schema) == schema


def test_what_has_another_name_in_the_vendors_dialect_is_renamed() -> None:
    properties = {
        "one": {"const": 1},
        "any": {"oneOf": [{"const": "a"}, {"type": "null"}]},
        "all": {"allOf": [{"$ref": "#/$defs/x"}], "description": "mine"},
    }
    written = declared({"$schema": "https://json-schema.org/…", "properties": properties})
    assert written == {
        "properties": {
            "one": {"enum": [1]},
            "any": {"anyOf": [{"enum": ["a"]}, {"type": "null"}]},
            "all": {"anyOf": [{"$ref": "#/$defs/x"}], "description": "mine"},
        }
    }


def test_nothing_stands_beside_a_reference() -> None:
    """The vendor refuses any member there but those that begin with a dollar sign."""
    written = declared(
        {
            "properties": {
                "plain": {"$ref": "#/$defs/x", "default": None},
                "described": {"$ref": "#/$defs/x", "description": "mine"},
                "bound": {"$ref": "#/$defs/x", "pattern": "^a"},
                "either": {"$ref": "#/$defs/x", "anyOf": [{"minimum": 1}]},
            },
            "$defs": {"x": {"type": "string"}},
        }
    )
    lone = {"$ref": "#/$defs/x"}
    assert written["properties"] == {
        "plain": lone,
        "described": {"anyOf": [lone], "description": "mine"},
        "bound": {"anyOf": [lone], "description": 'Must also satisfy {"pattern":"^a"}'},
        "either": {
            "anyOf": [lone],
            "description": 'Must also satisfy {"allOf":[{"anyOf":[{"minimum":1}]}]}',
        },
    }


def test_definitions_of_older_drafts_are_found_where_the_vendor_looks() -> None:
    old = {"properties": {"a": {"$ref": "#/definitions/x"}}, "definitions": {"x": {"const": 1}}}
    assert declared(old) == {
        "properties": {"a": {"$ref": "#/$defs/x"}},
        "$defs": {"x": {"enum": [1]}},
    }


def test_a_definition_does_not_require_what_leads_back_to_it() -> None:
    """The vendor takes a cycle of references only where it need not be followed."""
    tree = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
        },
        "required": ["name", "kids"],
    }
    schema = {
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/tree"}, "other": {"$ref": "#/$defs/leaf"}},
        "required": ["root", "other"],
        "$defs": {"tree": tree, "leaf": {"type": "string"}},
    }
    written = declared(schema)
    assert written["required"] == ["root", "other"]
    assert written["$defs"]["tree"] == {**tree, "required": ["name"]}
    itself = {"properties": {"next": {"$ref": "#"}, "n": {"type": "null"}}, "required": ["next"]}
    assert declared(itself)["required"] == []


def test_values_and_types_that_the_vendor_has_no_place_for_become_what_it_has() -> None:
    properties = {
        "nothing": {"const": None},
        "yes": {"const": True},
        "maybe": {"type": "string", "nullable": True},
        "any": True,
        "none": False,
        "pair": {"type": "array", "items": [{"type": "integer"}, True]},
        "one": {"type": "array", "prefixItems": [{"type": "integer"}], "items": False},
    }
    assert declared({"properties": properties})["properties"] == {
        "nothing": {"type": "null"},
        "yes": {"type": "boolean", "description": 'Must also satisfy {"const":true}'},
        "maybe": {"type": ["string", "null"]},
        "any": {},
        "none": {"description": "No value fits here."},
        "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {}]},
        "one": {
            "type": "array",
            "prefixItems": [{"type": "integer"}],
            "description": 'Must also satisfy {"items":false}',
        },
    }


def test_a_constraint_that_the_vendor_does_not_read_is_said_in_words() -> None:
    code = {"type": "string", "pattern": "^a+$", "maxLength": 3, "description": "A code."}
    written = declared({"properties": {"code": code}})["properties"]["code"]
    assert written == {
        "type": "string",
        "description": 'A code.\nMust also satisfy {"pattern":"^a+$","maxLength":3}',
    }
    assert declared({"not": {"required": ["a"]}}) == {
        "description": 'Must also satisfy {"not":{"required":["a"]}}'
    }


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("ping", "ping"),
        ("_ping", "_ping"),
        ("2fa", "_2fa"),
        ("_2fa", "__2fa"),
        ("-x", "_-x"),
        ("7" * 64, "_" + "7" * 64),
    ],
)
def test_a_tool_is_called_by_its_own_name_also_where_the_vendor_wants_another(
    name: str, sent: str
) -> None:
    asked = request([GO_ON], config=CONFIG)
    asked = replace(asked, tools=(replace(asked.tools[0], name=name),))
    body = json.loads(GoogleGenerativeAIWire().encode(asked).body)
    assert body["tools"][0]["functionDeclarations"][0]["name"] == sent
    called = chunk({"functionCall": {"name": sent, "args": {}}}, finish="STOP")
    answer, _ = decode(sse(called), make=GoogleGenerativeAIDecoder)
    assert [call.name for call in answer.completion.calls] == [name]
    history = remembered(2, answer.completion, CONFIG)
    contents = body_of([GO_ON, *history])["contents"]
    assert contents[1]["parts"][0]["functionCall"]["name"] == sent
    assert contents[2]["parts"][0]["functionResponse"]["name"] == sent
