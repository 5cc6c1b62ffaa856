"""Whole calls over the wires of Anthropic and of OpenAI's Responses, against a local server."""

from typing import Any

import pytest

from agentslot.model import (
    MODEL_CATALOG,
    MODEL_EXECUTOR,
    AnthropicModule,
    AnthropicSettings,
    Completed,
    ExecutionCapabilities,
    Failed,
    KeyHeader,
    ModelConfig,
    ModelDescriptor,
    ModelEvent,
    ModelRequest,
    OpenAIResponsesModule,
    Reasoning,
    Reset,
    RetryPolicy,
    TextDelta,
)
from agentslot.model.provider import ProviderModule
from agentslot.model.testing import MemoryRecorder
from agentslot.session import AttemptStatus, Role
from tests.loopback import Answer, Loopback, loopback
from tests.model.support import application, case, collect, message, request
from tests.model.test_anthropic_decoder import block, stop
from tests.model.test_anthropic_decoder import sse as messages_sse
from tests.model.test_responses_decoder import delta, end, sse, text

AT_ONCE = RetryPolicy(base_delay_seconds=0.0)
CLAUDE = ModelConfig("anthropic", "claude-opus-5")
GPT = ModelConfig("openai", "gpt-5")
MESSAGES = Answer(
    messages_sse(
        {"type": "message_start", "message": {"usage": {"input_tokens": 5, "output_tokens": 1}}},
        *block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "hi"}),
        *stop(),
    )
)
RESPONSES = Answer(
    sse(
        delta(0, "output_text", "hi"),
        text(0, "hi"),
        end(usage={"input_tokens": 5, "output_tokens": 1}),
    )
)


def asked(config: ModelConfig) -> ModelRequest:
    return request([message(1, Role.USER, "hi")], config=config)


async def ask(
    module: type[AnthropicModule | OpenAIResponsesModule],
    config: ModelConfig,
    *answers: Answer,
    **more: Any,
) -> tuple[list[ModelEvent], MemoryRecorder, Loopback]:
    """One call against scripted answers."""
    recorder = MemoryRecorder()
    settings: dict[str, Any] = {"api_key_env": None, "retry": AT_ONCE, **more}
    async with loopback(*answers) as server:
        made = module([config.model], base_url=server.url, **settings)
        async with application(made).start() as runtime:
            executor = runtime.assembly[MODEL_EXECUTOR]
            events = await collect(executor.execute(asked(config), recorder))
    return events, recorder, server


def shown(events: list[ModelEvent]) -> list[str]:
    return [
        "|" if isinstance(e, Reset) else e.text for e in events if isinstance(e, TextDelta | Reset)
    ]


async def test_a_call_over_each_wire_streams_and_is_recorded() -> None:
    for module, config, answer, path in (
        (AnthropicModule, CLAUDE, MESSAGES, "/v1/messages"),
        (OpenAIResponsesModule, GPT, RESPONSES, "/responses"),
    ):
        events, recorder, server = await ask(module, config, answer)
        assert shown(events) == ["hi"]
        assert isinstance(events[-1], Completed)
        [outcome] = recorder.outcomes.values()
        assert outcome is not None
        assert outcome.status is AttemptStatus.SUCCEEDED
        assert outcome.usage is not None
        assert outcome.usage.input == 5
        assert server.requests[0].path == path
        assert "authorization" not in server.requests[0].headers


async def test_an_answer_cut_off_is_tried_again_and_shown_once() -> None:
    cut = Answer(case("W17/mid_stream.txt"))
    events, recorder, _ = await ask(AnthropicModule, CLAUDE, cut, MESSAGES)
    assert shown(events) == ["The answer", "|", "hi"]
    assert len(recorder.outcomes) == 2
    cut = Answer(case("W16/responses_jump_to_completed.txt"))
    events, _, _ = await ask(OpenAIResponsesModule, GPT, cut, RESPONSES)
    assert shown(events) == ["hi"]


async def test_version_and_key_stand_in_the_head_and_a_secret_in_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-canary")
    refused = Answer(b'{"error":{"message":"bad key sk-canary"}}', 401, "application/json")
    settings = AnthropicSettings(api_version="2023-06-01", key_header=KeyHeader.X_API_KEY)
    key = {"api_key_env": "ANTHROPIC_API_KEY"}
    events, recorder, server = await ask(AnthropicModule, CLAUDE, refused, settings=settings, **key)
    head = server.requests[0].headers
    assert head["anthropic-version"] == "2023-06-01"
    assert head["x-api-key"] == "sk-canary"
    assert "authorization" not in head
    assert isinstance(events[-1], Failed)
    assert "sk-canary" not in f"{events[-1].error}{recorder.outcomes}"


async def test_a_request_id_is_recorded_under_either_name() -> None:
    for name in ("request-id", "x-request-id"):
        answer = Answer(MESSAGES.body, headers=[(name, "req_1")])
        _, recorder, _ = await ask(AnthropicModule, CLAUDE, answer)
        [outcome] = recorder.outcomes.values()
        assert outcome is not None
        assert outcome.provider_request_id == "req_1"


async def test_the_name_of_an_answer_is_recorded_beside_that_of_the_exchange() -> None:
    body = MESSAGES.body.replace(b'"message": {', b'"message": {"id": "msg_1", ')
    answered = Answer(body, headers=[("request-id", "req_1")])
    _, recorder, _ = await ask(AnthropicModule, CLAUDE, answered)
    [outcome] = recorder.outcomes.values()
    assert outcome is not None
    assert (outcome.provider_request_id, outcome.response_id) == ("req_1", "msg_1")


@pytest.mark.parametrize(
    ("module", "thinking", "plain"),
    [
        (
            AnthropicModule(["claude-opus-5", "claude-3-opus"]),
            "claude-opus-5",
            "claude-3-opus",
        ),
        (OpenAIResponsesModule(["gpt-5", "gpt-4o"]), "gpt-5", "gpt-4o"),
    ],
)
def test_a_model_named_by_its_id_offers_what_its_kind_can_do(
    module: ProviderModule, thinking: str, plain: str
) -> None:
    assembly = application(module).build()
    [(provider, catalog)] = assembly[MODEL_CATALOG].items()
    assert [descriptor.model for descriptor in catalog.models()] == [thinking, plain]
    inspect = assembly[MODEL_EXECUTOR].inspect
    assert Reasoning.HIGH in inspect(ModelConfig(provider, thinking)).reasoning
    assert inspect(ModelConfig(provider, plain)).reasoning == (Reasoning.DEFAULT,)


async def test_the_known_output_limit_of_a_model_bounds_its_requests() -> None:
    small = ModelDescriptor(
        "anthropic", "claude-opus-5", ExecutionCapabilities(1_000, max_output_tokens=100)
    )
    async with loopback(MESSAGES) as server:
        module = AnthropicModule([small], base_url=server.url, api_key_env=None)
        async with application(module).start() as runtime:
            executor = runtime.assembly[MODEL_EXECUTOR]
            await collect(executor.execute(asked(CLAUDE), MemoryRecorder()))
    assert server.requests[0].json()["max_tokens"] == 100
