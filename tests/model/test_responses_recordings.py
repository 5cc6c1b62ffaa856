"""Recorded answers of servers that speak the Responses API decode without loss."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.model import FinishReason, ModelError, ModelErrorCode, ReasoningDelta, TextDelta
from agentslot.model.wires.openai_responses import OpenAIResponsesDecoder, OpenAIResponsesWire
from agentslot.session import ReasoningPart, TextPart
from tests.model.support import decode, decode_cut, recorded_answers
from tests.shared import shared

MARK = b"event: response.created\n"
NOT_ASKED_FOR = ("apply_patch", "client_tool_search", "custom_tool", "local_shell", "approval")
ANSWERS = [
    answer
    for answer in (
        *recorded_answers("openai_responses", "*.response.txt", MARK),
        *recorded_answers("bedrock_mantle", "*.response.txt", MARK),
        *recorded_answers("deepseek", "responses_*.response.txt", MARK),
        *recorded_answers("openrouter", "stream_responses_*.response.txt", b": OPENROUTER"),
    )
    if "vai_error" not in answer.id
]


def events_of(body: bytes) -> list[dict[str, Any]]:
    """Every event of a body, read naively."""
    lines = body.decode().splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]


def items_of(body: bytes) -> list[dict[str, Any]]:
    """The items that the server sent whole, in their order."""
    done = [e for e in events_of(body) if e["type"] == "response.output_item.done"]
    return [event["item"] for event in sorted(done, key=lambda event: event["output_index"])]


def text_of(items: list[dict[str, Any]], kind: str, *members: str) -> str:
    """The texts in all items of a kind, joined."""
    found = [item.get(member) for item in items if item["type"] == kind for member in members]
    return "".join(content["text"] for contents in found if contents for content in contents)


@pytest.mark.parametrize("body", ANSWERS)
def test_nothing_of_a_recorded_answer_is_lost(body: bytes, request: pytest.FixtureRequest) -> None:
    if any(name in request.node.callspec.id for name in NOT_ASKED_FOR):
        with pytest.raises(ModelError, match="was not asked for"):
            decode(body, make=OpenAIResponsesDecoder)
        return
    answer, deltas = decode(body, make=OpenAIResponsesDecoder)
    items = items_of(body)
    parts = answer.completion.parts
    text = text_of(items, "message", "content")
    assert "".join(p.text for p in parts if isinstance(p, TextPart)) == text
    assert "".join(d.text for d in deltas if isinstance(d, TextDelta)) == text
    thought = "".join(p.text for p in parts if isinstance(p, ReasoningPart))
    assert thought.replace("\n\n", "") == text_of(items, "reasoning", "summary", "content").replace(
        "\n\n", ""
    )
    assert "".join(d.text for d in deltas if isinstance(d, ReasoningDelta)) == thought
    called = [item for item in items if item["type"] == "function_call"]
    calls = [(item["call_id"], item["name"], item["arguments"]) for item in called]
    made = answer.completion.calls
    assert [(call.correlation_id, call.name, call.arguments) for call in made] == calls
    reported = events_of(body)[-1]["response"]["usage"]
    assert answer.usage is not None
    assert answer.usage.input == reported["input_tokens"]
    assert answer.usage.total == reported["total_tokens"]
    assert answer.completion.finish is (FinishReason.TOOL_USE if calls else FinishReason.STOP)


@given(number=st.integers(0, 1000), cuts=st.lists(st.integers(1, 400), min_size=1, max_size=30))
def test_any_cut_of_a_recorded_stream_gives_the_same_answer(number: int, cuts: list[int]) -> None:
    bodies = [
        answer.values[0]
        for answer in ANSWERS
        if len(answer.values[0]) < 10_000 and not any(name in answer.id for name in NOT_ASKED_FOR)
    ]
    if not bodies:
        shared("captures")
    body = bodies[number % len(bodies)]
    whole = decode(body, make=OpenAIResponsesDecoder)
    assert decode_cut(body, cuts, OpenAIResponsesDecoder) == whole


def recording(name: str) -> bytes:
    return shared(f"captures/{name}.response.txt").read_bytes()


def test_ids_that_change_with_every_event_lose_nothing() -> None:
    body = recording("openai_responses/vai_github_copilot_id_rotation_1")
    answer, deltas = decode(body, make=OpenAIResponsesDecoder)
    done = next(e for e in events_of(body) if e["type"] == "response.output_text.done")
    assert answer.completion.parts[-1] == TextPart(done["text"])
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == done["text"]


def test_a_recorded_failure_is_told_once_and_not_tried_again() -> None:
    with pytest.raises(ModelError, match="exceeded your current quota") as caught:
        decode(recording("openai_responses/vai_error_1"), make=OpenAIResponsesDecoder)
    assert (caught.value.code, caught.value.vendor_code, caught.value.retryable) == (
        ModelErrorCode.QUOTA_EXHAUSTED,
        "insufficient_quota",
        False,
    )


def test_the_first_whole_item_counts_for_its_encrypted_thinking() -> None:
    body = recording("openai_responses/stream_reasoning_encrypted")
    answer, _ = decode(body, make=OpenAIResponsesDecoder)
    [thought, call] = json.loads(answer.completion.continuation or "")
    done = items_of(body)[0]
    assert thought["encrypted_content"] == done["encrypted_content"]
    assert call == {"type": "function_call", "id": items_of(body)[1]["id"]}


@pytest.mark.parametrize(
    ("name", "vendor_code"),
    [
        ("error_400_http", "decimal_below_min_value"),
        ("error_400_reasoning_item_without_follower", "invalid_request_error"),
    ],
)
def test_a_recorded_error_becomes_its_typed_error(name: str, vendor_code: str) -> None:
    error = OpenAIResponsesWire().failure(400, {}, recording(f"openai_responses/{name}"))
    assert (error.code, error.vendor_code) == (ModelErrorCode.REQUEST_REJECTED, vendor_code)
    assert not error.retryable
