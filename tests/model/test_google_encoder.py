"""Requests of the generateContent wire: repaired on the way out, stable in their beginning."""

import base64
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.model import (
    Completion,
    GeminiFamily,
    GoogleSettings,
    Input,
    ModelConfig,
    Reasoning,
    RequestedCall,
    Transcript,
)
from agentslot.model.estimate import UsageLedger
from agentslot.model.wire import WireRequest
from agentslot.model.wires.attachments import Media
from agentslot.model.wires.google_generative_ai import (
    GoogleGenerativeAIDecoder,
    GoogleGenerativeAIWire,
)
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
    in_base64,
    message,
    remembered,
    request,
)
from tests.shared import shared

CONFIG = ModelConfig("google", "gemini-2.5-flash")
NEWEST = ModelConfig("google", "gemini-3.8-flash")
GO_ON = message(99, Role.USER, "go on")
PLACEHOLDER = "skip_thought_signature_validator"


def encode(
    inputs: Sequence[Input],
    settings: GoogleSettings | None = None,
    config: ModelConfig = CONFIG,
    images: dict[str, bytes] | None = None,
) -> WireRequest:
    return GoogleGenerativeAIWire(settings).encode(
        request(inputs, "Be brief.", config), in_base64(images)
    )


def body_of(inputs: Sequence[Input], **more: Any) -> Any:
    return json.loads(encode(inputs, **more).body)


def contents_of(inputs: Sequence[Input], **more: Any) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = body_of(inputs, **more)["contents"]
    return sent


def outline(contents: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    """Who speaks in each content, and with which parts: a text as it is, others by their name."""
    return [(c["role"], [p.get("text", next(iter(p))) for p in c["parts"]]) for c in contents]


def exchange(arguments: str, output: ToolResult | None = None, **more: Any) -> list[Input]:
    """A question, an assistant's call of `ping`, and its result."""
    owner = message(2, Role.ASSISTANT, **more)
    made = call(owner, 1, "ping", arguments)
    result = output or ToolResult.succeeded(made.id, "pong")
    return [message(1, Role.USER, "q"), owner, made, replace(result, call_id=made.id)]


def responses_of(content: dict[str, Any]) -> list[dict[str, Any]]:
    return [part["functionResponse"] for part in content["parts"]]


def test_a_request_says_what_is_asked_and_nothing_else() -> None:
    config = replace(CONFIG, reasoning=Reasoning.HIGH, temperature=0.0, max_tokens=9)
    sent = encode([message(1, Role.USER, "hi")], GoogleSettings(show_thoughts=True), config)
    assert sent.path == "/v1/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
    assert sent.headers == {}
    assert json.loads(sent.body) == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "ping",
                        "description": "Answers pong.",
                        "parametersJsonSchema": {"type": "object", "additionalProperties": False},
                    }
                ]
            }
        ],
        "generationConfig": {
            "maxOutputTokens": 9,
            "temperature": 0.0,
            "thinkingConfig": {"thinkingBudget": 24_576, "includeThoughts": True},
        },
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
    }
    assert set(body_of([GO_ON])) == {"systemInstruction", "tools", "contents"}


def test_a_call_and_its_result_follow_their_message_without_made_up_ids() -> None:
    assert contents_of(exchange('{ "n" : 1.0e1 }'))[1:] == [
        {"role": "model", "parts": [{"functionCall": {"name": "ping", "args": {"n": 10.0}}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "ping", "response": {"output": "pong"}}}],
        },
    ]
    assert b'"args":{ "n" : 1.0e1 }' in encode(exchange('{ "n" : 1.0e1 }')).body


@pytest.mark.parametrize("name", ["dangling", "dangling_last"])
def test_a_call_without_result_gets_one_that_says_so(name: str) -> None:
    history = conversation(f"T01/{name}.json")
    sent = contents_of([*history, GO_ON])
    calls = [part for part in sent[1]["parts"] if "functionCall" in part]
    results = responses_of(sent[2])
    assert len(results) == len(calls)
    assert all("interrupted" in result["response"]["error"] for result in results[-2:])
    if name == "dangling":
        assert results[0]["response"] == {"output": "ok"}
    assert outline(sent[3:]) == [("user", ["go on"])]
    assert contents_of([*history, GO_ON]) == sent


def test_results_without_their_call_are_left_out_and_of_two_the_first_counts() -> None:
    sent = contents_of(conversation("T02/text_and_orphan.json"))
    texts = ["summary of before", "also do X", "go on"]
    assert outline(sent) == [("user", [content]) for content in texts]
    sent = contents_of(conversation("T02/duplicate_result.json"))
    assert [result["response"] for result in responses_of(sent[2])] == [{"output": "ok"}] * 2


def test_a_conversation_that_begins_with_the_model_gets_a_user_before_it() -> None:
    sent = contents_of(conversation("T02/orphan_after_trim.json"))
    assert outline(sent)[1:] == [("model", ["fine"]), ("user", ["go on"])]
    assert sent[0]["role"] == "user"


def test_a_user_speaks_between_two_contents_of_the_model() -> None:
    said = message(1, Role.ASSISTANT, "fine")
    sent = outline(contents_of([GO_ON, said, *exchange("{}")[1:]]))
    assert [role for role, _ in sent] == ["user", "model", "user", "model", "user"]


@pytest.mark.parametrize(
    "inputs", [[], [message(1, Role.USER, " ")], [GO_ON, message(1, Role.ASSISTANT, "fine")]]
)
def test_a_user_always_speaks_last(inputs: list[Input]) -> None:
    sent = outline(contents_of(inputs))
    assert sent[-1] == ("user", ["Continue."])
    assert ("model", ["fine"]) in sent or len(inputs) < 2


def test_blank_texts_and_empty_turns_are_not_sent() -> None:
    sent = contents_of(conversation("T03/empty_text_and_tool.json"))
    assert outline(sent) == [
        ("user", ["q"]),
        ("model", ["functionCall"]),
        ("user", ["functionResponse"]),
        ("user", ["go on"]),
    ]
    assert responses_of(sent[2])[0]["response"] == {"output": ""}
    empty = contents_of(conversation("T03/empty_turn.json"))
    assert outline(empty) == [("user", ["q"]), ("user", ["go on"])]


def test_an_unsigned_thought_alone_is_not_sent() -> None:
    thinking = message(2, Role.ASSISTANT, ReasoningPart("half a"))
    assert outline(contents_of([GO_ON, thinking, GO_ON])) == [("user", ["go on"])] * 2


def signed_pair(config: ModelConfig = NEWEST) -> list[Input]:
    """W21 as it stands in History, with both results."""
    answer, _ = decode(case("W21/two_parallel_first_signed.txt"), make=GoogleGenerativeAIDecoder)
    history = remembered(2, answer.completion, config)
    made = [entry for entry in history if isinstance(entry, ToolCall)]
    return [GO_ON, *history, *(ToolResult.succeeded(c.id, n) for n, c in enumerate(made))]


def test_parallel_calls_go_back_in_one_content_with_one_signature() -> None:
    assert contents_of(signed_pair(), config=NEWEST)[1:] == [
        {
            "role": "model",
            "parts": [
                {
                    "functionCall": {"name": "get_weather", "args": {"city": "Denver"}},
                    "thoughtSignature": "U0lHTkFUVVJFLU9ORQ==",
                },
                {"functionCall": {"name": "get_weather", "args": {"city": "Moab"}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "get_weather", "response": {"output": str(n)}}}
                for n in range(2)
            ],
        },
    ]


@pytest.mark.parametrize(
    "config", [replace(NEWEST, model="gemini-2.5-pro"), replace(CONFIG, provider="other")]
)
def test_a_signature_is_never_sent_to_another_model(config: ModelConfig) -> None:
    assert b"thoughtSignature" not in encode(signed_pair(), config=config).body


def test_a_model_that_checks_signatures_gets_the_vendors_word_for_a_call_of_another() -> None:
    other = replace(NEWEST, model="gemini-3-pro-preview")
    parts = contents_of(signed_pair(), config=other)[1]["parts"]
    assert [part.get("thoughtSignature") for part in parts] == [PLACEHOLDER, None]
    none = GoogleSettings(unsigned_call="")
    assert b"thoughtSignature" not in encode(signed_pair(), none, other).body


def test_the_order_of_parts_and_the_models_own_ids_survive() -> None:
    parts: list[dict[str, Any]] = [
        {"text": "hm", "thought": True, "thoughtSignature": "c2ln"},
        {"functionCall": {"id": "x", "name": "ping", "args": {}}, "thoughtSignature": "c2lo"},
        {"text": "then"},
        {"functionCall": {"name": "ping", "args": {"n": 1}}},
        {"text": "", "thoughtSignature": "c2lp"},
    ]
    document = {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}
    answer, _ = decode(json.dumps(document).encode(), make=GoogleGenerativeAIDecoder)
    history = remembered(2, answer.completion, NEWEST)
    made = [entry for entry in history if isinstance(entry, ToolCall)]
    sent = contents_of(
        [GO_ON, *history, *(ToolResult.succeeded(c.id, "ok") for c in made)], config=NEWEST
    )
    assert sent[1]["parts"] == parts
    assert [response.get("id") for response in responses_of(sent[2])] == ["x", None]


def test_a_continuation_that_cannot_be_read_stops_no_request() -> None:
    for state in ("[]", "no json", '{"a":1}', '[{"type":"part"},{"type":"text"}]', "[1]"):
        history = exchange("{}", continuation=Continuation("google", CONFIG.model, state))
        assert outline(contents_of(history))[1:] == [
            ("model", ["functionCall"]),
            ("user", ["functionResponse"]),
        ]


def test_arguments_that_are_no_object_go_out_inside_of_one() -> None:
    kept = json.loads(case("T07/bad_args_in_history.json"))["calls"][0]["arguments_text"]
    for written in (kept, "null", "", "{", "[1]", '{"a":1,"a":2}', '{"a":"\\ud800"}'):
        [said] = contents_of(exchange(written))[1]["parts"]
        assert isinstance(said["functionCall"]["args"], dict)


def test_a_failure_stands_under_error_and_a_success_under_output() -> None:
    failed = ToolResult.failed(call(message(2, Role.ASSISTANT), 1, "p", "").id, "broke", "it broke")
    unknown = replace(failed, status=ToolStatus.OUTCOME_UNKNOWN, error=None)
    for result, words in ((failed, "Error (broke): it broke"), (unknown, "unknown")):
        [response] = responses_of(contents_of(exchange("{}", result))[2])
        assert words in response["response"]["error"]
        assert set(response["response"]) == {"error"}


def test_names_that_the_vendor_refuses_are_changed_on_both_sides() -> None:
    owner = message(2, Role.ASSISTANT)
    for name, sendable in (("a b", "a_b"), ("9lives", "_9lives"), ("x" * 70, "x" * 64)):
        made = call(owner, 1, name, "{}")
        sent = contents_of([GO_ON, owner, made, ToolResult.succeeded(made.id, "ok")])
        assert sent[1]["parts"][0]["functionCall"]["name"] == sendable
        assert responses_of(sent[2])[0]["name"] == sendable


def test_an_image_that_a_tool_made_follows_the_results() -> None:
    history = conversation("T06/image_result.json")
    image = b"\x89PNG" * 20
    sent = contents_of(history, images={"picture-1": image})
    encoded = base64.b64encode(image).decode()
    [results] = [n for n, c in enumerate(sent) if "functionResponse" in c["parts"][0]]
    assert sent[results + 1] == {
        "role": "user",
        "parts": [{"inlineData": {"mimeType": "image/png", "data": encoded}}],
    }
    assert json.dumps(sent).count(encoded) == 1


def test_an_attachment_that_cannot_be_shown_is_named() -> None:
    parts = [AttachmentPart("a", kind_, "x") for kind_ in ("image/gif", "image/png", "audio/midi")]
    asked = message(1, Role.USER, "see", *parts)
    [sent] = contents_of([asked], images={"a": b"x"})
    assert [next(iter(part)) for part in sent["parts"]] == ["text", "text", "inlineData", "text"]
    assert "image/gif" in sent["parts"][1]["text"]


def test_what_interrupts_a_batch_stands_behind_its_results() -> None:
    first, owner, made, result = exchange("{}")
    sent = contents_of([first, owner, made, message(3, Role.USER, "wait"), result])
    assert outline(sent[2:]) == [("user", ["functionResponse"]), ("user", ["wait"])]


def test_lone_surrogates_never_reach_the_wire() -> None:
    sent = encode([message(1, Role.USER, "a\ud800b")], None).body
    assert "a�b" in sent.decode()


@given(st.lists(st.integers(1, 3), min_size=1, max_size=6))
def test_what_was_sent_stays_as_it_was_while_the_conversation_grows(steps: list[int]) -> None:
    wire, transcript, stable = GoogleGenerativeAIWire(), Transcript(), b""
    for number, count in enumerate(steps):
        signed = '{"type":"functionCall","thoughtSignature":"s"}'
        calls = tuple(RequestedCall("t", "ping", '{"n" : 1}') for _ in range(count))
        answer = remembered(number, Completion((), calls, continuation=f"[{signed}]"), NEWEST)
        results = [ToolResult.succeeded(c.id, "r") for c in answer if isinstance(c, ToolCall)]
        transcript = transcript.appended([message(number, Role.USER, "q"), *answer, *results])
        sent = wire.encode(request(transcript, "s", NEWEST))
        assert sent == GoogleGenerativeAIWire().encode(request(list(transcript), "s", NEWEST))
        assert sent.body.startswith(stable)
        assert len(json.loads(sent.body)["contents"][-1]["parts"]) == count
        stable = sent.body[: sent.stable]


CAMEL = {
    "mime_type": "mimeType",
    "parameters_json_schema": "parametersJsonSchema",
    "include_thoughts": "includeThoughts",
    "thinking_budget": "thinkingBudget",
    "thinking_level": "thinkingLevel",
}


def documented(members: dict[str, Any]) -> dict[str, Any]:
    """What the vendor's own client sent, with the documented names and alphabet."""
    written = {CAMEL.get(name, name): value for name, value in members.items()}
    if "mimeType" in written:
        written["data"] = written["data"].replace("-", "+").replace("_", "/")
    return written


def captured(name: str) -> Any:
    text = shared(f"difftest/{name}.json").read_text("utf-8")
    recorded = json.loads(text, object_hook=documented)
    assert recorded["path"] == "/v1/models/gemini-3-pro:streamGenerateContent?alt=sse"
    return recorded["body"]


def test_a_request_is_what_the_vendors_own_client_sends() -> None:
    theirs = captured("gemini_1")
    del theirs["cachedContent"]  # it names what was cached before, in a request of its own
    del theirs["systemInstruction"]["role"]  # has no meaning there
    thought, *rest = theirs["contents"][1]["parts"]
    kept = [{"type": "part", "part": thought}]
    kept += [{"type": "functionCall", "id": f"t{n}"} for n in range(3)]
    kept[1]["thoughtSignature"] = rest[0]["thoughtSignature"]
    config = ModelConfig("google", "gemini-3-pro", Reasoning.LOW, max_tokens=512)
    calls = tuple(RequestedCall(f"t{n}", "look", f'{{"q": "{n}"}}') for n in range(3))
    answer = remembered(2, Completion((), calls, continuation=json.dumps(kept)), config)
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
    declaration = theirs["tools"][0]["functionDeclarations"][0]
    schema = declaration["parametersJsonSchema"]
    tool = replace(asked.tools[0], name="look", description="d", input_schema=schema)
    data = theirs["contents"][0]["parts"][1]["inlineData"]["data"]
    family = GeminiFamily(budgets={Reasoning.LOW: 128})
    wire = GoogleGenerativeAIWire(GoogleSettings(show_thoughts=True, family=family))
    sent = wire.encode(replace(asked, tools=(tool,)), Media({"a": data.encode()}, {Modality.IMAGE}))
    assert json.loads(sent.body) == theirs


def test_an_effort_is_asked_for_as_the_vendors_own_client_asks() -> None:
    theirs = captured("gemini-structured_1")
    config = ModelConfig("google", "gemini-3-pro", Reasoning.LOW)
    sent = json.loads(
        GoogleGenerativeAIWire()
        .encode(replace(request([message(1, Role.USER, "hi")], None, config), tools=()))
        .body
    )
    assert sent["contents"] == theirs["contents"]
    assert sent["generationConfig"].items() <= theirs["generationConfig"].items()


def test_a_picture_counts_for_what_it_is_and_not_for_its_letters() -> None:
    asked = message(1, Role.USER, AttachmentPart("a", "image/png"))
    body = encode([asked], images={"a": bytes(300_000)}).body
    assert UsageLedger().count(request([asked]), body).tokens < 4_000


def test_the_reported_figures_count_for_the_next_request() -> None:
    wire, ledger = GoogleGenerativeAIWire(), UsageLedger()
    transcript = Transcript([message(1, Role.USER, "long " * 1_000)])
    first = wire.encode(request(transcript, "s", CONFIG))
    ledger.learn(transcript.ledger, first, TokenUsage(input=1_000, total=1_000))
    transcript = transcript.appended([message(2, Role.ASSISTANT, TextPart("ok")), GO_ON])
    second = wire.encode(request(transcript, "s", CONFIG))
    count = ledger.count(request(transcript, "s", CONFIG), second.body)
    assert count.tokens < 1_300
