"""Requests of Ollama's wire: repaired on the way out, paired by order, stable at the front."""

import base64
import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.model import (
    Completion,
    Input,
    ModelConfig,
    OllamaSettings,
    Reasoning,
    RequestedCall,
    Transcript,
)
from agentslot.model.estimate import UsageLedger
from agentslot.model.wire import WireRequest
from agentslot.model.wires.attachments import Media
from agentslot.model.wires.ollama_chat import OllamaChatDecoder, OllamaChatWire, ollama_url
from agentslot.session import (
    AttachmentPart,
    Continuation,
    Modality,
    ReasoningPart,
    Role,
    TextPart,
    ToolCall,
    ToolResult,
)
from tests.model.support import (
    call,
    case,
    conversation,
    decode,
    in_base64,
    message,
    remembered,
    request,
)
from tests.shared import shared

CONFIG = ModelConfig("ollama", "qwen3")
GO_ON = message(99, Role.USER, "go on")
ASKED_ON = {"role": "user", "content": "Continue."}


def encode(
    inputs: Sequence[Input],
    settings: OllamaSettings | None = None,
    config: ModelConfig = CONFIG,
    images: dict[str, bytes] | None = None,
) -> WireRequest:
    return OllamaChatWire(settings).encode(request(inputs, None, config), in_base64(images))


def messages_of(inputs: Sequence[Input], **more: Any) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = json.loads(encode(inputs, **more).body)["messages"]
    return sent


def outline(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(entry["role"], entry["content"]) for entry in messages]


def exchange(arguments: str, output: ToolResult | None = None, **more: Any) -> list[Input]:
    """A question, an assistant's call of `ping`, and its result."""
    owner = message(2, Role.ASSISTANT, **more)
    made = call(owner, 1, "ping", arguments)
    result = output or ToolResult.succeeded(made.id, "pong")
    return [message(1, Role.USER, "q"), owner, made, replace(result, call_id=made.id)]


def test_a_request_says_what_is_asked_and_nothing_else() -> None:
    config = replace(CONFIG, reasoning=Reasoning.XHIGH, temperature=0.0, max_tokens=9)
    wire = OllamaChatWire(OllamaSettings(keep_alive="5m"), {"qwen3": 8_192})
    sent = wire.encode(request([message(1, Role.USER, "hi")], "Be brief.", config))
    assert sent.path == "/api/chat"
    assert json.loads(sent.body) == {
        "model": "qwen3",
        "stream": True,
        "options": {"num_ctx": 8_192, "num_predict": 9, "temperature": 0.0},
        "think": "high",
        "keep_alive": "5m",
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "ping",
                    "description": "Answers pong.",
                    "parameters": {"type": "object", "additionalProperties": False},
                },
            }
        ],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "hi"},
        ],
    }
    assert set(json.loads(encode([GO_ON]).body)) == {
        "model",
        "stream",
        "options",
        "tools",
        "messages",
    }
    assert json.loads(encode([GO_ON]).body)["options"] == {"num_ctx": 32_768}


def test_a_call_and_its_result_follow_their_message_without_ids() -> None:
    assert messages_of(exchange('{ "n" : 1.0e1 }'))[1:] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "ping", "arguments": {"n": 10.0}}}],
        },
        {"role": "tool", "content": "pong", "tool_name": "ping"},
    ]
    assert b'"arguments":{ "n" : 1.0e1 }' in encode(exchange('{ "n" : 1.0e1 }')).body


@pytest.mark.parametrize("name", ["dangling", "dangling_last"])
def test_a_call_without_result_gets_one_in_its_place(name: str) -> None:
    history = conversation(f"T01/{name}.json")
    sent = messages_of([*history, GO_ON])
    calls = sent[1]["tool_calls"]
    results = sent[2:-1]
    assert [r["tool_name"] for r in results] == [made["function"]["name"] for made in calls]
    assert all("interrupted" in result["content"] for result in results[-2:])
    if name == "dangling":
        assert results[0]["content"] == "ok"
    assert outline(sent[-1:]) == [("user", "go on")]
    assert messages_of([*history, GO_ON]) == sent


def test_results_without_their_call_are_left_out_and_of_two_the_first_counts() -> None:
    sent = messages_of(conversation("T02/text_and_orphan.json"))
    texts = ["summary of before", "also do X", "go on"]
    assert outline(sent) == [("user", content) for content in texts]
    sent = messages_of(conversation("T02/duplicate_result.json"))
    assert [e["content"] for e in sent if e["role"] == "tool"] == ["ok", "ok"]
    sent = messages_of(conversation("T02/orphan_after_trim.json"))
    assert outline(sent) == [("assistant", "fine"), ("user", "go on")]


def test_blank_texts_and_empty_turns_are_not_sent() -> None:
    sent = messages_of(conversation("T03/empty_text_and_tool.json"))
    assert outline(sent) == [("user", "q"), ("assistant", ""), ("tool", ""), ("user", "go on")]
    empty = messages_of(conversation("T03/empty_turn.json"))
    assert outline(empty) == [("user", "q"), ("user", "go on")]


def test_calls_with_one_id_pair_by_their_turn() -> None:
    sent = messages_of(conversation("T05/reused_ids.json"))
    followed = [b["role"] for a, b in pairwise(sent) if a.get("tool_calls")]
    assert followed == ["tool"] * len(followed)
    assert len({e["content"] for e in sent if e["role"] == "tool"}) == len(followed)


@pytest.mark.parametrize(
    "inputs", [[], [message(1, Role.USER, " ")], [GO_ON, message(1, Role.ASSISTANT, "fine")]]
)
def test_a_user_always_speaks_last(inputs: list[Input]) -> None:
    sent = messages_of(inputs)
    assert sent[-1] == ASKED_ON
    assert len(sent) == (3 if len(inputs) == 2 else 1)


def test_thinking_goes_back_to_the_model_that_thought() -> None:
    answer, _ = decode(case("W23/thinking_null_content.ndjson"), make=OllamaChatDecoder)
    history = [GO_ON, *remembered(2, answer.completion, CONFIG), GO_ON]
    assert messages_of(history)[1] == {"role": "assistant", "content": "4", "thinking": "abc"}
    for config in (replace(CONFIG, model="llama4"), replace(CONFIG, provider="other")):
        assert messages_of(history, config=config)[1] == {"role": "assistant", "content": "4"}


def test_a_thought_alone_is_not_sent_and_a_broken_continuation_stops_nothing() -> None:
    thinking = message(2, Role.ASSISTANT, ReasoningPart("half a"))
    assert outline(messages_of([GO_ON, thinking, GO_ON])) == [("user", "go on")] * 2
    for state in ("no json", "[]", '{"thinking":1}'):
        history = exchange("{}", continuation=Continuation("ollama", "qwen3", state))
        assert "thinking" not in messages_of(history)[1]


def test_arguments_that_are_no_object_go_out_inside_of_one() -> None:
    kept = json.loads(case("T07/bad_args_in_history.json"))["calls"][0]["arguments_text"]
    for written in (kept, "null", "", "{", "[1]", '{"a":1,"a":2}', '{"a":"\\ud800"}'):
        [made] = messages_of(exchange(written))[1]["tool_calls"]
        assert isinstance(made["function"]["arguments"], dict)


def test_a_failure_says_that_it_is_one() -> None:
    failed = ToolResult.failed(call(message(2, Role.ASSISTANT), 1, "p", "").id, "broke", "it broke")
    assert messages_of(exchange("{}", failed))[2]["content"] == "Error (broke): it broke"


def test_images_stand_beside_the_text_and_never_in_it() -> None:
    image = b"\x89PNG" * 20
    encoded = base64.b64encode(image).decode()
    sent = messages_of(conversation("T06/image_result.json"), images={"picture-1": image})
    [place] = [n for n, entry in enumerate(sent) if "images" in entry]
    assert sent[place] == {"role": "user", "content": "", "images": [encoded]}
    assert sent[place - 1]["role"] == "tool"
    asked = message(1, Role.USER, "see", AttachmentPart("a", "image/gif"))
    [entry] = messages_of([asked], images={"a": image})
    assert "images" not in entry
    assert "image/gif" in entry["content"]


def test_what_interrupts_a_batch_stands_behind_its_results() -> None:
    first, owner, made, result = exchange("{}")
    sent = messages_of([first, owner, made, message(3, Role.USER, "wait"), result])
    assert outline(sent[2:]) == [("tool", "pong"), ("user", "wait")]


def test_lone_surrogates_never_reach_the_wire() -> None:
    assert "a�b" in encode([message(1, Role.USER, "a\ud800b")]).body.decode()


@given(st.lists(st.integers(1, 3), min_size=1, max_size=6))
def test_what_was_sent_stays_as_it_was_while_the_conversation_grows(steps: list[int]) -> None:
    wire, transcript, stable = OllamaChatWire(), Transcript(), b""
    for number, count in enumerate(steps):
        calls = tuple(RequestedCall("t", "ping", '{"n" : 1}') for _ in range(count))
        answer = Completion((), calls, continuation='{"thinking":"hm"}')
        kept = remembered(number, answer, CONFIG)
        results = [ToolResult.succeeded(c.id, "r") for c in kept if isinstance(c, ToolCall)]
        transcript = transcript.appended([message(number, Role.USER, "q"), *kept, *results])
        sent = wire.encode(request(transcript, "s", CONFIG))
        assert sent == OllamaChatWire().encode(request(list(transcript), "s", CONFIG))
        assert sent.body.startswith(stable)
        json.loads(sent.body)
        stable = sent.body[: sent.stable]


def test_a_request_is_what_the_vendors_own_client_sends() -> None:
    captured = json.loads(shared("difftest/ollama_1.json").read_text("utf-8"))
    theirs = captured["body"]
    assert captured["path"] == "/api/chat"
    theirs["think"] = "low"  # theirs was told to think, ours how hard
    config = replace(CONFIG, reasoning=Reasoning.LOW, max_tokens=512)
    calls = tuple(RequestedCall(f"t{n}", "look", f'{{"q": "{n}"}}') for n in range(3))
    said = Completion((TextPart("calling"),), calls, continuation='{"thinking":"hmm"}')
    answer = remembered(2, said, config)
    ids = [entry.id for entry in answer if isinstance(entry, ToolCall)]
    asked = request(
        [
            message(1, Role.USER, "hi", AttachmentPart("a", "image/png")),
            *answer,
            *(ToolResult.succeeded(ids[n], f"r{n}") for n in range(3)),
        ],
        "You are terse.",
        config,
    )
    schema = theirs["tools"][0]["function"]["parameters"]
    tool = replace(asked.tools[0], name="look", description="d", input_schema=schema)
    images = Media({"a": theirs["messages"][1]["images"][0].encode()}, frozenset({Modality.IMAGE}))
    wire = OllamaChatWire(OllamaSettings(keep_alive="5m"), {"qwen3": 8_192})
    assert json.loads(wire.encode(replace(asked, tools=(tool,)), images).body) == theirs


def test_pictures_count_for_what_they_are_and_not_for_their_letters() -> None:
    parts = [AttachmentPart(name, "image/png") for name in "ab"]
    images = {name: bytes(300_000) for name in "ab"}
    asked = message(1, Role.USER, *parts)
    count = UsageLedger().count(request([asked]), encode([asked], images=images).body)
    assert 4_000 <= count.tokens < 5_000


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        ("1.2.3.4", "http://1.2.3.4:11434"),
        (":56789", "http://127.0.0.1:56789"),
        ("1.2.3.4:56789", "http://1.2.3.4:56789"),
        ("http://1.2.3.4", "http://1.2.3.4:80"),
        ("https://1.2.3.4", "https://1.2.3.4:443"),
        ("https://example.com:9/", "https://example.com:9"),
        (" example.com ", "http://example.com:11434"),
        ("example.com:56789/path/", "http://example.com:56789/path"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("::1", "http://[::1]:11434"),
        ("[::]", "http://[::1]:11434"),
    ],
)
def test_a_host_is_read_as_ollama_itself_reads_it(host: str, url: str) -> None:
    assert ollama_url(host) == url
