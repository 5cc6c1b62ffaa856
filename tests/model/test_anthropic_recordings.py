"""Recorded answers of Anthropic decode without loss."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.model import ModelError, ModelErrorCode, ReasoningDelta, TextDelta
from agentslot.model.wire import Answer
from agentslot.model.wires.anthropic_messages import AnthropicMessagesDecoder, AnthropicMessagesWire
from agentslot.session import ReasoningPart, TextPart
from tests.model.support import decode, decode_cut, recorded_answers
from tests.shared import shared

ANSWERS = [
    answer
    for answer in recorded_answers("anthropic", "*.response.txt", b"event: message_start\n")
    if "refusal" not in answer.id
]


def events_of(body: bytes) -> list[dict[str, Any]]:
    """Every event of a body, read naively."""
    lines = body.decode().splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]


def pieces_of(events: list[dict[str, Any]], kind: str, member: str) -> str:
    """All that the deltas of one kind bring, joined."""
    deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    return "".join(delta[member] for delta in deltas if delta["type"] == kind)


def completion_is_announced(answer: Answer, message: dict[str, Any]) -> bool:
    """Whether the answer is what the first event held already: one call."""
    [call], [block] = answer.completion.calls, message["content"]
    return (
        (call.correlation_id, call.name) == (block["id"], block["name"])
        and json.loads(call.arguments) == block["input"]
        and answer.completion.raw_finish == message["stop_reason"]
    )


@pytest.mark.parametrize("body", ANSWERS)
def test_nothing_of_a_recorded_answer_is_lost(body: bytes) -> None:
    answer, deltas = decode(body, make=AnthropicMessagesDecoder)
    events = events_of(body)
    ends = [event for event in events if event["type"] == "message_delta"]
    if not ends:
        assert completion_is_announced(answer, events[0]["message"])
        return
    text = pieces_of(events, "text_delta", "text")
    thought = pieces_of(events, "thinking_delta", "thinking")
    completion = answer.completion
    assert "".join(p.text for p in completion.parts if isinstance(p, TextPart)) == text
    assert "".join(p.text for p in completion.parts if isinstance(p, ReasoningPart)) == thought
    assert "".join(d.text for d in deltas if isinstance(d, TextDelta)) == text
    assert "".join(d.text for d in deltas if isinstance(d, ReasoningDelta)) == thought
    blocks = [e["content_block"] for e in events if e["type"] == "content_block_start"]
    called = [(b["id"], b["name"]) for b in blocks if b["type"] == "tool_use"]
    assert [(call.correlation_id, call.name) for call in completion.calls] == called
    assert completion.raw_finish == ends[-1]["delta"]["stop_reason"]
    assert answer.usage is not None
    assert answer.usage.output == ends[-1]["usage"]["output_tokens"]
    assert answer.usage.input == sum(
        ends[-1]["usage"].get(f"{name}input_tokens", 0)
        for name in ("", "cache_read_", "cache_creation_")
    )


@given(number=st.integers(0, 1000), cuts=st.lists(st.integers(1, 400), min_size=1, max_size=30))
def test_any_cut_of_a_recorded_stream_gives_the_same_answer(number: int, cuts: list[int]) -> None:
    bodies = [answer.values[0] for answer in ANSWERS if len(answer.values[0]) < 10_000]
    if not bodies:
        shared("captures")
    body = bodies[number % len(bodies)]
    whole = decode(body, make=AnthropicMessagesDecoder)
    assert decode_cut(body, cuts, AnthropicMessagesDecoder) == whole


def recording(name: str) -> bytes:
    return shared(f"captures/anthropic/{name}.response.txt").read_bytes()


def test_redacted_thinking_and_what_the_server_did_itself_are_kept_whole() -> None:
    redacted = decode(recording("stream_redacted_thinking"), make=AnthropicMessagesDecoder)[0]
    starts = [e for e in events_of(recording("stream_redacted_thinking")) if "content_block" in e]
    assert json.loads(redacted.completion.continuation or "") == [
        starts[0]["content_block"],
        starts[1]["content_block"],
        {"type": "text"},
    ]
    ran = decode(recording("stream_text_editor_code_execution"), make=AnthropicMessagesDecoder)[0]
    kept = json.loads(ran.completion.continuation or "")
    assert [block["type"] for block in kept[:4]] == [
        "text",
        "server_tool_use",
        "server_tool_use",
        "text_editor_code_execution_tool_result",
    ]
    assert kept[1]["input"]["command"] == "create"


def test_a_recorded_compaction_is_kept_and_not_shown() -> None:
    body = recording("stream_compaction_cache_usage")
    answer = decode(body, make=AnthropicMessagesDecoder)[0]
    assert answer.completion.parts == (TextPart("Hello! 👋"),)
    kept = json.loads(answer.completion.continuation or "")
    assert [block["type"] for block in kept] == ["compaction", "text"]
    assert kept[0]["content"] == pieces_of(events_of(body), "compaction_delta", "content")


def test_a_recorded_correction_of_the_usage_replaces_the_first_figures() -> None:
    answer = decode(recording("vai_message_delta_input_tokens"), make=AnthropicMessagesDecoder)[0]
    assert answer.usage is not None
    assert (answer.usage.input, answer.usage.output) == (61, 2)


def test_a_recorded_refusal_says_why() -> None:
    with pytest.raises(ModelError, match="violative cyber content") as caught:
        decode(recording("vai_refusal"), make=AnthropicMessagesDecoder)
    assert caught.value.code == ModelErrorCode.REFUSED


@pytest.mark.parametrize(
    ("name", "status", "code", "message"),
    [
        (
            "error_400_unsupported_effort",
            400,
            ModelErrorCode.REQUEST_REJECTED,
            "This model does not support effort level 'xhigh'.",
        ),
        ("error_404_model", 404, ModelErrorCode.MODEL_NOT_FOUND, "model: claude-sonet-4-5"),
    ],
)
def test_a_recorded_error_becomes_its_typed_error(
    name: str, status: int, code: ModelErrorCode, message: str
) -> None:
    error = AnthropicMessagesWire().failure(status, {}, recording(name))
    assert (error.code, error.status, error.retryable) == (code, status, False)
    assert error.message.startswith(message)
