"""Requests of the chat completions wire: repaired on the way out, stable in their beginning."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.model import Input, ModelConfig, Reasoning, Transcript
from agentslot.model.wires.openai_completions import (
    CompatibilityProfile,
    OpenAICompletionsWire,
    ThinkingReplay,
    profile_for,
)
from agentslot.session import (
    ArtifactMetadata,
    AttachmentPart,
    Continuation,
    ReasoningPart,
    Role,
    ToolCallId,
    ToolResult,
    ToolStatus,
)
from tests.model.histories import OPERATIONS, play
from tests.model.support import (
    CONFIG,
    call,
    case,
    conversation,
    decode,
    exchange,
    in_base64,
    message,
    request,
)

URL = "http://127.0.0.1:1/v1"
GO_ON = message(99, Role.USER, "go on")


def body_of(
    inputs: Sequence[Input],
    profile: CompatibilityProfile | None = None,
    config: ModelConfig = CONFIG,
    images: dict[str, bytes] | None = None,
) -> dict[str, Any]:
    wire = OpenAICompletionsWire(URL, profile)
    encoded: dict[str, Any] = json.loads(
        wire.encode(request(inputs, "Be brief.", config), in_base64(images)).body
    )
    return encoded


def messages_of(inputs: Sequence[Input], **more: Any) -> list[dict[str, Any]]:
    """What is sent behind the system prompt."""
    sent: list[dict[str, Any]] = body_of(inputs, **more)["messages"][1:]
    return sent


def roles_and_content(messages: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    return [(entry["role"], entry["content"]) for entry in messages]


def test_a_request_says_what_is_asked_and_nothing_else() -> None:
    config = ModelConfig("openai", "m", Reasoning.HIGH, temperature=0.0, max_tokens=9)
    assert body_of([message(1, Role.USER, "hi")], config=config) == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 9,
        "temperature": 0.0,
        "reasoning_effort": "high",
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


def test_a_call_and_its_result_follow_their_message() -> None:
    assert messages_of(exchange('{ "n" : 1.0e1 }')) == [
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "t1",
                    "type": "function",
                    "function": {"name": "ping", "arguments": '{ "n" : 1.0e1 }'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "t1", "content": "pong"},
    ]


@pytest.mark.parametrize("name", ["dangling", "dangling_last"])
def test_a_call_without_result_gets_one_that_says_so(name: str) -> None:
    history = conversation(f"T01/{name}.json")
    sent = messages_of([*history, GO_ON])
    ids = [made["id"] for made in sent[1]["tool_calls"]]
    results = sent[2:-1]
    assert [entry["tool_call_id"] for entry in results] == ids
    assert [entry["role"] for entry in results] == ["tool"] * len(ids)
    assert all("interrupted" in entry["content"] for entry in results[-2:])
    if name == "dangling":
        assert results[0]["content"] == "ok"
    assert sent[-1] == {"role": "user", "content": "go on"}
    assert messages_of([*history, GO_ON]) == sent


def test_results_without_their_call_are_left_out_and_of_two_the_first_counts() -> None:
    assert roles_and_content(messages_of(conversation("T02/orphan_after_trim.json"))) == [
        ("assistant", "fine"),
        ("user", "go on"),
    ]
    assert roles_and_content(messages_of(conversation("T02/text_and_orphan.json"))) == [
        ("user", "summary of before"),
        ("user", "also do X"),
        ("user", "go on"),
    ]
    sent = messages_of(conversation("T02/duplicate_result.json"))
    assert [entry["content"] for entry in sent if entry["role"] == "tool"] == ["ok", "ok"]


def test_blank_texts_and_empty_turns_are_not_sent() -> None:
    sent = messages_of(conversation("T03/empty_text_and_tool.json"))
    assert roles_and_content(sent) == [
        ("user", "q"),
        ("assistant", None),
        ("tool", ""),
        ("user", "go on"),
    ]
    assert roles_and_content(messages_of(conversation("T03/empty_turn.json"))) == [
        ("user", "q"),
        ("user", "go on"),
    ]


def test_ids_that_repeat_in_each_turn_are_paired_by_turn() -> None:
    sent = messages_of(conversation("T05/reused_ids.json"))
    assert [entry["content"] for entry in sent if entry["role"] == "tool"] == ["A", "B"]
    assert [entry["role"] for entry in sent[1:5]] == ["assistant", "tool", "assistant", "tool"]


def test_an_image_in_a_result_follows_as_a_user_message_or_a_note() -> None:
    history = conversation("T06/image_result.json")
    noted = messages_of(history)
    assert noted[-1]["role"] == "tool"
    assert "shot.png" in noted[-1]["content"]
    shown = messages_of([*history, GO_ON], images={"picture-1": b"\x89PNG"})
    assert [entry["role"] for entry in shown[-3:]] == ["tool", "user", "user"]
    url = shown[-2]["content"][0]["image_url"]["url"]
    assert url == "data:image/png;base64,iVBORw=="
    assert all("base64" not in str(entry) for entry in shown if entry is not shown[-2])


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("", {}),
        ("null", {}),
        ("[1]", {"invalid_arguments": "[1]"}),
        ('{"a":1}}', {"invalid_arguments": '{"a":1}}'}),
        ('{"a":1,"a":2}', {"invalid_arguments": '{"a":1,"a":2}'}),
    ],
)
def test_arguments_that_were_no_object_go_back_inside_of_one(
    written: str, sent: dict[str, str]
) -> None:
    repeated = messages_of(exchange(written))[1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(repeated) == sent


def test_broken_arguments_in_a_history_do_not_break_the_next_request() -> None:
    written = json.loads(case("T07/bad_args_in_history.json"))["calls"][0]["arguments_text"]
    repeated = messages_of(exchange(written))[1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(repeated) == {"invalid_arguments": written}


def test_a_name_that_a_model_made_up_goes_back_in_a_form_that_servers_take() -> None:
    owner = message(2, Role.ASSISTANT)
    made = call(owner, 1, "read file.now " + "x" * 80, "{}")
    sent = messages_of([owner, made])[0]["tool_calls"][0]["function"]["name"]
    assert sent == "read_file_now_" + "x" * 50


def test_a_user_message_that_came_before_the_results_goes_behind_them() -> None:
    owner = message(2, Role.ASSISTANT, "on it")
    calls = [call(owner, n, "ping", "{}") for n in (1, 2)]
    inputs: list[Input] = [message(1, Role.USER, "q"), owner, *calls]
    inputs += [ToolResult.succeeded(calls[1].id, "two"), message(3, Role.USER, "also do X")]
    inputs += [ToolResult.succeeded(calls[0].id, "one")]
    assert roles_and_content(messages_of(inputs))[2:] == [
        ("tool", "one"),
        ("tool", "two"),
        ("user", "also do X"),
    ]


def test_a_stray_result_does_not_stand_for_the_one_that_is_awaited() -> None:
    owner = message(2, Role.ASSISTANT, "on it")
    made, lost = (call(owner, n, "ping", "{}") for n in (1, 2))
    inputs: list[Input] = [message(1, Role.USER, "q"), owner, made]
    inputs += [ToolResult.succeeded(lost.id, "stray"), message(3, Role.USER, "also do X")]
    sent = messages_of([*inputs, ToolResult.succeeded(made.id, "pong")])
    assert [entry["content"] for entry in sent] == ["q", "on it", "pong", "also do X"]


def test_results_are_told_in_words() -> None:
    failed = ToolResult.failed(ToolCallId("x"), "not_found", "no such file", {"path": "a"})
    unknown = ToolResult(ToolCallId("x"), ToolStatus.OUTCOME_UNKNOWN)
    artifact = ArtifactMetadata("a1", "text/plain", "log.txt", 12)
    listed = ToolResult.succeeded(ToolCallId("x"), {"n": 1}, artifact)
    texts = [
        messages_of(exchange("{}", result))[2]["content"] for result in (failed, unknown, listed)
    ]
    assert texts == [
        'Error (not_found): no such file\n{"path":"a"}',
        "The outcome of this call is unknown: it may or may not have taken effect.",
        '{"n":1}\n[artifact log.txt: text/plain, 12 bytes, id a1]',
    ]


def test_lone_surrogates_are_replaced_on_the_way_out() -> None:
    inputs = exchange("{}", ToolResult.succeeded(ToolCallId("x"), "bad \udc88"))
    sent = messages_of([message(0, Role.USER, "half \ud835 pair \ud83c\udf78"), *inputs])
    assert sent[0]["content"] == "half \ufffd pair \U0001f378"
    assert sent[-1]["content"] == "bad \ufffd"


def test_attachments_are_shown_or_named() -> None:
    picture = AttachmentPart("p1", "image/png", "a.png")
    question = [message(1, Role.USER, "see", picture)]
    assert messages_of(question)[0]["content"] == (
        "see\n\n[attachment a.png: image/png, id p1, not shown]"
        " (image omitted: model does not support images)"
    )
    blocks = messages_of(question, images={"p1": b"x"})[0]["content"]
    assert [block["type"] for block in blocks] == ["text", "image_url"]


def thinking(state: str, provider: str = "openai") -> list[Input]:
    return exchange("{}", continuation=Continuation(provider, "m", state))


def test_thinking_goes_back_in_its_field_to_the_model_that_wrote_it() -> None:
    assert messages_of(thinking('{"reasoning":"r1"}'))[1]["reasoning"] == "r1"
    foreign = messages_of(thinking('{"reasoning":"r1"}', provider="other"))[1]
    assert foreign.keys() == {"role", "content", "tool_calls"}
    shown = messages_of([message(1, Role.ASSISTANT, ReasoningPart("hm"), "x")])[0]
    assert shown == {"role": "assistant", "content": "x"}


def test_thinking_goes_back_with_calls_where_the_server_wants_it_and_not_where_it_refuses() -> None:
    wants = CompatibilityProfile(thinking_replay=ThinkingReplay.WITH_CALLS)
    refuses = CompatibilityProfile(thinking_replay=ThinkingReplay.NEVER)
    state = thinking('{"reasoning_content":"r1"}')
    assert messages_of(state, profile=wants)[1]["reasoning_content"] == "r1"
    assert messages_of(exchange("{}"), profile=wants)[1]["reasoning_content"] == ""
    assert "reasoning_content" not in messages_of(state, profile=refuses)[1]
    assert "reasoning_content" not in messages_of(exchange("{}"))[1]


def test_what_a_server_thought_is_what_it_gets_back() -> None:
    for name in ("both_fields", "only_reasoning", "only_details_encrypted"):
        state = decode(case(f"W22/{name}.txt"))[0].completion.continuation
        assert state is not None
        sent = messages_of(thinking(state))[1]
        assert {field: sent[field] for field in json.loads(state)} == json.loads(state)


def test_a_strict_gateway_gets_names_ids_and_turns_as_it_wants_them() -> None:
    mistral = profile_for("https://api.mistral.ai/v1")
    sent = messages_of([*exchange("{}"), GO_ON], profile=mistral)
    made = sent[1]["tool_calls"][0]["id"]
    assert len(made) == 9
    assert made.isalnum()
    assert sent[2] == {"role": "tool", "tool_call_id": made, "content": "pong", "name": "ping"}
    assert roles_and_content(sent[3:]) == [("assistant", "Understood."), ("user", "go on")]
    assert "stream_options" not in body_of([], profile=mistral)


def test_hosts_are_known_by_their_name_and_gateways_by_the_model_too() -> None:
    openai = body_of([], profile=profile_for("https://api.openai.com/v1"))
    assert openai["messages"][0]["role"] == "developer"
    assert (openai["store"], openai["prompt_cache_key"]) == (False, "session-1")
    assert profile_for("https://x.openai.azure.com/").max_tokens_field == "max_completion_tokens"
    assert profile_for("https://notapi.openai.com.evil.org/") == CompatibilityProfile()
    claude = profile_for("https://openrouter.ai/api/v1", "anthropic/claude")
    assert claude.cache_control
    assert not claude.user_after_tool
    marked = body_of([], profile=claude)["messages"][0]["content"]
    assert marked == [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    assert profile_for("https://api.deepseek.com").thinking_replay is ThinkingReplay.WITH_CALLS


def test_the_next_request_begins_with_the_bytes_of_the_one_before() -> None:
    wire = OpenAICompletionsWire(URL)
    transcript = Transcript(exchange("{}"))
    first = wire.encode(request(transcript, "Be brief.")).body
    longer = transcript.appended([message(3, Role.ASSISTANT, "done"), GO_ON])
    second = wire.encode(request(longer, "Be brief.")).body
    assert second.startswith(first.removesuffix(b"]}"))
    assert wire.encode(request(transcript, "Be brief.")).body == first


def test_only_what_is_new_is_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[str] = []

    def spy(value: dict[str, str]) -> str:
        encoded.append(value["content"])
        return json.dumps(value)

    wire = OpenAICompletionsWire(URL)
    transcript = Transcript([message(n, Role.USER, f"text {n}") for n in range(50)])
    wire.encode(request(transcript))
    monkeypatch.setattr("agentslot.model.wires.openai_completions.messages.dumps", spy)
    wire.encode(request(transcript.appended([GO_ON])))
    assert encoded == ["go on"]


@given(names=OPERATIONS, cut=st.integers(0, 25))
def test_any_history_gives_a_request_that_providers_accept(names: list[str], cut: int) -> None:
    inputs = play(names)
    sent = messages_of(inputs)
    open_ids: list[str] = []
    for entry in sent:
        if entry["role"] == "tool":
            assert entry["tool_call_id"] in open_ids
            open_ids.remove(entry["tool_call_id"])
        else:
            assert not open_ids
            open_ids = [made["id"] for made in entry.get("tool_calls", [])]
            assert len(set(open_ids)) == len(open_ids)
            assert open_ids or entry["content"].strip()
    assert not open_ids
    grown = Transcript(inputs[:cut])
    wire = OpenAICompletionsWire(URL)
    wire.encode(request(grown))
    whole = wire.encode(request(grown.appended(inputs[cut:]))).body
    assert whole == OpenAICompletionsWire(URL).encode(request(inputs)).body


@pytest.mark.parametrize(
    ("url", "last"),
    [
        ("https://api.openai.com/v1", "assistant"),
        ("https://api.mistral.ai/v1", "user"),
        ("https://api.deepseek.com", "user"),
        (URL, "user"),
    ],
)
def test_the_assistant_speaks_last_only_where_the_server_takes_that(url: str, last: str) -> None:
    wire = OpenAICompletionsWire(url)
    history = Transcript([message(1, Role.USER, "hi"), message(2, Role.ASSISTANT, "hello")])
    sent = wire.encode(request(history, config=CONFIG))
    assert json.loads(sent.body)["messages"][-1]["role"] == last
    longer = wire.encode(request(history.appended([message(3, Role.USER, "go")]), config=CONFIG))
    assert longer.body.startswith(sent.body[: sent.stable])
    assert [m["role"] for m in json.loads(longer.body)["messages"]] == ["user", "assistant", "user"]
