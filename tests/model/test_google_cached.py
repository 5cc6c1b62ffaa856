"""What is kept of a request for Gemini models at the server, and what then is still sent."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.model import (
    GoogleSettings,
    ModelConfig,
    OutputFormat,
    OutputStrategy,
    Reasoning,
    ToolDefinition,
    VertexProject,
)
from agentslot.model.wires.google_generative_ai import CachedContentRequests, GoogleGenerativeAIWire
from agentslot.session import Role
from tests.model.support import PING, message, request

HELD = {"systemInstruction", "tools", "toolConfig"}
FORM = OutputFormat(json.dumps(PING.input_schema), "ping", OutputStrategy.TOOL)


@given(
    system=st.none() | st.text(max_size=20),
    tools=st.sampled_from([(), (PING,)]),
    output=st.sampled_from([None, FORM]),
    speaks_last=st.sampled_from([Role.USER, Role.ASSISTANT]),
    reasoning=st.sampled_from([Reasoning.DEFAULT, Reasoning.HIGH]),
)
def test_head_and_rest_are_together_what_the_request_was(
    system: str | None,
    tools: Sequence[ToolDefinition],
    output: OutputFormat | None,
    speaks_last: Role,
    reasoning: Reasoning,
) -> None:
    config = ModelConfig("google", "gemini-3.8-flash", reasoning=reasoning)
    asked = request([message(1, Role.USER, "q"), message(2, speaks_last, "a")], system, config)
    asked = replace(asked, tools=tuple(tools), output=output if tools else None)
    settings = GoogleSettings(service_tier="flex")
    sent = GoogleGenerativeAIWire(settings).encode(asked)
    whole: dict[str, Any] = json.loads(sent.body)
    named = CachedContentRequests(settings, None).naming(sent, "cachedContents/c1")
    rest: dict[str, Any] = json.loads(named.body)
    assert rest.pop("cachedContent") == named.cached == "cachedContents/c1"
    held = {name: whole.pop(name) for name in HELD & whole.keys()}
    assert rest == whole
    assert (sent.head > 1) == bool(held)
    if held:
        created = CachedContentRequests(settings, None).creation(sent, 60)
        assert json.loads(created.body) == {
            **held,
            "model": "models/gemini-3.8-flash",
            "ttl": "60.000s",
        }


@pytest.mark.parametrize(
    ("model", "version", "vertex", "collection", "named", "path"),
    [
        (
            "gemini-3.8-flash",
            "v1",
            None,
            "/v1beta/cachedContents",
            "models/gemini-3.8-flash",
            "/v1beta/models/gemini-3.8-flash",
        ),
        (
            "tunedModels/mine",
            "v1alpha",
            None,
            "/v1alpha/cachedContents",
            "tunedModels/mine",
            "/v1alpha/tunedModels/mine",
        ),
        (
            "gemini-3.8-flash",
            "v1",
            VertexProject("example.com:p", "global"),
            "/v1/projects/example.com:p/locations/global/cachedContents",
            "projects/example.com:p/locations/global/publishers/google/models/gemini-3.8-flash",
            "/v1/projects/example.com:p/locations/global/publishers/google/models/gemini-3.8-flash",
        ),
    ],
)
def test_it_is_kept_where_the_model_is_asked(
    model: str, version: str, vertex: VertexProject | None, collection: str, named: str, path: str
) -> None:
    settings = GoogleSettings(api_version=version)
    asked = request([message(1, Role.USER, "q")], "Be brief.", ModelConfig("google", model))
    sent = GoogleGenerativeAIWire(settings, vertex).encode(asked)
    requests = CachedContentRequests(settings, vertex)
    created = requests.creation(sent, 60)
    assert (created.path, json.loads(created.body)["model"]) == (collection, named)
    assert requests.naming(sent, "x").path == f"{path}:streamGenerateContent?alt=sse"
