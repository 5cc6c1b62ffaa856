"""Text deltas in an envelope that repeats mean what they mean when each one is read."""

import json
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.model import ModelError
from agentslot.model.wire import Decoder
from agentslot.model.wires.anthropic_messages import AnthropicMessagesDecoder
from agentslot.model.wires.body import parse_object
from agentslot.model.wires.openai_completions import OpenAICompletionsDecoder
from agentslot.model.wires.repeated import Envelope
from agentslot.session import AttemptId

Make = Callable[[AttemptId], Decoder]

TEXTS = st.sampled_from(
    [
        "a",
        " word",
        ":",
        ",",
        "content",
        "text",
        "text_delta",
        "index",
        "m",
        "",
        "é",
        "日本",
        "\u2028",
    ]
) | st.text(max_size=4)


def reading_of(stream: bytes, make: Make, size: int) -> list[object]:
    """All that a decoder lets be seen of a stream: its deltas, its answer, its error."""
    decoder = make(AttemptId("attempt-1"))
    seen: list[object] = []
    try:
        for start in range(0, len(stream), size):
            seen += decoder.feed(stream[start : start + size])
        seen.append(decoder.finish())
    except ModelError as error:
        seen.append((error.code, str(error)))
    return [*seen, decoder.text, decoder.usage, decoder.settled]


def reads_each(stream: bytes, make: Make) -> list[object]:
    with patch.object(Envelope, "takes", return_value=False):
        return reading_of(stream, make, len(stream) or 1)


def spelled(event: object, *, escaped: bool) -> bytes:
    return json.dumps(event, ensure_ascii=escaped).encode("utf-8", "replace")


def openai_chunk(text: str, form: int, piece: str) -> dict[str, Any]:
    chunk: dict[str, Any] = {"id": "1", "model": "m", "choices": [{"delta": {"content": text}}]}
    choice = chunk["choices"][0]
    match form:
        case 0:
            choice["delta"]["reasoning_content"] = piece
        case 1:
            choice["delta"]["tool_calls"] = []
        case 2:
            choice["finish_reason"] = piece
        case 3:
            chunk["usage"] = {"prompt_tokens": 1, "completion_tokens": len(piece)}
        case 4:
            chunk["choices"].append({"delta": {"content": piece}})
        case 5:
            choice["delta"] = {"refusal": text, "content": None}
        case 6:
            choice["delta"] = {"role": piece, "content": text, "refusal": None}
        case 7:
            chunk["error"] = {"message": piece}
        case 8:
            choice["delta"]["content"] = [{"type": "text", "text": text}]
        case _:
            pass
    return chunk


def anthropic_event(text: str, form: int, piece: str) -> dict[str, Any]:
    kinds = [
        ("text_delta", "text"),
        ("thinking_delta", "thinking"),
        ("input_json_delta", "partial_json"),
    ]
    kind, member = kinds[form % 3] if form < 6 else kinds[0]
    event: dict[str, Any] = {
        "type": "content_block_delta",
        "index": form // 3 % 3,
        "delta": {"type": kind, member: text},
    }
    match form:
        case 7:
            event["delta"]["other"] = piece
        case 8:
            return {"type": "content_block_stop", "index": 0}
        case _:
            pass
    return event


RUNS = st.lists(
    st.tuples(st.integers(0, 14), st.lists(TEXTS, min_size=1, max_size=4), TEXTS, st.booleans()),
    max_size=8,
)


@given(runs=RUNS, size=st.integers(1, 400))
def test_chat_completions_chunks_mean_the_same(
    runs: list[tuple[int, list[str], str, bool]], size: int
) -> None:
    events = [
        b"data: " + spelled(openai_chunk(text, form, piece), escaped=escaped) + b"\n\n"
        for form, texts, piece, escaped in runs
        for text in texts
    ]
    stream = b"".join(events)
    expected = reads_each(stream, OpenAICompletionsDecoder)
    assert reading_of(stream, OpenAICompletionsDecoder, size) == expected


@given(runs=RUNS, size=st.integers(1, 400))
def test_messages_events_mean_the_same(
    runs: list[tuple[int, list[str], str, bool]], size: int
) -> None:
    begun: list[dict[str, Any]] = [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "thinking"}},
        {
            "type": "content_block_start",
            "index": 2,
            "content_block": {"type": "tool_use", "id": "t"},
        },
    ]
    deltas = [
        spelled(anthropic_event(text, form, piece), escaped=escaped)
        for form, texts, piece, escaped in runs
        for text in texts
    ]
    lines = [*(spelled(event, escaped=False) for event in begun), *deltas]
    stream = b"".join(b"event: e\ndata: " + line + b"\n\n" for line in lines)
    expected = reads_each(stream, AnthropicMessagesDecoder)
    assert reading_of(stream, AnthropicMessagesDecoder, size) == expected


MESSAGES_DELTA = (
    b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%s"}}'
)
TRAPS: list[tuple[str, Make, list[bytes], str]] = [
    (
        "its text is escaped, and found elsewhere",
        OpenAICompletionsDecoder,
        [
            rb'data: {"id":"a","choices":[{"delta":{"content":"\u0061"}}]}',
            rb'data: {"id":"b","choices":[{"delta":{"content":"\u0061"}}]}',
        ],
        "aa",
    ),
    (
        "another member has the same value",
        OpenAICompletionsDecoder,
        [
            b'data: {"model":"m","choices":[{"delta":{"content":"m"}}]}',
            b'data: {"model":"n","choices":[{"delta":{"content":"m"}}]}',
        ],
        "mm",
    ),
    (
        "its text is found across the quotes around it",
        OpenAICompletionsDecoder,
        [
            b'data: {"choices":[{"delta":{"content":":"}}]}',
            b'data: {"choices":[{"delta":{"content" : ":"}}]}',
        ],
        "::",
    ),
    (
        "the next one has another name",
        OpenAICompletionsDecoder,
        [
            b'data: {"choices":[{"delta":{"content":"a"}}]}',
            b'event: error\ndata: {"choices":[{"delta":{"content":"b"}}]}',
        ],
        "a",
    ),
    (
        "the next one is the half of it",
        OpenAICompletionsDecoder,
        [
            b'data: {"choices":[{"delta":{"content":"a"}}]}',
            b'data: {"choices":[{"delta":{"content":"}}]}',
        ],
        "a",
    ),
    (
        "the next one ends otherwise",
        OpenAICompletionsDecoder,
        [
            b'data: {"choices":[{"delta":{"content":"a"},"finish_reason":null}]}',
            b'data: {"choices":[{"delta":{"content":"b"},"finish_reason":"ok"}]}',
        ],
        "ab",
    ),
    (
        "its block was closed in between",
        AnthropicMessagesDecoder,
        [
            b'data: {"type":"content_block_start","index":0,"content_block":{"type":"text"}}',
            MESSAGES_DELTA % b"a",
            b'data: {"type":"content_block_stop","index":0}',
            MESSAGES_DELTA % b"b",
        ],
        "a",
    ),
]


@pytest.mark.parametrize(
    ("make", "events", "text"),
    [pytest.param(*trap, id=why) for why, *trap in TRAPS],
)
def test_an_event_is_read_if(make: Make, events: list[bytes], text: str) -> None:
    stream = b"\n\n".join([*events, b""])
    for size in (1, 50, len(stream)):
        seen = reading_of(stream, make, size)
        assert seen == reads_each(stream, make)
        assert text in seen


ENVELOPE = b'data: {"id": "1", "choices": [{"delta": {"content": "%s"}}]}\n\n'


@pytest.mark.parametrize(
    "text", [rb"\ud800", b"\xff", b"\xed\xa0\x80", b"\n", b"\x00", b'", "content": "', b'"', b"\\"]
)
def test_what_is_no_strict_json_is_refused_in_a_known_envelope_too(text: bytes) -> None:
    stream = ENVELOPE % b"one" + ENVELOPE % b"two" + ENVELOPE % text
    expected = reads_each(stream, OpenAICompletionsDecoder)
    assert reading_of(stream, OpenAICompletionsDecoder, 7) == expected
    assert "invalid_answer" in str(expected)


def test_the_output_limit_counts_what_comes_in_a_known_envelope() -> None:
    decoder = OpenAICompletionsDecoder(AttemptId("attempt-1"), max_output=100)
    for _ in range(10):
        assert decoder.feed(ENVELOPE % b"0123456789")
    with pytest.raises(ModelError, match="larger than"):
        decoder.feed(ENVELOPE % b"x")


def test_an_envelope_is_read_once_as_long_as_it_repeats() -> None:
    decoder = OpenAICompletionsDecoder(AttemptId("attempt-1"))
    target = "agentslot.model.wires.openai_completions.decode.parse_object"
    with patch(target, side_effect=parse_object) as parse:
        for word in (b"The", b" answer", b" is", b" 42"):
            assert len(decoder.feed(ENVELOPE % word)) == 1
    assert parse.call_count == 1
    assert decoder.text == "The answer is 42"


def test_a_vendor_that_numbers_its_events_is_soon_no_longer_waited_for() -> None:
    decoder = OpenAICompletionsDecoder(AttemptId("attempt-1"))
    with patch.object(Envelope, "remember", autospec=True, side_effect=Envelope.remember) as kept:
        for number in range(100):
            chunk = {"id": number, "choices": [{"delta": {"content": f"word{number}"}}]}
            assert decoder.feed(b"data: " + json.dumps(chunk).encode() + b"\n\n")
    assert kept.call_count < 10
