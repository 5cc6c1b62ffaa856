"""Recorded answers of Gemini models decode without loss, and go back as they came."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.model import (
    FinishReason,
    Input,
    ModelConfig,
    ModelError,
    ModelErrorCode,
    ReasoningDelta,
    TextDelta,
)
from agentslot.model.wire import Answer
from agentslot.model.wires.google_generative_ai import (
    GoogleGenerativeAIDecoder,
    GoogleGenerativeAIWire,
)
from agentslot.session import ReasoningPart, Role, TextPart, ToolCall, ToolResult
from tests.model.support import decode, decode_cut, message, remembered, request
from tests.shared import SHARED, shared

WHOLE = [
    f"{path.parent.name}/{path.name.removesuffix('.response.txt')}"
    for vendor in ("gemini", "gemini_vertex")
    for path in sorted((SHARED / "captures" / vendor).glob("*.response.txt"))
    if "error" not in path.name
]
CONFIG = ModelConfig("google", "gemini-3-flash-preview")
PLACEHOLDER = "skip_thought_signature_validator"


def recording(name: str) -> bytes:
    return shared(f"captures/{name}.response.txt").read_bytes()


def recorded(name: str) -> Answer:
    """The answer in a recording, whose answers come in several events."""
    return decode(recording(name), make=GoogleGenerativeAIDecoder)[0]


def chunks_of(body: bytes) -> list[dict[str, Any]]:
    """Every chunk of a body, read naively."""
    lines = body.decode().splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]


def parts_of(body: bytes) -> list[dict[str, Any]]:
    return [
        part for chunk in chunks_of(body) for part in chunk["candidates"][0]["content"]["parts"]
    ]


def sent_back(answer: Answer) -> list[dict[str, Any]]:
    """What the next request holds of an answer whose calls all had a result."""
    history: list[Input] = remembered(2, answer.completion, CONFIG)
    made = [entry for entry in history if isinstance(entry, ToolCall)]
    results = [ToolResult.succeeded(call.id, "ok") for call in made]
    asked = request([message(1, Role.USER, "hi"), *history, *results], config=CONFIG)
    contents: list[dict[str, Any]] = json.loads(GoogleGenerativeAIWire().encode(asked).body)[
        "contents"
    ]
    return contents[1:]


@pytest.mark.parametrize("name", WHOLE)
def test_nothing_of_a_recorded_answer_is_lost(name: str) -> None:
    body = recording(name)
    answer, deltas = decode(body, make=GoogleGenerativeAIDecoder)
    parts, chunks = parts_of(body), chunks_of(body)
    text = "".join(part.get("text", "") for part in parts if not part.get("thought"))
    thought = "".join(part.get("text", "") for part in parts if part.get("thought"))
    seen = answer.completion.parts
    assert "".join(p.text for p in seen if isinstance(p, TextPart)) == text
    assert "".join(p.text for p in seen if isinstance(p, ReasoningPart)) == thought
    assert "".join(d.text for d in deltas if isinstance(d, TextDelta)) == text
    assert "".join(d.text for d in deltas if isinstance(d, ReasoningDelta)) == thought
    called = [part["functionCall"] for part in parts if part.get("functionCall", {}).get("name")]
    assert [call.name for call in answer.completion.calls] == [call["name"] for call in called]
    for call, theirs in zip(answer.completion.calls, called, strict=True):
        assert json.loads(call.arguments).items() >= theirs.get("args", {}).items()
    usage = chunks[-1]["usageMetadata"]
    assert answer.usage is not None
    assert answer.usage.total == usage["totalTokenCount"]
    assert answer.usage.output == usage["candidatesTokenCount"] + usage.get("thoughtsTokenCount", 0)
    assert answer.usage.input + answer.usage.output == answer.usage.total
    assert (answer.served_model, answer.request_id) == (
        chunks[0]["modelVersion"],
        chunks[0]["responseId"],
    )
    finish = FinishReason.TOOL_USE if called else FinishReason.STOP
    assert (answer.completion.finish, answer.completion.raw_finish) == (finish, "STOP")


@pytest.mark.parametrize("name", WHOLE)
def test_every_signature_goes_back_in_its_bytes_on_the_part_that_had_it(name: str) -> None:
    answer = recorded(name)
    back = sent_back(answer)
    theirs = [p for p in parts_of(recording(name)) if p.get("thoughtSignature")]
    ours = [p for p in back[0]["parts"] if p.get("thoughtSignature", PLACEHOLDER) != PLACEHOLDER]
    assert [p["thoughtSignature"] for p in ours] == [p["thoughtSignature"] for p in theirs]
    assert [set(p) for p in ours] == [set(p) for p in theirs]
    calls = [part["functionCall"] for part in back[0]["parts"] if "functionCall" in part]
    assert [call["args"] for call in calls] == [
        json.loads(call.arguments) for call in answer.completion.calls
    ]
    if calls:
        responses = [part["functionResponse"] for part in back[1]["parts"]]
        assert [r["name"] for r in responses] == [call["name"] for call in calls]
        assert [r.get("id") for r in responses] == [call.get("id") for call in calls]


def test_recorded_arguments_in_pieces_become_calls() -> None:
    themed = recorded("gemini/vai_stream_no_args_tool_call").completion.calls
    assert [(call.name, call.arguments) for call in themed] == [
        ("read_theme", "{}"),
        ("read_screen", '{"id":"A"}'),
        ("read_screen", '{"id":"B"}'),
        ("read_screen", '{"id":"C"}'),
    ]
    weather = recorded("gemini/vai_stream_tool_call_arguments").completion
    assert [(call.name, call.arguments) for call in weather.calls] == [
        ("getWeather", '{"location":"Boston"}'),
        ("getWeather", '{"location":"San Francisco"}'),
    ]
    kept = json.loads(weather.continuation or "")
    assert [bool(block.get("thoughtSignature")) for block in kept] == [True, False]


@given(number=st.integers(0, 1000), cuts=st.lists(st.integers(1, 400), min_size=1, max_size=30))
def test_any_cut_of_a_recorded_stream_gives_the_same_answer(number: int, cuts: list[int]) -> None:
    if not WHOLE:
        shared("captures")
    body = recording(WHOLE[number % len(WHOLE)])
    whole = decode(body, make=GoogleGenerativeAIDecoder)
    assert decode_cut(body, cuts, GoogleGenerativeAIDecoder) == whole


@pytest.mark.parametrize("name", WHOLE)
def test_a_recorded_stream_without_its_last_event_is_broken(name: str) -> None:
    body = recording(name)
    with pytest.raises(ModelError) as caught:
        decode(body[: body.rindex(b"data: ")], make=GoogleGenerativeAIDecoder)
    assert caught.value.code == ModelErrorCode.BROKEN_STREAM


def test_a_recorded_error_becomes_its_typed_error() -> None:
    error = GoogleGenerativeAIWire().failure(404, {}, recording("gemini/error_404_model"))
    assert (error.code, error.vendor_code) == (ModelErrorCode.MODEL_NOT_FOUND, "NOT_FOUND")
    assert error.message.startswith("models/gemini-3.6-flahs is not found")
