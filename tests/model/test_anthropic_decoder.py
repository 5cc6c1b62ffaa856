"""The Messages decoder against the faults of real servers."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from agentslot.model import Completion, FinishReason, ModelError, ModelErrorCode, RequestedCall
from agentslot.model.wire import Answer, Decoder
from agentslot.model.wires.anthropic_messages import AnthropicMessagesDecoder
from agentslot.session import AttemptId, ReasoningPart, TextPart, TokenUsage
from tests.model.support import case, decode


def answer_of(data: bytes, size: int = 0) -> Answer:
    return decode(data, size, AnthropicMessagesDecoder)[0]


def error_of(
    data: bytes, size: int = 0, make: Callable[[AttemptId], Decoder] = AnthropicMessagesDecoder
) -> ModelError:
    with pytest.raises(ModelError) as caught:
        decode(data, size, make)
    return caught.value


def sse(*events: dict[str, Any]) -> bytes:
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()


def block(index: int, content: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of one content block."""
    return [
        {"type": "content_block_start", "index": index, "content_block": content},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def stop(reason: str | None = "end_turn", **details: Any) -> list[dict[str, Any]]:
    delta = {"stop_reason": reason, **details}
    return [{"type": "message_delta", "delta": delta}, {"type": "message_stop"}]


def tool_use(index: int, *pieces: str, **members: Any) -> list[dict[str, Any]]:
    content: dict[str, Any] = {"type": "tool_use", "id": f"t{index}", "name": "say", "input": {}}
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return block(index, {**content, **members}, *deltas)


def completion_of(*events: dict[str, Any]) -> Completion:
    return answer_of(sse(*events)).completion


def test_unknown_blocks_deltas_and_events_change_nothing_that_is_known() -> None:
    answer = answer_of(case("W18/stream.txt"))
    assert answer.completion.parts == (ReasoningPart("hm"), TextPart("hi"))
    assert answer.completion.finish is FinishReason.STOP
    assert json.loads(answer.completion.continuation or "") == [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "text", "citations": [{"type": "char_location"}]},
    ]
    assert answer.usage == TokenUsage(input=9, output=20, total=29)
    assert (answer.served_model, answer.request_id) == ("m", "msg_1")


@pytest.mark.parametrize("name", ["anthropic_cut_in_args", "anthropic_cut_after_complete_args"])
def test_an_answer_without_its_end_is_broken_whatever_it_holds(name: str) -> None:
    error = error_of(case(f"W16/{name}.txt"))
    assert (error.code, error.retryable) == (ModelErrorCode.BROKEN_STREAM, True)


def test_an_answer_whose_block_never_closed_is_broken() -> None:
    events = [*tool_use(0, '{"a":')[:-1], *stop("tool_use")]
    assert error_of(sse(*events)).code == ModelErrorCode.BROKEN_STREAM


@pytest.mark.parametrize("size", [0, 1])
@pytest.mark.parametrize(
    ("name", "code", "message", "text"),
    [
        ("first_event", ModelErrorCode.RATE_LIMITED, "slow down", ""),
        ("mid_stream", ModelErrorCode.OVERLOADED, "Overloaded", "The answer"),
    ],
)
def test_an_error_in_the_stream_is_typed_and_keeps_the_text(
    name: str, code: ModelErrorCode, message: str, text: str, size: int
) -> None:
    decoder = AnthropicMessagesDecoder(AttemptId("a"))
    error = error_of(case(f"W17/{name}.txt"), size, lambda _: decoder)
    assert (error.code, error.message, error.retryable) == (code, message, True)
    assert decoder.text == text


def test_an_error_that_came_instead_of_a_stream_is_the_servers_own() -> None:
    body = b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
    error = error_of(body)
    assert (error.code, error.vendor_code, error.retryable) == (
        ModelErrorCode.OVERLOADED,
        "overloaded_error",
        True,
    )


def test_a_server_that_does_not_stream_is_read_as_well() -> None:
    content = [{"type": "text", "text": "so"}, {"type": "tool_use", "id": "t", "name": "say"}]
    usage = {"input_tokens": 1, "output_tokens": 2}
    document = {"type": "message", "content": content, "stop_reason": "tool_use", "usage": usage}
    answer = answer_of(json.dumps(document).encode())
    assert answer.completion.parts == (TextPart("so"),)
    assert answer.completion.calls == (RequestedCall("t", "say", "{}"),)
    assert answer.usage == TokenUsage(input=1, output=2, total=3)


@pytest.mark.parametrize(
    "form",
    [
        b'{"type":"message","content":[{"type":"text","text":"a"},%s],"stop_reason":"tool_use"}',
        (
            b'data: {"type":"message_start","message":{"content":[%s]}}\n\n'
            b'data: {"type":"message_stop"}\n\n'
        ),
        (
            b'data: {"type":"content_block_start","index":0,"content_block":%s}\n\n'
            b'data: {"type":"content_block_stop","index":0}\n\n'
            b'data: {"type":"message_stop"}\n\n'
        ),
    ],
)
def test_arguments_that_come_all_at_once_keep_their_spelling(form: bytes) -> None:
    """Calls made by the vendor's code come so, in the middle of a stream too."""
    written = rb'{ "n" : 1.0e1, "s":"\u00e9", "big":12345678901234567890.10 }'
    block = b'{"type":"tool_use","id":"t","name":"say","input":' + written + b"}"
    [made] = answer_of(form % block).completion.calls
    assert made.arguments == written.decode()


def test_the_last_figure_given_counts_and_what_was_cached_is_part_of_the_input() -> None:
    first = {"input_tokens": 3, "cache_read_input_tokens": 7, "output_tokens": 1}
    last = {
        "cache_creation_input_tokens": 5,
        "cache_read_input_tokens": None,
        "output_tokens": 9,
        "output_tokens_details": {"thinking_tokens": 4},
    }
    answer = answer_of(
        sse(
            {"type": "message_start", "message": {"usage": first}},
            *block(0, {"type": "text", "text": "x"}),
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": last},
            {"type": "message_stop"},
        )
    )
    assert answer.usage == TokenUsage(
        input=15, output=9, cached_input=7, cache_write=5, reasoning=4, total=24
    )


def test_arguments_are_kept_as_the_model_wrote_them() -> None:
    written = ' { "b" : 1.0e1, "a":"\\u00e9" }'
    answer = completion_of(*tool_use(0, *written), *stop("tool_use"))
    assert answer.calls == (RequestedCall("t0", "say", written),)


def test_a_call_without_arguments_has_none_and_announced_ones_are_its_own() -> None:
    events = [*tool_use(0), *tool_use(1, ""), *tool_use(2, input={"a": 1}), *stop("tool_use")]
    assert [call.arguments for call in completion_of(*events).calls] == ["{}", "{}", '{"a": 1}']


def test_two_calls_with_one_id_keep_apart() -> None:
    events = [*tool_use(0, id="t"), *tool_use(1, id="t"), *tool_use(2, id=""), *stop("tool_use")]
    calls = completion_of(*events).calls
    assert calls[0].correlation_id == "t"
    assert len({call.correlation_id for call in calls} - {""}) == 3
    assert completion_of(*events).calls == calls


def test_texts_and_then_calls_need_no_continuation() -> None:
    text = block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "so"})
    assert completion_of(*text, *tool_use(1), *stop("tool_use")).continuation is None
    behind = completion_of(*tool_use(0), *block(1, {"type": "text", "text": "so"}), *stop())
    assert behind.continuation == '[{"type":"tool_use"},{"type":"text"}]'


def test_thinking_without_a_signature_is_shown_and_never_sent_back() -> None:
    thought = block(0, {"type": "thinking", "thinking": "hm", "signature": ""})
    answer = completion_of(*thought, *block(1, {"type": "text", "text": "so"}), *stop())
    assert answer.parts == (ReasoningPart("hm"), TextPart("so"))
    assert answer.continuation is None


def test_thinking_that_the_server_hides_goes_back_with_its_signature() -> None:
    hidden = block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "signature_delta", "signature": "c2ln"},
    )
    answer = completion_of(*hidden, *block(1, {"type": "text", "text": "so"}), *stop())
    assert answer.parts == (TextPart("so"),)
    kept = {"type": "thinking", "thinking": "", "signature": "c2ln"}
    assert json.loads(answer.continuation or "") == [kept, {"type": "text"}]


def test_a_refusal_runs_no_call_and_says_why_if_there_is_no_text() -> None:
    details = {"explanation": "not\nthis"}
    error = error_of(sse(*tool_use(0), *stop("refusal", stop_details=details)))
    assert (error.code, error.message) == (ModelErrorCode.REFUSED, "not this")
    text = block(0, {"type": "text", "text": "I cannot"})
    answer = completion_of(*text, *tool_use(1), *stop("refusal"))
    assert (answer.finish, answer.calls) == (FinishReason.REFUSAL, ())


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("max_tokens", FinishReason.LENGTH),
        ("model_context_window_exceeded", FinishReason.LENGTH),
        ("stop_sequence", FinishReason.STOP),
        ("pause_turn", FinishReason.OTHER),
        ("something_new", FinishReason.OTHER),
    ],
)
def test_reasons_to_stop_are_translated_and_kept(reason: str, finish: FinishReason) -> None:
    answer = completion_of(*block(0, {"type": "text", "text": "x"}), *stop(reason))
    assert (answer.finish, answer.raw_finish) == (finish, reason)


def test_a_call_counts_whatever_the_reason_to_stop() -> None:
    assert completion_of(*tool_use(0), *stop("end_turn")).finish is FinishReason.TOOL_USE
    cut = completion_of(*tool_use(0, '{"a":'), *stop("max_tokens"))
    assert (cut.finish, cut.calls[0].arguments) == (FinishReason.LENGTH, '{"a":')


def test_an_answer_of_thinking_alone_is_empty() -> None:
    thought = block(0, {"type": "thinking", "thinking": "hm", "signature": "s"})
    assert error_of(sse(*thought, *stop("max_tokens"))).code == ModelErrorCode.EMPTY_ANSWER


@pytest.mark.parametrize(
    "events",
    [
        [{"type": "content_block_start", "index": 0}],
        [{"type": "content_block_start", "content_block": {"type": "text"}}],
        [{"type": "content_block_start", "index": 0, "content_block": {"text": "x"}}],
        block(0, {"type": "text"}) * 2,
        block(1, {"type": "text"})[1:],
        [*block(0, {"type": "tool_use", "id": "t"}), *stop("tool_use")],
        [{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta"}}],
    ],
)
def test_what_is_no_content_block_is_an_invalid_answer(events: list[dict[str, Any]]) -> None:
    assert error_of(sse(*events)).code == ModelErrorCode.INVALID_ANSWER


@pytest.mark.parametrize("data", [b"data: {]\n\n", b"data: []\n\n", b"data: \xff\n\n"])
def test_what_is_no_json_object_is_an_invalid_answer(data: bytes) -> None:
    assert error_of(data).code == ModelErrorCode.INVALID_ANSWER


@pytest.mark.parametrize("delta", ["text", "thinking", "signature", "partial_json", "citation"])
def test_an_endless_answer_is_given_up(delta: str) -> None:
    decoder = AnthropicMessagesDecoder(AttemptId("a"), max_output=100)
    kind = {"signature": "thinking", "citation": "text", "partial_json": "tool_use"}
    start = {"type": kind.get(delta, delta), "id": "t", "name": "n"}
    decoder.feed(sse(*block(0, start)[:1]))
    name = {"partial_json": "input_json_delta", "citation": "unheard_delta"}
    more = {"type": name.get(delta, f"{delta}_delta"), delta: "x" * 60}
    event = sse(*block(0, {}, more)[1:2])
    decoder.feed(event)
    with pytest.raises(ModelError, match="larger than"):
        decoder.feed(event)
