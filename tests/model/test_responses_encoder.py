"""Requests of the Responses wire: repaired on the way out, stable in their beginning."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.model import Completion, Input, ModelConfig, Reasoning, RequestedCall, Transcript
from agentslot.model.wire import WireRequest
from agentslot.model.wires.attachments import Media
from agentslot.model.wires.caching import CacheRetention
from agentslot.model.wires.openai_responses import (
    OpenAIResponsesDecoder,
    OpenAIResponsesWire,
    ResponsesSettings,
)
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
    exchange,
    in_base64,
    message,
    remembered,
    request,
)
from tests.shared import shared

CONFIG = ModelConfig("openai", "gpt-5")
GO_ON = message(99, Role.USER, "go on")
Item = dict[str, Any]


def encode(
    inputs: Sequence[Input],
    settings: ResponsesSettings | None = None,
    config: ModelConfig = CONFIG,
    images: dict[str, bytes] | None = None,
) -> WireRequest:
    wire = OpenAIResponsesWire(settings)
    return wire.encode(request(inputs, "Be brief.", config), in_base64(images))


def body_of(inputs: Sequence[Input], settings: ResponsesSettings | None = None, **more: Any) -> Any:
    return json.loads(encode(inputs, settings, **more).body)


def items_of(inputs: Sequence[Input], **more: Any) -> list[Item]:
    sent: list[Item] = body_of(inputs, **more)["input"]
    return sent


def outline(items: list[Item]) -> list[tuple[str, str]]:
    """What each item is, and what it says."""
    return [
        (i["role"], "|".join(c.get("text", c["type"]) for c in i["content"]))
        if "role" in i
        else (i["type"], i.get("output") or i.get("arguments") or i.get("id") or "")
        for i in items
    ]


def test_a_request_says_what_is_asked_and_nothing_else() -> None:
    config = replace(CONFIG, reasoning=Reasoning.HIGH, temperature=0.0, max_tokens=9)
    sent = encode([message(1, Role.USER, "hi")], ResponsesSettings(summary="auto"), config)
    assert sent.path == "/responses"
    assert json.loads(sent.body) == {
        "model": "gpt-5",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "high", "summary": "auto"},
        "max_output_tokens": 9,
        "temperature": 0.0,
        "prompt_cache_key": "session-1",
        "instructions": "Be brief.",
        "tools": [
            {
                "type": "function",
                "name": "ping",
                "description": "Answers pong.",
                "parameters": {"type": "object", "additionalProperties": False},
                "strict": False,
            }
        ],
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
    }


def test_a_call_and_its_result_follow_their_message_in_the_models_own_words() -> None:
    assert items_of(exchange('{ "n" : 1.0e1 }'))[1:] == [
        {
            "type": "function_call",
            "call_id": "t1",
            "name": "ping",
            "arguments": '{ "n" : 1.0e1 }',
        },
        {"type": "function_call_output", "call_id": "t1", "output": "pong"},
    ]


@pytest.mark.parametrize("name", ["dangling", "dangling_last"])
def test_a_call_without_result_gets_one_that_says_so(name: str) -> None:
    history = conversation(f"T01/{name}.json")
    sent = items_of([*history, GO_ON])
    ids = [item["call_id"] for item in sent if item.get("type") == "function_call"]
    results = [item for item in sent if item.get("type") == "function_call_output"]
    assert [result["call_id"] for result in results] == ids
    assert all("interrupted" in result["output"] for result in results[-2:])
    if name == "dangling":
        assert results[0]["output"] == "ok"
    assert outline(sent)[-1] == ("user", "go on")
    assert items_of([*history, GO_ON]) == sent


def test_results_without_their_call_are_left_out_and_of_two_the_first_counts() -> None:
    assert outline(items_of(conversation("T02/orphan_after_trim.json"))) == [
        ("assistant", "fine"),
        ("user", "go on"),
    ]
    assert outline(items_of(conversation("T02/text_and_orphan.json"))) == [
        ("user", "summary of before"),
        ("user", "also do X"),
        ("user", "go on"),
    ]
    sent = items_of(conversation("T02/duplicate_result.json"))
    results = [item["output"] for item in sent if item.get("type") == "function_call_output"]
    assert results == ["ok", "ok"]


def test_blank_texts_and_empty_turns_are_not_sent() -> None:
    sent = items_of(conversation("T03/empty_text_and_tool.json"))
    assert [item.get("role") or item["type"] for item in sent] == [
        "user",
        "function_call",
        "function_call_output",
        "user",
    ]
    assert sent[2]["output"] == ""
    assert outline(items_of(conversation("T03/empty_turn.json"))) == [
        ("user", "q"),
        ("user", "go on"),
    ]
    assert outline(items_of([message(1, Role.USER, " ")])) == [("user", "Continue.")]


def test_ids_that_repeat_are_renamed_on_both_sides_and_others_never() -> None:
    sent = items_of(conversation("T05/reused_ids.json"))
    assert [item["output"] for item in (sent[2], sent[4])] == ["A", "B"]
    assert sent[1]["call_id"] == sent[2]["call_id"] == "call_0"
    assert sent[3]["call_id"] == sent[4]["call_id"] != "call_0"


def test_an_image_in_a_result_is_shown_in_it_or_named() -> None:
    history = conversation("T06/image_result.json")
    assert "shot.png" in items_of(history)[-1]["output"]
    output = items_of(history, images={"picture-1": b"\x89PNG"})[-1]["output"]
    assert output[1] == {
        "type": "input_image",
        "image_url": "data:image/png;base64,iVBORw==",
        "detail": "auto",
    }
    assert "base64" not in output[0]["text"]


def test_broken_arguments_in_a_history_do_not_break_the_next_request() -> None:
    written = json.loads(case("T07/bad_args_in_history.json"))["calls"][0]["arguments_text"]
    repeated = items_of(exchange(written))[1]["arguments"]
    assert json.loads(repeated) == {"invalid_arguments": written}


def test_half_a_thought_is_not_sent() -> None:
    thought = message(2, Role.ASSISTANT, ReasoningPart("half a thought"))
    sent = items_of([message(1, Role.USER, "q"), thought, GO_ON])
    assert outline(sent) == [("user", "q"), ("user", "go on")]


def test_a_user_message_that_came_before_the_results_goes_behind_them() -> None:
    owner = message(2, Role.ASSISTANT, "on it")
    calls = [call(owner, n, "ping", "{}") for n in (1, 2)]
    inputs: list[Input] = [message(1, Role.USER, "q"), owner, *calls]
    inputs += [ToolResult.succeeded(calls[1].id, "two"), message(3, Role.USER, "also do X")]
    inputs += [ToolResult.succeeded(calls[0].id, "one")]
    assert outline(items_of(inputs))[-3:] == [
        ("function_call_output", "one"),
        ("function_call_output", "two"),
        ("user", "also do X"),
    ]


def recorded(name: str) -> Completion:
    body = shared(f"captures/{name}.response.txt").read_bytes()
    return decode(body, make=OpenAIResponsesDecoder)[0].completion


def with_results(history: list[Input]) -> list[Input]:
    calls = [entry for entry in history if isinstance(entry, ToolCall)]
    return [GO_ON, *history, *(ToolResult.succeeded(made.id, "ok") for made in calls)]


def test_reasoning_goes_back_whole_before_what_it_led_to() -> None:
    answer = recorded("openai_responses/stream_reasoning_encrypted")
    thought, made, result = items_of(with_results(remembered(2, answer, CONFIG)))[1:]
    assert thought == json.loads(answer.continuation or "")[0]
    assert thought["type"] == "reasoning"
    assert thought["summary"] == []
    assert thought["encrypted_content"]
    assert made["id"] == "fc_x000022"
    assert made["call_id"] == result["call_id"] == "call_x000023"
    assert made["arguments"] == '{"result":6666}'
    body = body_of([GO_ON])
    assert (body["store"], body["include"]) == (False, ["reasoning.encrypted_content"])
    assert "previous_response_id" not in body


def test_reasoning_goes_too_when_what_it_led_to_is_gone() -> None:
    answer = recorded("openai_responses/stream_reasoning_encrypted")
    orphan = replace(answer, calls=(), parts=())
    assert outline(items_of([GO_ON, *remembered(2, orphan, CONFIG)])) == [("user", "go on")]
    phased = recorded("openai_responses/stream_phase")
    without_text = replace(phased, parts=())
    sent = items_of(with_results(remembered(2, without_text, CONFIG)))
    assert [item.get("type", "user") for item in sent] == [
        "user",
        "function_call",
        "function_call_output",
    ]


def test_a_message_keeps_its_id_and_phase() -> None:
    answer = recorded("openai_responses/stream_phase")
    said = items_of(with_results(remembered(2, answer, CONFIG)))[2]
    [part] = answer.parts
    assert isinstance(part, TextPart)
    assert said == {
        "type": "message",
        "id": "msg_x000041",
        "phase": "commentary",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": part.text, "annotations": []}],
    }


@pytest.mark.parametrize(
    "config", [replace(CONFIG, model="gpt-5.5"), replace(CONFIG, provider="azure")]
)
def test_nothing_of_another_model_goes_back_but_words_and_calls(config: ModelConfig) -> None:
    answer = recorded("openai_responses/stream_phase")
    history = with_results(remembered(2, answer, CONFIG))
    said, made, _ = items_of(history, config=config)[1:]
    assert set(said) == {"role", "content"}
    assert set(made) == {"type", "call_id", "name", "arguments"}


def test_calls_that_a_continuation_does_not_tell_of_are_sent_all_the_same() -> None:
    for state in ("[]", "no json", '{"a":1}', '[{"type":"message","id":"m"}]'):
        history = exchange("{}", continuation=Continuation("openai", "gpt-5", state))
        sent = items_of(history)[1:]
        assert [item["type"] for item in sent] == ["function_call", "function_call_output"]


def test_three_recorded_answers_with_one_call_id_make_one_conversation() -> None:
    first = recorded("bedrock_mantle/stream_reused_tool_call_ids_1")
    last = recorded("bedrock_mantle/stream_reused_tool_call_ids_3")
    history = [*remembered(2, first, CONFIG), GO_ON, *remembered(4, first, CONFIG)]
    sent = items_of([*history, *remembered(6, last, CONFIG), GO_ON])
    ids = [item["call_id"] for item in sent if item.get("type") == "function_call"]
    results = [item["call_id"] for item in sent if item.get("type") == "function_call_output"]
    assert ids == results
    assert ids[0] == "call_0" != ids[1]


@given(st.lists(st.integers(1, 3), min_size=1, max_size=6))
def test_what_was_sent_stays_as_it_was_while_the_conversation_grows(steps: list[int]) -> None:
    wire, transcript, stable = OpenAIResponsesWire(), Transcript(), b""
    thought = '{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"}'
    place = '{"type":"function_call"}'
    for number, count in enumerate(steps):
        state = f"[{','.join([thought, *[place] * count])}]"
        calls = tuple(RequestedCall("t", "ping", "{}") for _ in range(count))
        answer = remembered(number, Completion((), calls, continuation=state), CONFIG)
        results = [ToolResult.succeeded(c.id, "r") for c in answer if isinstance(c, ToolCall)]
        transcript = transcript.appended([message(number, Role.USER, "q"), *answer, *results])
        sent = wire.encode(request(transcript, "s", CONFIG))
        assert sent == OpenAIResponsesWire().encode(request(list(transcript), "s", CONFIG))
        assert sent.body.startswith(stable)
        json.loads(sent.body)
        stable = sent.body[: sent.stable]


@pytest.mark.parametrize(
    ("model", "reasons"),
    [
        ("gpt-5", True),
        ("o3-mini", True),
        ("openai.gpt-5.6-luna", True),
        ("deepseek-v4-flash", True),
        ("openai/gpt-oss-20b", True),
        ("gpt-4o", False),
        ("openai/gpt-4.1-mini", False),
        ("gpt-5-chat-latest", False),
    ],
)
def test_encrypted_thinking_is_asked_for_where_there_is_thinking(model: str, reasons: bool) -> None:
    body = body_of([GO_ON], config=ModelConfig("openai", model, Reasoning.LOW))
    assert ("include" in body, "reasoning" in body) == (reasons, reasons)
    settings = ResponsesSettings(reasoning=not reasons)
    assert ("include" in body_of([GO_ON], settings, config=replace(CONFIG, model=model))) != reasons


def test_retention_is_none_minutes_or_a_day() -> None:
    none = body_of([GO_ON], ResponsesSettings(cache=CacheRetention.NONE))
    assert not {"prompt_cache_key", "prompt_cache_retention"} & set(none)
    long = body_of([GO_ON], ResponsesSettings(cache=CacheRetention.LONG))
    assert long["prompt_cache_retention"] == "24h"


def test_a_request_is_what_the_vendors_own_client_sends() -> None:
    captured = json.loads(shared("difftest/openai-responses_1.json").read_text("utf-8"))
    theirs = captured["body"]
    assert captured["path"] == "/v1/responses"
    image = theirs["input"][0]["content"][1]
    image["detail"] = "auto"
    del theirs["parallel_tool_calls"]  # true is the default
    theirs["prompt_cache_key"] = "session-1"
    theirs["tools"][0]["strict"] = False
    thought = json.dumps(theirs["input"][1])
    state = f'[{thought},{{"type":"message"}}]'
    config = replace(CONFIG, reasoning=Reasoning.LOW, max_tokens=512)
    calls = tuple(RequestedCall(f"t{n}", "look", f'{{"q": "{n}"}}') for n in range(3))
    answer = remembered(2, Completion((TextPart("calling"),), calls, continuation=state), config)
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
    schema = theirs["tools"][0]["parameters"]
    tool = replace(asked.tools[0], name="look", description="d", input_schema=schema)
    images = Media(
        {"a": image["image_url"].partition(",")[2].encode()}, frozenset({Modality.IMAGE})
    )
    wire = OpenAIResponsesWire(ResponsesSettings(summary="auto"))
    assert json.loads(wire.encode(replace(asked, tools=(tool,)), images).body) == theirs


def test_a_service_tier_is_asked_for_if_it_is_set() -> None:
    assert "service_tier" not in body_of([GO_ON])
    assert body_of([GO_ON], ResponsesSettings(service_tier="flex"))["service_tier"] == "flex"
