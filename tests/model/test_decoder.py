"""The chat completions decoder against the faults of real servers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentslot.model import FinishReason, ModelError, ModelErrorCode, RequestedCall
from agentslot.model.wire import Decoder
from agentslot.model.wires.anthropic_messages import AnthropicMessagesDecoder
from agentslot.model.wires.google_generative_ai import GoogleGenerativeAIDecoder
from agentslot.model.wires.openai_completions import OpenAICompletionsDecoder
from agentslot.model.wires.openai_responses import OpenAIResponsesDecoder
from agentslot.session import AttemptId, ReasoningPart, TextPart, TokenUsage
from tests.model.support import case, decode


def calls_of(name: str) -> tuple[RequestedCall, ...]:
    return decode(case(name))[0].completion.calls


def text_of(data: bytes, size: int = 0) -> str:
    parts = decode(data, size)[0].completion.parts
    return "".join(part.text for part in parts if isinstance(part, TextPart))


def error_of(data: bytes) -> ModelError:
    with pytest.raises(ModelError) as caught:
        decode(data)
    return caught.value


def stream(*chunks: dict[str, object], end: str = "data: [DONE]\n\n") -> bytes:
    return ("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + end).encode()


def delta(**members: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": members}]}


def finish(reason: str | None) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def test_keep_alive_comments_are_neither_parsed_nor_shown() -> None:
    assert text_of(case("W01/stream.txt")) == text_of(case("W01/stream.txt"), 7) == "Hello"


def test_the_space_behind_data_is_optional_and_done_ends_the_answer() -> None:
    decoder = OpenAICompletionsDecoder(AttemptId("a"))
    decoder.feed(case("W02/stream.txt"))
    assert decoder.done
    assert decoder.text == "ok"


@pytest.mark.parametrize("name", ["two_calls_no_index", "one_chunk_two_calls_no_index"])
def test_calls_without_an_index_are_told_apart_by_their_ids(name: str) -> None:
    assert calls_of(f"W03/{name}.txt") == (
        RequestedCall("a1", "read", '{"p":1}'),
        RequestedCall("a2", "read", '{"p":2}'),
    )


def test_fragments_whose_call_cannot_be_told_are_an_error() -> None:
    first = {"function": {"name": "read", "arguments": '{"p":'}}
    second = {"function": {"name": "write", "arguments": "{}"}}
    error = error_of(stream(delta(tool_calls=[first]), delta(tool_calls=[second])))
    assert error.code == ModelErrorCode.INVALID_ANSWER


def test_calls_with_neither_index_nor_id_are_told_apart_when_the_first_is_complete() -> None:
    calls = [{"function": {"name": "read", "arguments": f'{{"p":{n}}}'}} for n in (1, 2)]
    answer, _ = decode(stream(delta(tool_calls=calls), finish("tool_calls")))
    assert [call.arguments for call in answer.completion.calls] == ['{"p":1}', '{"p":2}']


def test_calls_that_all_have_index_0_are_told_apart_by_their_ids() -> None:
    calls = [
        {"index": 0, "id": f"c{n}", "function": {"name": "read", "arguments": "{}"}} for n in (1, 2)
    ]
    answer, _ = decode(stream(delta(tool_calls=calls), finish("tool_calls")))
    assert [call.correlation_id for call in answer.completion.calls] == ["c1", "c2"]


def test_a_repeated_name_counts_once_and_a_cut_one_is_joined() -> None:
    assert calls_of("W04/name_and_id_repeated.txt") == (
        RequestedCall("call-aa62", "read_file", '{"path":"a.txt"}'),
    )
    assert calls_of("W04/name_in_fragments.txt") == (
        RequestedCall("k1", "edit_existing_file", "{}"),
    )


@pytest.mark.parametrize("name", ["stream", "ids_missing"])
def test_calls_with_one_id_or_none_keep_apart_under_stable_ids(name: str) -> None:
    calls = calls_of(f"W05/{name}.txt")
    assert [call.arguments for call in calls] == ['{"cmd":"echo one"}', '{"cmd":"echo two"}']
    assert len({call.correlation_id for call in calls}) == 2
    assert all(call.correlation_id for call in calls)
    assert calls == calls_of(f"W05/{name}.txt")


def test_an_error_that_is_all_a_stream_has_is_the_servers_own() -> None:
    error = error_of(case("W06/vllm_error_only.txt"))
    assert (error.code, error.status, error.retryable) == (ModelErrorCode.RATE_LIMITED, 429, True)
    assert error.message == "queue is full, try later"
    error = error_of(case("W06/choices_null_error_fields.txt"))
    assert (error.code, error.status, error.retryable) == (
        ModelErrorCode.CONTEXT_EXCEEDED,
        400,
        False,
    )
    assert error.message == "context length 196608 exceeded"


def test_an_error_after_half_a_call_ends_the_answer_and_keeps_the_text() -> None:
    decoder = OpenAICompletionsDecoder(AttemptId("a"))
    assert len(decoder.feed(case("W07/openrouter_after_text.txt"))) == 1
    assert decoder.done
    with pytest.raises(ModelError, match="Provider disconnected") as caught:
        decoder.finish()
    assert (caught.value.status, caught.value.retryable) == (502, True)
    assert decoder.text == "Let me run"


def test_an_event_named_error_is_the_providers_failure() -> None:
    error = error_of(case("W08/groq_event_error.txt"))
    assert (error.status, error.vendor_code) == (400, "tool_use_failed")
    assert error.failed_generation == '{"name":"get","arguments":{"x":1}}'


@pytest.mark.parametrize("name", ["args_object_stream.txt", "args_object_nonstream.json"])
def test_arguments_that_come_as_an_object_become_their_text(name: str) -> None:
    assert calls_of(f"W09/{name}") == (
        RequestedCall("o1", "write_file", '{"path":"a.txt","content":"hi"}'),
    )


SPELLED = (
    '{"b": 1.0,"a":12345678901234567890, "c" : [1E5, -0.0],"\\u00e9":"\\/é\\u0041"}',
    "[1.50, {}]",
    "0.10",
)


@pytest.mark.parametrize("member", ["delta", "message"])
@pytest.mark.parametrize("written", SPELLED)
def test_arguments_that_come_as_an_object_stay_as_the_model_spelled_them(
    member: str, written: str
) -> None:
    calls = (
        '{"index":0,"id":"a","function":{"name":"first","arguments":"{\\"x\\": 1.0}"}},null,'
        f'{{"index":1,"id":"b","function":{{"arguments" : {written} ,"name":"second"}}}}'
    )
    choice = f'{{"finish_reason":"tool_calls","{member}":{{"tool_calls":[{calls}]}}}}'
    document = f'{{"usage":null,"choices": [0,{choice},{{"delta":{{}}}}]}}'
    streamed = f"data: {document}\n\ndata: [DONE]\n\n"
    for body in [streamed] if member == "delta" else [streamed, document]:
        assert decode(body.encode())[0].completion.calls == (
            RequestedCall("a", "first", '{"x": 1.0}'),
            RequestedCall("b", "second", written),
        )


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("empty_string", "{}"),
        ("null", "null"),
        ("list", "[]"),
        ("string", '"abc"'),
        ("number", "5"),
        ("double_encoded", '"{\\"path\\":\\"a.txt\\"}"'),
        ("truncated", '{"path":"a'),
        ("trailing_junk", '{"path":"a.txt"}}'),
    ],
)
def test_arguments_that_are_no_object_are_handed_on_as_written(name: str, arguments: str) -> None:
    assert calls_of(f"W10/{name}.txt") == (RequestedCall("q1", "list_dir", arguments),)


@pytest.mark.parametrize("code", ["9" * 5000, "²", [429], {"a": 1}, 10**40])
def test_an_error_whose_code_is_no_status_is_an_error_all_the_same(code: Any) -> None:
    error = error_of(stream({"error": {"code": code, "message": "no"}}))
    assert (error.code, error.status, error.message) == (
        ModelErrorCode.REQUEST_REJECTED,
        None,
        "no",
    )


@pytest.mark.parametrize(
    "make",
    [
        OpenAICompletionsDecoder,
        OpenAIResponsesDecoder,
        AnthropicMessagesDecoder,
        GoogleGenerativeAIDecoder,
    ],
)
def test_an_event_named_error_may_hold_plain_words(make: Callable[[AttemptId], Decoder]) -> None:
    decoder = make(AttemptId("a"))
    with pytest.raises(ModelError, match="upstream timed out") as caught:
        decoder.feed(b"event: error\ndata: upstream timed out\n\n")
    assert (caught.value.code, caught.value.retryable) == (ModelErrorCode.OVERLOADED, True)


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("error", ModelErrorCode.BROKEN_STREAM),
        ("abort", ModelErrorCode.BROKEN_STREAM),
        ("network_error", ModelErrorCode.BROKEN_STREAM),
        ("insufficient_system_resource", ModelErrorCode.OVERLOADED),
    ],
)
def test_a_reason_that_says_the_answer_is_not_whole_is_a_failure(
    reason: str, code: ModelErrorCode
) -> None:
    call = {"index": 0, "id": "c", "function": {"name": "pay", "arguments": "{}"}}
    error = error_of(stream(delta(tool_calls=[call]), finish(reason)))
    assert (error.code, error.retryable, error.vendor_code) == (code, True, reason)


def test_the_reasons_of_z_ai_mean_what_those_of_others_do() -> None:
    held_back = decode(stream(delta(content="The"), finish("sensitive")))[0].completion
    assert held_back.finish is FinishReason.REFUSAL
    full = decode(stream(delta(content="The"), finish("model_context_window_exceeded")))[0]
    assert full.completion.finish is FinishReason.LENGTH


def test_calls_count_whatever_the_finish_reason_says() -> None:
    completion = decode(case("W11/stop_with_calls.txt"))[0].completion
    assert [call.correlation_id for call in completion.calls] == ["s1", "s2", "s3"]
    assert (completion.finish, completion.raw_finish) == (FinishReason.TOOL_USE, "stop")
    error = error_of(case("W11/tool_calls_without_calls.txt"))
    assert error.code == ModelErrorCode.EMPTY_ANSWER
    assert not error.retryable


def test_characters_cut_between_reads_stay_whole() -> None:
    data = case("W12/stream.txt")
    whole = decode(data)[0]
    assert "\ufffd" not in repr(whole)
    for size in (1, 2, 3, 5, 4093):
        assert decode(data, size)[0] == whole


@pytest.mark.parametrize("name", ["crlf", "cr_only", "bom", "no_final_blank_line"])
def test_every_line_end_is_understood_and_a_byte_order_mark_dropped(name: str) -> None:
    data = case(f"W13/{name}.txt")
    for size in (0, 1, 2, 3):
        assert text_of(data, size) == "ab"


def test_separators_that_are_no_line_ends_stay_in_the_text() -> None:
    assert {"\u2028", "\u2029", "\u0085"} <= set(text_of(case("W14/stream.txt")))


def test_chunks_without_choices_are_read_and_the_last_usage_counts() -> None:
    expected = TokenUsage(input=5, output=7, total=12)
    answer, _ = decode(case("W15/stream.txt"))
    assert (answer.completion.parts, answer.usage) == ((TextPart("hi"),), expected)
    assert decode(case("W15/usage_twice_and_null.txt"))[0].usage == expected


def test_a_stream_that_stops_in_a_call_is_broken() -> None:
    error = error_of(case("W16/openai_cut_in_args.txt"))
    assert (error.code, error.retryable) == (ModelErrorCode.BROKEN_STREAM, True)


def test_an_event_that_the_end_cuts_off_is_not_taken() -> None:
    whole = b'data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n'
    assert decode(whole)[0].completion.parts == (TextPart("hi"),)
    for cut in (whole[:-1], whole[:-2]):
        assert error_of(cut).code == ModelErrorCode.BROKEN_STREAM


def test_done_without_a_finish_reason_does_not_complete_a_cut_call() -> None:
    cut = {"index": 0, "id": "x", "function": {"name": "write", "arguments": '{"path":"a'}}
    assert error_of(stream(delta(tool_calls=[cut]))).code == ModelErrorCode.BROKEN_STREAM
    whole = {"index": 0, "id": "x", "function": {"name": "write", "arguments": "{}"}}
    assert decode(stream(delta(tool_calls=[whole])))[0].completion.calls


def test_what_the_client_does_not_know_is_skipped() -> None:
    data = b"event: ping\n\ndata:\n\ndata: {}\n\n" + stream(
        {
            "choices": [{"delta": {"content": "hi", "audio": {"id": 1}, "content_blocks": [7]}}],
            "x": 1,
        },
        finish("a_new_reason"),
    )
    completion = decode(data)[0].completion
    assert completion.parts == (TextPart("hi"),)
    assert (completion.finish, completion.raw_finish) == (FinishReason.OTHER, "a_new_reason")


@pytest.mark.parametrize(
    ("name", "thought", "replay"),
    [
        (
            "both_fields",
            "We think",
            {"reasoning_details": [{"type": "reasoning.text", "text": "We think", "index": 0}]},
        ),
        ("only_reasoning", "We think", {"reasoning": "We think"}),
        (
            "only_details_encrypted",
            "short",
            {
                "reasoning_details": [
                    {"type": "reasoning.summary", "summary": "short", "index": 0},
                    {"type": "reasoning.encrypted", "data": "b3BhcXVl", "index": 1},
                ]
            },
        ),
    ],
)
def test_thinking_is_shown_once_and_kept_for_replay(
    name: str, thought: str, replay: object
) -> None:
    completion = decode(case(f"W22/{name}.txt"))[0].completion
    assert completion.parts == (ReasoningPart(thought), TextPart("4"))
    assert completion.continuation is not None
    assert json.loads(completion.continuation) == replay


def test_a_signature_that_comes_in_pieces_is_joined_to_its_thought() -> None:
    pieces = [
        {"type": "reasoning.text", "text": "a", "index": 0, "format": "f"},
        {"type": "reasoning.text", "text": "b", "index": 0},
        {"type": "reasoning.text", "signature": "sig", "index": 0},
        {"type": "reasoning.text", "text": "c", "index": 1},
    ]
    chunks = [delta(reasoning_details=[piece]) for piece in pieces]
    completion = decode(stream(*chunks, delta(content="x"), finish("stop")))[0].completion
    assert json.loads(completion.continuation or "") == {
        "reasoning_details": [
            {"type": "reasoning.text", "text": "ab", "index": 0, "format": "f", "signature": "sig"},
            {"type": "reasoning.text", "text": "c", "index": 1},
        ]
    }


def test_parts_keep_their_order_and_a_call_ends_a_text() -> None:
    tool = {"index": 0, "id": "x", "function": {"name": "ping", "arguments": "{}"}}
    completion = decode(
        stream(
            delta(content="a", reasoning="why"),
            delta(content="b"),
            delta(tool_calls=[tool]),
            delta(content="c"),
            finish("tool_calls"),
        )
    )[0].completion
    assert completion.parts == (
        TextPart("a"),
        ReasoningPart("why"),
        TextPart("b"),
        TextPart("c"),
    )


def test_a_refusal_is_text_with_its_reason_and_runs_no_call() -> None:
    tool = {"index": 0, "id": "x", "function": {"name": "ping", "arguments": "{}"}}
    data = stream(delta(refusal="I may not."), delta(tool_calls=[tool]), finish("stop"))
    completion = decode(data)[0].completion
    assert (completion.parts, completion.calls) == ((TextPart("I may not."),), ())
    assert completion.finish is FinishReason.REFUSAL
    assert error_of(stream(finish("content_filter"))).code == ModelErrorCode.REFUSED


def test_a_limit_reached_while_thinking_says_what_to_raise() -> None:
    error = error_of(stream(delta(reasoning="long"), finish("length")))
    assert error.code == ModelErrorCode.EMPTY_ANSWER
    assert "max_tokens" in error.message


@pytest.mark.parametrize(
    "data",
    [
        b'data: {"a":1,"a":2}\n\n',
        b"data: [1]\n\n",
        b"data: <html>\n\n",
        b'{"choices":',
        b'data: {"choices":[{"delta":{"content":"\xff"}}]}\n\n',
        b"<html>no stream</html>",
    ],
)
def test_what_is_no_answer_is_a_typed_error(data: bytes) -> None:
    assert error_of(data).code == ModelErrorCode.INVALID_ANSWER


@pytest.mark.parametrize("data", [b"", b"\n\n", b": only a comment\n\n", b"no stream"])
def test_an_answer_with_nothing_in_it_is_broken(data: bytes) -> None:
    assert error_of(data).code == ModelErrorCode.BROKEN_STREAM


def test_a_single_six_mebibyte_line_is_delivered_whole(tmp_path: Path) -> None:
    text = "x" * (6 * 1024 * 1024)
    data = stream(delta(content=text), finish("stop"))
    assert text_of(data, 1400) == text


def test_an_answer_beyond_the_output_limit_is_refused() -> None:
    decoder = OpenAICompletionsDecoder(AttemptId("a"), max_output=10)
    decoder.feed(stream(delta(content="x" * 10), end=""))
    with pytest.raises(ModelError, match="larger"):
        decoder.feed(stream(delta(content="y")))


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {"prompt_tokens": 10, "completion_tokens": 4, "prompt_cache_hit_tokens": 7},
            TokenUsage(10, 4, cached_input=7, total=14),
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 4, "cached_tokens": 3, "total_tokens": 14},
            TokenUsage(10, 4, cached_input=3, total=14),
        ),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 4,
                "prompt_tokens_details": {"cached_tokens": 0},
                "cached_tokens": 3,
            },
            TokenUsage(10, 4, cached_input=0, total=14),
        ),
        ({"prompt_tokens": None, "completion_tokens": 4}, None),
        ({"prompt_tokens": 1.0, "completion_tokens": True}, None),
    ],
)
def test_cached_tokens_are_found_in_each_place(
    usage: dict[str, object], expected: TokenUsage | None
) -> None:
    data = stream(delta(content="x"), {"choices": [], "usage": usage}, finish("stop"))
    assert decode(data)[0].usage == expected
