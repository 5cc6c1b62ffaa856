"""Requests of the Messages wire: repaired on the way out, stable in their beginning, cached."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.model import Completion, Input, ModelConfig, Reasoning, RequestedCall, Transcript
from agentslot.model.estimate import UsageLedger
from agentslot.model.wire import WireRequest
from agentslot.model.wires.anthropic_messages import (
    AnthropicMessagesDecoder,
    AnthropicMessagesWire,
    AnthropicSettings,
    KeyHeader,
    ThinkingStyle,
)
from agentslot.model.wires.attachments import Media
from agentslot.model.wires.caching import CacheRetention
from agentslot.session import (
    AttachmentPart,
    Continuation,
    Modality,
    ReasoningPart,
    Role,
    TextPart,
    TokenUsage,
    ToolCall,
    ToolResult,
    ToolStatus,
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
from tests.model.test_anthropic_decoder import block, sse, stop, tool_use
from tests.shared import shared

CONFIG = ModelConfig("anthropic", "claude-opus-5")
GO_ON = message(99, Role.USER, "go on")
EPHEMERAL = {"type": "ephemeral"}
PLAIN = AnthropicSettings(cache=CacheRetention.NONE)
PLACE = '{"type":"tool_use"}'
OLD = AnthropicSettings(api_version="2023-06-01", cache=CacheRetention.NONE)


def encode(
    inputs: Sequence[Input],
    settings: AnthropicSettings = PLAIN,
    config: ModelConfig = CONFIG,
    images: dict[str, bytes] | None = None,
) -> WireRequest:
    wire = AnthropicMessagesWire(settings)
    return wire.encode(request(inputs, "Be brief.", config), in_base64(images))


def body_of(inputs: Sequence[Input], settings: AnthropicSettings = PLAIN, **more: Any) -> Any:
    return json.loads(encode(inputs, settings, **more).body)


def messages_of(inputs: Sequence[Input], **more: Any) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = body_of(inputs, **more)["messages"]
    return sent


def outline(messages: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    """Who speaks in each message, and with which blocks: a text as it is, others by their type."""
    return [(m["role"], [b.get("text", b["type"]) for b in m["content"]]) for m in messages]


def text(content: str) -> dict[str, str]:
    return {"type": "text", "text": content}


def test_a_request_says_what_is_asked_and_nothing_else() -> None:
    config = replace(CONFIG, reasoning=Reasoning.HIGH, temperature=0.5, max_tokens=9)
    sent = encode([message(1, Role.USER, "hi")], AnthropicSettings(), config)
    assert sent.path == "/v1/messages"
    assert sent.headers == {"anthropic-version": "2026-10-21"}
    assert json.loads(sent.body) == {
        "model": "claude-opus-5",
        "max_tokens": 9,
        "stream": True,
        "thinking": {"type": "adaptive"},
        "output_config": {"effort": "high"},
        "tools": [
            {
                "name": "ping",
                "description": "Answers pong.",
                "input_schema": {"type": "object", "additionalProperties": False},
                "cache_control": EPHEMERAL,
            }
        ],
        "system": [{**text("Be brief."), "cache_control": EPHEMERAL}],
        "messages": [{"role": "user", "content": [{**text("hi"), "cache_control": EPHEMERAL}]}],
    }


def test_a_call_and_its_result_follow_their_message() -> None:
    assert messages_of(exchange('{ "n" : 1.0e1 }'))[1:] == [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "ping", "input": {"n": 10.0}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "pong"}],
        },
    ]
    assert b'"input":{ "n" : 1.0e1 }' in encode(exchange('{ "n" : 1.0e1 }')).body


@pytest.mark.parametrize("name", ["dangling", "dangling_last"])
def test_a_call_without_result_gets_one_that_says_so(name: str) -> None:
    history = conversation(f"T01/{name}.json")
    sent = messages_of([*history, GO_ON])
    ids = [made["id"] for made in sent[1]["content"][1:]]
    results = sent[2]["content"]
    assert [result["tool_use_id"] for result in results] == ids
    assert all(r["is_error"] and "interrupted" in r["content"] for r in results[-2:])
    if name == "dangling":
        assert results[0] == {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    assert outline(sent[3:]) == [("user", ["go on"])]
    assert messages_of([*history, GO_ON]) == sent


def test_results_without_their_call_are_left_out_and_of_two_the_first_counts() -> None:
    sent = messages_of(conversation("T02/text_and_orphan.json"))
    texts = ["summary of before", "also do X", "go on"]
    assert outline(sent) == [("user", [content]) for content in texts]
    sent = messages_of(conversation("T02/duplicate_result.json"))
    assert [result["content"] for result in sent[2]["content"]] == ["ok", "ok"]


def test_a_conversation_that_begins_with_the_assistant_gets_a_user_before_it() -> None:
    history = conversation("T02/orphan_after_trim.json")
    sent = messages_of(history)
    assert outline(sent)[1:] == [("assistant", ["fine"]), ("user", ["go on"])]
    assert sent[0]["role"] == "user"


def test_a_user_always_speaks_last() -> None:
    fine = message(2, Role.ASSISTANT, "fine")
    for settings in (PLAIN, AnthropicSettings()):
        for nothing in ([], [message(1, Role.USER, " ")]):
            assert outline(messages_of(nothing, settings=settings)) == [("user", ["Continue."])]
        assert outline(messages_of([GO_ON, fine], settings=settings)) == [
            ("user", ["go on"]),
            ("assistant", ["fine"]),
            ("user", ["Continue."]),
        ]


def test_blank_texts_and_empty_turns_are_not_sent() -> None:
    sent = messages_of(conversation("T03/empty_text_and_tool.json"), settings=AnthropicSettings())
    assert outline(sent) == [
        ("user", ["q"]),
        ("assistant", ["tool_use"]),
        ("user", ["tool_result"]),
        ("user", ["go on"]),
    ]
    assert sent[2]["content"] == [{"type": "tool_result", "tool_use_id": "t1"}]
    assert outline(messages_of(conversation("T03/empty_turn.json"))) == [
        ("user", ["q"]),
        ("user", ["go on"]),
    ]


def interleaved() -> tuple[list[dict[str, Any]], Completion]:
    """The assistant's content in T04, and what is decoded when a server streams it."""
    content: list[dict[str, Any]] = json.loads(case("T04/interleaved.json"))[1]["content"]
    events: list[dict[str, Any]] = []
    for index, entry in enumerate(content):
        if entry["type"] == "tool_use":
            written = '{ "command":"make test"}'
            events += tool_use(index, written, id=entry["id"], name=entry["name"])
        else:
            events += block(index, entry)
    answer, _ = decode(sse(*events, *stop("tool_use")), make=AnthropicMessagesDecoder)
    return content, answer.completion


def with_results(history: list[Input]) -> list[Input]:
    calls = [entry for entry in history if isinstance(entry, ToolCall)]
    return [GO_ON, *history, *(ToolResult.succeeded(made.id, "ok") for made in calls)]


def test_interleaved_thinking_goes_back_in_its_order_and_its_bytes() -> None:
    content, completion = interleaved()
    history = with_results(remembered(2, completion, CONFIG))
    sent = encode(history).body
    assert json.loads(sent)["messages"][1]["content"] == content
    assert b'{"type":"thinking","thinking":"first","signature":"c2lnMQ=="}' in sent
    assert sent.count(b'"input":{ "command":"make test"}') == 2
    results = json.loads(sent)["messages"][2]["content"]
    assert [result["tool_use_id"] for result in results] == ["t1", "t2"]


@pytest.mark.parametrize(
    "config", [replace(CONFIG, model="claude-sonnet-5"), replace(CONFIG, provider="other")]
)
def test_thinking_is_never_sent_to_another_model(config: ModelConfig) -> None:
    history = with_results(remembered(2, interleaved()[1], CONFIG))
    sent = messages_of(history, config=config)
    assert outline(sent[1:2]) == [("assistant", ["so", "tool_use", "tool_use"])]


def test_thinking_that_lost_all_that_it_belonged_to_is_not_sent() -> None:
    answer = replace(interleaved()[1], parts=(), calls=())
    assert outline(messages_of([GO_ON, *remembered(2, answer, CONFIG), GO_ON])) == [
        ("user", ["go on"]),
        ("user", ["go on"]),
    ]


def test_calls_and_texts_that_a_continuation_does_not_tell_of_are_sent_all_the_same() -> None:
    state = Continuation("anthropic", "claude-opus-5", '[{"type":"tool_use"}]')
    for kept in (state, replace(state, state="no json")):
        history = exchange("{}", continuation=kept)
        assert outline(messages_of(history))[1] == ("assistant", ["tool_use"])
    two = message(2, Role.ASSISTANT, "one", "two", continuation=replace(state, state="[]"))
    assert outline(messages_of([GO_ON, two, GO_ON]))[1] == ("assistant", ["one", "two"])


def test_ids_that_repeat_are_renamed_on_both_sides_and_others_never() -> None:
    sent = messages_of(conversation("T05/reused_ids.json"))
    ids = [sent[n]["content"][0]["id"] for n in (1, 3)]
    results = [sent[n]["content"][0] for n in (2, 4)]
    assert [result["tool_use_id"] for result in results] == ids
    assert [result["content"] for result in results] == ["A", "B"]
    assert ids[0] == "call_0" != ids[1]


@pytest.mark.parametrize("token", ["functions.ping:0", "x" * 65, "é"])
def test_ids_that_the_server_refuses_are_replaced(token: str) -> None:
    owner = message(2, Role.ASSISTANT)
    made = call(owner, 1, "ping", "{}", token)
    sent = messages_of([GO_ON, owner, made, ToolResult.succeeded(made.id, "pong")])
    assert sent[1]["content"][0]["id"] == sent[2]["content"][0]["tool_use_id"] != token


def test_an_image_in_a_result_is_shown_in_it_or_named() -> None:
    history = conversation("T06/image_result.json")
    [noted] = messages_of(history)[2]["content"]
    assert "shot.png" in noted["content"]
    [shown] = messages_of(history, images={"picture-1": b"\x89PNG"})[2]["content"]
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}
    assert shown["content"][1] == {"type": "image", "source": source}
    assert "base64" not in shown["content"][0]["text"]


def test_an_image_of_a_user_is_shown_or_named() -> None:
    asked = message(1, Role.USER, "look", AttachmentPart("a", "image/png", "x.png"))
    assert outline(messages_of([asked], images={"a": b"1"})) == [("user", ["look", "image"])]
    assert outline(messages_of([asked]))[0][1][1].startswith("[attachment x.png")


def test_broken_arguments_in_a_history_do_not_break_the_next_request() -> None:
    written = json.loads(case("T07/bad_args_in_history.json"))["calls"][0]["arguments_text"]
    sent = messages_of(exchange(written))
    assert sent[1]["content"][0]["input"] == {"invalid_arguments": written}


def test_half_a_thought_is_not_sent() -> None:
    thought = message(2, Role.ASSISTANT, ReasoningPart("half a thought"))
    assert outline(messages_of([message(1, Role.USER, "q"), thought, GO_ON])) == [
        ("user", ["q"]),
        ("user", ["go on"]),
    ]


def test_a_user_message_that_came_before_the_results_goes_behind_them() -> None:
    owner = message(2, Role.ASSISTANT, "on it")
    calls = [call(owner, n, "ping", "{}") for n in (1, 2)]
    inputs: list[Input] = [message(1, Role.USER, "q"), owner, *calls]
    inputs += [ToolResult.succeeded(calls[1].id, "two"), message(3, Role.USER, "also do X")]
    inputs += [ToolResult.succeeded(calls[0].id, "one")]
    sent = messages_of(inputs)
    assert outline(sent)[2:] == [("user", ["tool_result", "tool_result"]), ("user", ["also do X"])]
    assert [result["content"] for result in sent[2]["content"]] == ["one", "two"]


def test_failed_and_unknown_results_are_marked_as_errors() -> None:
    failed = ToolResult.failed(call(GO_ON, 1, "", "").id, "boom", "it broke")
    [block_] = messages_of(exchange("{}", failed))[2]["content"]
    assert (block_["content"], block_["is_error"]) == ("Error (boom): it broke", True)
    unknown = replace(failed, status=ToolStatus.OUTCOME_UNKNOWN, error=None)
    [block_] = messages_of(exchange("{}", unknown))[2]["content"]
    assert block_["is_error"]


def marks_of(sent: Any) -> list[Any]:
    """What is marked, in the order of the request, with the mark taken off."""
    blocks = [*sent["tools"], *sent["system"]]
    blocks += [block_ for entry in sent["messages"] for block_ in entry["content"]]
    marked = [dict(block_) for block_ in blocks if "cache_control" in block_]
    assert all(block_.pop("cache_control")["type"] == "ephemeral" for block_ in marked)
    return marked


def test_the_marks_are_on_the_last_tool_the_prompt_and_the_last_block_alone() -> None:
    history = exchange("{}")
    for inputs, last in (
        (history, {"type": "tool_result", "tool_use_id": "t1", "content": "pong"}),
        ([*history, GO_ON], text("go on")),
        ([*history, message(3, Role.ASSISTANT, "done")], text("Continue.")),
    ):
        marked = marks_of(body_of(inputs, AnthropicSettings()))
        assert [marked[0]["name"], *marked[1:]] == ["ping", text("Be brief."), last]


def test_retention_is_none_minutes_or_an_hour() -> None:
    assert b"cache_control" not in encode(exchange("{}"), PLAIN).body
    long = encode(exchange("{}"), AnthropicSettings(cache=CacheRetention.LONG)).body
    assert long.count(b'"cache_control":{"type":"ephemeral","ttl":"1h"}') == 3


@given(st.lists(st.integers(1, 3), min_size=1, max_size=6), st.booleans())
def test_what_was_sent_stays_as_it_was_while_the_conversation_grows(
    steps: list[int], thinks: bool
) -> None:
    wire, transcript, stable = AnthropicMessagesWire(), Transcript(), b""
    thought = '{"type":"thinking","thinking":"hm","signature":"s"},' if thinks else ""
    for number, count in enumerate(steps):
        state = f"[{thought}{','.join([PLACE] * count)}]"
        calls = tuple(RequestedCall("t", "ping", '{"n" : 1}') for _ in range(count))
        answer = remembered(number, Completion((), calls, continuation=state), CONFIG)
        results = [ToolResult.succeeded(c.id, "r") for c in answer if isinstance(c, ToolCall)]
        transcript = transcript.appended([message(number, Role.USER, "q"), *answer, *results])
        sent = wire.encode(request(transcript, "s", CONFIG))
        assert sent == AnthropicMessagesWire().encode(request(list(transcript), "s", CONFIG))
        assert sent.body.startswith(stable)
        json.loads(sent.body)
        stable = sent.body[: sent.stable]


def test_thinking_is_asked_for_as_the_model_takes_it() -> None:
    def asked(model: str, settings: AnthropicSettings = PLAIN, limit: int | None = None) -> Any:
        config = ModelConfig("anthropic", model, Reasoning.MEDIUM, max_tokens=limit)
        sent = body_of([GO_ON], settings, config=config)
        return sent.get("thinking"), sent.get("output_config")

    budget = {"type": "enabled", "budget_tokens": 8_192}
    effort = ({"type": "adaptive"}, {"effort": "medium"})
    assert asked("claude-sonnet-4-20250514") == asked("claude-opus-4-5") == (budget, None)
    assert asked("anthropic/claude-3.7-sonnet") == asked("claude-3-7-sonnet-latest")
    assert asked("claude-3-7-sonnet-latest") == (budget, None)
    assert asked("claude-3-5-haiku-20241022") == asked("claude-3-opus-20240229") == (None, None)
    assert asked("claude-opus-4-6") == asked("claude-sonnet-5") == asked("claude-next") == effort
    assert asked("claude-next", replace(PLAIN, thinking=ThinkingStyle.NONE)) == (None, None)
    assert asked("claude-haiku-4-5", limit=1_500)[0]["budget_tokens"] == 1_024
    assert asked("claude-haiku-4-5", limit=1_024) == (None, None)


def test_nothing_is_said_of_thinking_unless_it_is_asked_for() -> None:
    assert "thinking" not in body_of([GO_ON])
    options = replace(PLAIN, thinking_display="summarized", prefix_mismatch="drop_block")
    assert body_of([GO_ON], options)["thinking"] == {
        "type": "adaptive",
        "display": "summarized",
        "block_binding": {"prefix_mismatch_behavior": "drop_block"},
    }


def test_a_temperature_is_sent_only_where_the_server_still_takes_it() -> None:
    warm = replace(CONFIG, temperature=0.0)
    assert "temperature" not in body_of([GO_ON], config=warm)
    assert body_of([GO_ON], OLD, config=warm)["temperature"] == 0.0
    thinking = replace(warm, reasoning=Reasoning.LOW)
    assert "temperature" not in body_of([GO_ON], OLD, config=thinking)


def test_the_output_is_always_bounded_and_never_beyond_the_model() -> None:
    wire = AnthropicMessagesWire(PLAIN, {"claude-opus-5": 4_096})
    for asked, sent in ((None, 4_096), (100, 100), (9_999, 4_096)):
        body = wire.encode(request([GO_ON], config=replace(CONFIG, max_tokens=asked))).body
        assert json.loads(body)["max_tokens"] == sent
    assert body_of([GO_ON])["max_tokens"] == 32_000
    old = replace(CONFIG, model="claude-3-opus-20240229")
    assert body_of([GO_ON], config=old)["max_tokens"] == 4_096


def test_version_betas_and_key_are_header_fields() -> None:
    settings = replace(OLD, key_header=KeyHeader.X_API_KEY, betas=("one", "two"))
    assert encode([GO_ON], settings).headers == {
        "anthropic-version": "2023-06-01",
        "anthropic-beta": "one,two",
    }
    assert AnthropicMessagesWire(settings).authorization("k") == {"x-api-key": "k"}
    assert AnthropicMessagesWire().authorization("k") == {"authorization": "Bearer k"}


def captured(name: str) -> dict[str, Any]:
    """What the vendor's own client sent, less what means the same when it is absent."""
    body: dict[str, Any] = json.loads(shared(f"difftest/{name}.json").read_text("utf-8"))["body"]
    for entry in body["messages"]:
        if isinstance(entry["content"], str):
            entry["content"] = [text(entry["content"])]
        for block_ in entry["content"]:
            if block_["type"] == "tool_result" and not block_["is_error"]:
                del block_["is_error"]
                [block_["content"]] = [part["text"] for part in block_["content"]]
    return body


def test_a_request_is_what_the_vendors_own_client_sends() -> None:
    theirs = captured("anthropic_1")
    data = theirs["messages"][0]["content"][1]["source"]["data"]
    theirs["system"][0]["cache_control"] = EPHEMERAL
    theirs["messages"][2]["content"][2]["content"] = "Error (failed): boom"
    state = '[{"type":"thinking","thinking":"hmm","signature":"c2ln"},{"type":"text"}]'
    config = ModelConfig("anthropic", "claude-opus-4-6", Reasoning.LOW, max_tokens=2048)
    calls = tuple(RequestedCall(f"t{n}", "look", f'{{"q": "{n}"}}') for n in range(3))
    answer = remembered(2, Completion((TextPart("calling"),), calls, continuation=state), config)
    ids = [entry.id for entry in answer if isinstance(entry, ToolCall)]
    asked = request(
        [
            message(1, Role.USER, "hi", AttachmentPart("a", "image/png")),
            *answer,
            *(ToolResult.succeeded(ids[n], f"r{n}") for n in range(2)),
            ToolResult.failed(ids[2], "failed", "boom"),
        ],
        "You are terse.",
        config,
    )
    schema = theirs["tools"][0]["input_schema"]
    tool = replace(asked.tools[0], name="look", description="d", input_schema=schema)
    settings = AnthropicSettings(thinking=ThinkingStyle.BUDGET, thinking_budgets={Reasoning.LOW: 1})
    images = Media({"a": data.encode()}, frozenset({Modality.IMAGE}))
    sent = AnthropicMessagesWire(settings).encode(replace(asked, tools=(tool,)), images)
    assert json.loads(sent.body) == theirs


def test_an_adaptive_request_is_what_the_vendors_own_client_sends() -> None:
    theirs = captured("anthropic-adaptive_1")
    del theirs["cache_control"]  # theirs asks the server to set the mark, ours sets it
    config = ModelConfig("anthropic", "claude-opus-5", Reasoning.LOW, max_tokens=64)
    asked = replace(request([message(1, Role.USER, "hi")], None, config), tools=())
    assert json.loads(AnthropicMessagesWire(PLAIN).encode(asked).body) == theirs


def test_a_picture_counts_for_what_it_is_and_not_for_its_letters() -> None:
    asked = message(1, Role.USER, AttachmentPart("a", "image/png"))
    body = encode([asked], images={"a": bytes(300_000)}).body
    assert UsageLedger().count(request([asked]), body).tokens < 4_000


def test_the_reported_figures_count_for_the_next_request_though_the_mark_moves() -> None:
    wire, ledger = AnthropicMessagesWire(), UsageLedger()
    transcript = Transcript([message(1, Role.USER, "long " * 1_000)])
    first = wire.encode(request(transcript, "s", CONFIG))
    ledger.learn(transcript.ledger, first, TokenUsage(input=1_000, total=1_000))
    transcript = transcript.appended([message(2, Role.ASSISTANT, "ok"), GO_ON])
    second = wire.encode(request(transcript, "s", CONFIG))
    count = ledger.count(request(transcript, "s", CONFIG), second.body)
    assert count.tokens < 1_300
