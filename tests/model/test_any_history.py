"""Any history is sendable over any wire, whichever vendors wrote it."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentslot.model import Input, ModelConfig, Transcript
from agentslot.model.wire import Wire
from agentslot.model.wires.anthropic_messages import AnthropicMessagesWire
from agentslot.model.wires.google_generative_ai import GoogleGenerativeAIWire
from agentslot.model.wires.ollama_chat import OllamaChatWire
from agentslot.model.wires.openai_responses import OpenAIResponsesWire
from tests.model.histories import CLAUDE, GEMINI, GPT, OPERATIONS, QWEN, play
from tests.model.support import request


def sent(wire: type[Wire], config: ModelConfig, inputs: list[Input], cut: int) -> Any:
    """The body of a request, encoded at once and in two steps."""
    growing, grown = wire(), Transcript(inputs[:cut])
    growing.encode(request(grown, config=config))
    whole = growing.encode(request(grown.appended(inputs[cut:]), config=config))
    assert whole == wire().encode(request(inputs, config=config))
    assert growing.encode(request(grown, config=config)) == wire().encode(
        request(inputs[:cut], config=config)
    )
    return json.loads(whole.body)


@given(names=OPERATIONS, cut=st.integers(0, 25))
def test_any_history_gives_a_messages_request_that_the_vendor_accepts(
    names: list[str], cut: int
) -> None:
    messages = sent(AnthropicMessagesWire, CLAUDE, play(names), cut)["messages"]
    assert messages[0]["role"] == messages[-1]["role"] == "user"
    called: list[str] = []
    waiting: list[str] = []
    for entry in messages:
        kinds = [block["type"] for block in entry["content"]]
        results = [b["tool_use_id"] for b in entry["content"] if b["type"] == "tool_result"]
        assert results == waiting
        assert kinds[: len(results)] == ["tool_result"] * len(results)
        calls = [block for block in entry["content"] if block["type"] == "tool_use"]
        assert all(isinstance(made["input"], dict) for made in calls)
        waiting = [made["id"] for made in calls]
        called += waiting
        assert set(kinds) - {"thinking"}
        assert all(b["text"].strip() for b in entry["content"] if b["type"] == "text")
        assert all(b["thinking"] == "own" for b in entry["content"] if b["type"] == "thinking")
    assert not waiting
    assert len(set(called)) == len(called)


@given(names=OPERATIONS, cut=st.integers(0, 25))
def test_any_history_gives_a_responses_request_that_the_vendor_accepts(
    names: list[str], cut: int
) -> None:
    items = sent(OpenAIResponsesWire, GPT, play(names), cut)["input"]
    assert items
    called: list[str] = []
    waiting: list[str] = []
    thinking = False
    for item in items:
        kind = item.get("type", item.get("role"))
        if thinking:
            assert kind in ("message", "function_call")
        thinking = kind == "reasoning"
        if kind == "function_call":
            assert isinstance(json.loads(item["arguments"]), dict)
            waiting.append(item["call_id"])
            called.append(item["call_id"])
        elif kind == "function_call_output":
            assert item["call_id"] == waiting.pop(0)
        elif item.get("role") == "user":
            assert not waiting
        assert item.get("encrypted_content", "own") == "own"
    assert not waiting
    assert not thinking
    assert len(set(called)) == len(called)


@given(names=OPERATIONS, cut=st.integers(0, 25))
def test_any_history_gives_a_gemini_request_that_the_vendor_accepts(
    names: list[str], cut: int
) -> None:
    contents = sent(GoogleGenerativeAIWire, GEMINI, play(names), cut)["contents"]
    assert contents[0]["role"] == contents[-1]["role"] == "user"
    waiting: list[tuple[str, str | None]] = []
    speaker = ""
    for content in contents:
        parts = content["parts"]
        responses = [p["functionResponse"] for p in parts if "functionResponse" in p]
        assert [(r["name"], r.get("id")) for r in responses] == waiting
        assert not responses or len(responses) == len(parts)
        calls = [part for part in parts if "functionCall" in part]
        waiting = [(c["functionCall"]["name"], c["functionCall"].get("id")) for c in calls]
        assert all(isinstance(c["functionCall"]["args"], dict) for c in calls)
        assert not calls or calls[0]["thoughtSignature"]
        assert speaker == "user" or content["role"] == "user"
        assert any(p.get("text", "call").strip() and not p.get("thought") for p in parts)
        assert {p["text"] for p in parts if p.get("thought")} <= {"own"}
        speaker = content["role"]
    assert not waiting


@given(names=OPERATIONS, cut=st.integers(0, 25))
def test_any_history_gives_an_ollama_request_whose_results_stand_in_order(
    names: list[str], cut: int
) -> None:
    messages = sent(OllamaChatWire, QWEN, play(names), cut)["messages"]
    assert messages[-1]["role"] in ("user", "tool")
    waiting: list[str] = []
    for entry in messages:
        if entry["role"] == "tool":
            assert entry["tool_name"] == waiting.pop(0)
            continue
        assert not waiting
        waiting = [made["function"]["name"] for made in entry.get("tool_calls", [])]
        assert waiting or entry["content"].strip()
        assert entry.get("thinking", "own") == "own"
    assert not waiting
