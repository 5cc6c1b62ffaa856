"""Recorded answers of vendors that speak chat completions decode without loss."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.model import ModelError, ModelErrorCode, ReasoningDelta, TextDelta
from agentslot.model.wires.openai_completions import OpenAICompletionsWire
from agentslot.session import ReasoningPart, TextPart
from tests.model.support import decode, decode_cut
from tests.shared import SHARED, shared

VENDORS = (
    "alibaba",
    "cerebras",
    "deepseek",
    "groq",
    "huggingface",
    "mistral",
    "moonshotai",
    "ollama_openai",
    "openai_chat",
    "openrouter",
    "snowflake",
    "xai",
    "zai",
)


def recordings() -> list[Path]:
    """All recorded answers of this protocol, failures aside."""
    return [
        path
        for vendor in VENDORS
        for path in sorted((SHARED / "captures" / vendor).glob("*.response.txt"))
        if "error" not in path.name and "failed" not in path.name and "responses" not in path.name
    ]


def messages_of(body: bytes) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every chunk or document of a body with its delta or message, read naively."""
    if body.lstrip().startswith(b"{"):
        document = json.loads(body)
        yield document, document["choices"][0]["message"]
        return
    for line in body.decode().splitlines():
        if line.startswith("data: {"):
            chunk = json.loads(line.removeprefix("data: "))
            yield chunk, chunk["choices"][0]["delta"] if chunk["choices"] else {}


def text_of(content: Any, kind: str = "text") -> str:
    """Text of a content member: a string, or Mistral's blocks of one kind."""
    if isinstance(content, str) or content is None:
        return (content or "") if kind == "text" else ""
    found = [block[kind] for block in content if block["type"] == kind]
    return "".join(text_of(piece) if isinstance(piece, list) else piece for piece in found)


def thought_of(message: dict[str, Any]) -> str:
    """Thinking of one delta under whichever name it comes, once."""
    details: list[dict[str, str]] = message.get("reasoning_details") or []
    return (
        message.get("reasoning_content")
        or message.get("reasoning")
        or "".join(detail.get("text", "") for detail in details)
        or text_of(message.get("content"), "thinking")
    )


def arguments_of(message: dict[str, Any]) -> str:
    """Argument text of one delta, all calls joined."""
    fragments: list[dict[str, Any]] = message.get("tool_calls") or []
    return "".join(fragment["function"].get("arguments") or "" for fragment in fragments)


@pytest.mark.parametrize("path", recordings(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_nothing_of_a_recorded_answer_is_lost(path: Path) -> None:
    body = path.read_bytes()
    answer, deltas = decode(body)
    pairs = list(messages_of(body))
    text = "".join(text_of(message.get("content")) for _, message in pairs)
    thought = "".join(thought_of(message) for _, message in pairs)
    parts = answer.completion.parts
    assert "".join(part.text for part in parts if isinstance(part, TextPart)) == text
    assert "".join(part.text for part in parts if isinstance(part, ReasoningPart)) == thought
    calls = answer.completion.calls
    assert "".join(call.arguments for call in calls) == "".join(arguments_of(m) for _, m in pairs)
    if not body.startswith(b"{"):
        assert "".join(d.text for d in deltas if isinstance(d, TextDelta)) == text
        assert "".join(d.text for d in deltas if isinstance(d, ReasoningDelta)) == thought
    reported = [chunk["usage"] for chunk, _ in pairs if chunk.get("usage")]
    assert answer.usage is not None
    assert answer.usage.input == reported[-1]["prompt_tokens"]
    assert answer.usage.total == reported[-1]["total_tokens"]
    reasons = [choice.get("finish_reason") for chunk, _ in pairs for choice in chunk["choices"]]
    assert answer.completion.raw_finish == next((r for r in reversed(reasons) if r), "")


@given(number=st.integers(0, 1000), cuts=st.lists(st.integers(1, 400), min_size=1, max_size=30))
def test_any_cut_of_a_recorded_stream_gives_the_same_answer(number: int, cuts: list[int]) -> None:
    paths = [path for path in recordings() if path.stat().st_size < 10_000]
    if not paths:
        shared("captures")
    body = paths[number % len(paths)].read_bytes()
    make = OpenAICompletionsWire("http://127.0.0.1").decoder
    assert decode_cut(body, cuts, make) == decode(body)


def failure(name: str, status: int) -> ModelError:
    body = shared(f"captures/{name}.response.txt").read_bytes()
    return OpenAICompletionsWire("http://127.0.0.1").failure(status, {}, body)


@pytest.mark.parametrize(
    ("name", "status", "code", "vendor_code", "retryable"),
    [
        (
            "openai_chat/error_400_bad_role",
            400,
            ModelErrorCode.REQUEST_REJECTED,
            "unsupported_value",
            False,
        ),
        (
            "deepseek/error_400_interleaved_calls",
            400,
            ModelErrorCode.REQUEST_REJECTED,
            "invalid_request_error",
            False,
        ),
        (
            "groq/error_400_tool_use_failed",
            400,
            ModelErrorCode.REQUEST_REJECTED,
            "tool_use_failed",
            False,
        ),
        ("openrouter/error_429", 429, ModelErrorCode.RATE_LIMITED, "", True),
    ],
)
def test_a_recorded_refusal_becomes_its_typed_error(
    name: str, status: int, code: ModelErrorCode, vendor_code: str, retryable: bool
) -> None:
    error = failure(name, status)
    assert (error.code, error.status, error.vendor_code, error.retryable) == (
        code,
        status,
        vendor_code,
        retryable,
    )


def test_a_failed_generation_is_kept_for_the_loop() -> None:
    error = failure("groq/error_400_tool_use_failed", 400)
    assert json.loads(error.failed_generation)["name"] == "get_something_by_name"
    with pytest.raises(ModelError, match="Tool call validation failed") as caught:
        decode(shared("captures/groq/stream_tool_use_failed_in_band.response.txt").read_bytes())
    assert (caught.value.status, caught.value.vendor_code) == (400, "tool_use_failed")
    assert "invalid_param" in caught.value.failed_generation
    assert not caught.value.retryable


def test_an_error_beside_a_choice_ends_the_answer_with_its_code() -> None:
    with pytest.raises(ModelError, match="Token limit reached") as caught:
        decode(shared("captures/openrouter/stream_error_in_band.response.txt").read_bytes())
    assert caught.value.status == 400
    assert not caught.value.retryable
