"""Whole calls over Google's wire, against a local server."""

from typing import Any

import pytest

from agentslot.model import (
    MODEL_CATALOG,
    MODEL_EXECUTOR,
    Completed,
    Failed,
    GoogleModule,
    GoogleSettings,
    ModelConfig,
    ModelErrorCode,
    ModelEvent,
    Reasoning,
    RetryPolicy,
    TextDelta,
    VertexProject,
)
from agentslot.model.testing import MemoryRecorder
from agentslot.session import AttemptStatus, Role, TokenUsage
from tests.loopback import Answer, Loopback, loopback
from tests.model.support import application, case, collect, message, request
from tests.model.test_google_decoder import chunk, sse

CONFIG = ModelConfig("google", "gemini-3.8-flash")
METADATA = {"promptTokenCount": 5, "candidatesTokenCount": 7, "totalTokenCount": 12}
HELLO = Answer(
    sse(
        chunk("hi", modelVersion="gemini-3.8-flash-001"),
        chunk("", finish="STOP", usageMetadata=METADATA),
    )
)


async def ask(*answers: Answer, **more: Any) -> tuple[list[ModelEvent], MemoryRecorder, Loopback]:
    """One call against scripted answers."""
    recorder = MemoryRecorder()
    settings: dict[str, Any] = {"retry": RetryPolicy(base_delay_seconds=0), **more}
    async with loopback(*answers) as server:
        module = GoogleModule([CONFIG.model], base_url=server.url, **settings)
        async with application(module).start() as runtime:
            asked = request([message(1, Role.USER, "hi")], config=CONFIG)
            stream = runtime.assembly[MODEL_EXECUTOR].execute(asked, recorder)
            events = await collect(stream)
    return events, recorder, server


async def test_a_call_streams_and_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "key")
    events, recorder, server = await ask(HELLO)
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["hi"]
    assert isinstance(events[-1], Completed)
    [outcome] = recorder.outcomes.values()
    assert outcome is not None
    assert (outcome.status, outcome.usage, outcome.served_model) == (
        AttemptStatus.SUCCEEDED,
        TokenUsage(input=5, output=7, total=12),
        "gemini-3.8-flash-001",
    )
    [sent] = server.requests
    assert sent.path == "/v1/models/gemini-3.8-flash:streamGenerateContent?alt=sse"
    assert sent.headers["x-goog-api-key"] == "key"
    assert "authorization" not in sent.headers


async def test_a_project_in_the_cloud_is_asked_with_a_token_whatever_else_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "key")
    monkeypatch.setenv("GOOGLE_ACCESS_TOKEN", "token")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "ambient")
    _, _, server = await ask(HELLO, vertex=VertexProject("mine", "us-central1"))
    [sent] = server.requests
    assert sent.path.startswith("/v1/projects/mine/locations/us-central1/publishers/google/models/")
    assert sent.headers["authorization"] == "Bearer token"
    assert "x-goog-api-key" not in sent.headers


async def test_a_missing_key_names_its_variable_and_sends_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    events, _, server = await ask()
    assert isinstance(events[-1], Failed)
    assert events[-1].error.code == ModelErrorCode.CREDENTIAL_UNAVAILABLE
    assert "GEMINI_API_KEY" in events[-1].error.message
    assert not server.requests


async def test_a_call_that_the_model_miswrote_is_asked_for_again() -> None:
    events, recorder, _ = await ask(
        Answer(case("W19/malformed_empty_content.txt")), HELLO, api_key_env=None
    )
    assert isinstance(events[-1], Completed)
    assert len(recorder.outcomes) == 2


async def test_a_blocked_prompt_is_not_asked_again_and_its_usage_is_recorded() -> None:
    events, recorder, server = await ask(
        Answer(case("W20/prompt_blocked.txt")), HELLO, api_key_env=None
    )
    assert isinstance(events[-1], Failed)
    assert events[-1].error.code == ModelErrorCode.REFUSED
    [outcome] = recorder.outcomes.values()
    assert outcome is not None
    assert outcome.usage == TokenUsage(input=4, total=4)
    assert len(server.requests) == 1


def test_a_model_named_by_its_id_offers_what_its_family_can_do() -> None:
    module = GoogleModule(["gemini-3.8-flash", "gemini-2.0-flash"], settings=GoogleSettings())
    assembly = application(module).build()
    [(provider, catalog)] = assembly[MODEL_CATALOG].items()
    assert provider == "google"
    thinking, plain = (model.capabilities for model in catalog.models())
    assert Reasoning.HIGH in thinking.reasoning
    assert plain.reasoning == (Reasoning.DEFAULT,)
