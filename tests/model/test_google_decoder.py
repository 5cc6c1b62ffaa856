"""The generateContent decoder against the faults of real servers."""

import json
from typing import Any

import pytest

from agentslot.model import Completion, FinishReason, ModelError, ModelErrorCode, RequestedCall
from agentslot.model.wire import Answer
from agentslot.model.wires.google_generative_ai import (
    GoogleGenerativeAIDecoder,
    GoogleGenerativeAIWire,
)
from agentslot.session import AttemptId, ReasoningPart, TextPart, TokenUsage
from tests.model.support import case, decode


def answer_of(data: bytes, size: int = 0) -> Answer:
    return decode(data, size, GoogleGenerativeAIDecoder)[0]


def error_of(data: bytes, size: int = 0) -> ModelError:
    with pytest.raises(ModelError) as caught:
        answer_of(data, size)
    return caught.value


def sse(*chunks: dict[str, Any]) -> bytes:
    return "".join(f"data: {json.dumps(chunk)}\r\n\r\n" for chunk in chunks).encode()


def chunk(*parts: Any, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """One chunk; a part that is a string is a text."""
    written = [{"text": part} if isinstance(part, str) else part for part in parts]
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": written}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], **more}


def calls(*names: str, **more: Any) -> list[dict[str, Any]]:
    return [{"functionCall": {"name": name, "args": {}, **more}} for name in names]


def piece(name: str = "", *values: dict[str, Any], more: bool = True) -> dict[str, Any]:
    """A part with a piece of a call."""
    call: dict[str, Any] = {"name": name} if name else {}
    if values:
        call["partialArgs"] = list(values)
    return {"functionCall": {**call, "willContinue": True} if more else call}


def completion_of(*parts: Any, finish: str = "STOP") -> Completion:
    return answer_of(sse(chunk(*parts, finish=finish))).completion


@pytest.mark.parametrize("size", [0, 1])
@pytest.mark.parametrize("name", ["empty_content.txt", "parts_null.json", "with_call.json"])
def test_a_call_that_the_model_miswrote_is_a_named_failure_and_never_runs(
    name: str, size: int
) -> None:
    error = error_of(case(f"W19/malformed_{name}"), size)
    assert (error.code, error.vendor_code) == (
        ModelErrorCode.INVALID_ANSWER,
        "MALFORMED_FUNCTION_CALL",
    )
    assert error.retryable
    assert "a tool call that cannot be read" in error.message
    if name == "empty_content.txt":
        assert error.failed_generation == "Malformed function call: print(x"
        assert error.message.endswith("print(x")


def test_a_prompt_that_was_blocked_is_refused_with_the_reason_and_its_usage() -> None:
    decoder = GoogleGenerativeAIDecoder(AttemptId("a"))
    with pytest.raises(ModelError, match="held the prompt back: SAFETY") as caught:
        decoder.feed(case("W20/prompt_blocked.txt"))
    assert (caught.value.code, caught.value.retryable) == (ModelErrorCode.REFUSED, False)
    assert decoder.usage == TokenUsage(input=4, total=4)


def test_an_answer_that_was_filtered_keeps_its_text_and_says_why() -> None:
    answer = answer_of(case("W20/safety_mid_stream.txt")).completion
    assert answer.parts == (TextPart("The"),)
    assert (answer.finish, answer.raw_finish) == (FinishReason.REFUSAL, "SAFETY")
    error = error_of(sse(chunk(*calls("shell"), finish="RECITATION")))
    assert (error.code, error.vendor_code) == (ModelErrorCode.REFUSED, "RECITATION")


def test_parallel_calls_keep_the_signature_on_the_part_that_had_it() -> None:
    answer = answer_of(case("W21/two_parallel_first_signed.txt"))
    assert [(c.name, c.arguments) for c in answer.completion.calls] == [
        ("get_weather", '{"city":"Denver"}'),
        ("get_weather", '{"city":"Moab"}'),
    ]
    assert len({c.correlation_id for c in answer.completion.calls}) == 2
    assert answer.completion.finish is FinishReason.TOOL_USE
    assert json.loads(answer.completion.continuation or "") == [
        {"type": "functionCall", "thoughtSignature": "U0lHTkFUVVJFLU9ORQ=="},
        {"type": "functionCall"},
    ]


def test_arguments_keep_the_providers_spelling_streamed_or_not() -> None:
    args = '{ "n" : 1.0e1, "s":"\\u00e9\\"}]", "list":[{}, [ ] ]}'
    parts = f'[{{"text":"a"}}, null ,{{"functionCall" :{{"name":"f", "args": {args} }}}}]'
    document = (
        f' {{"x":[1,{{}}],"candidates":[{{"content":{{"parts":{parts}}},"finishReason":"STOP"}}]}}'
    )
    [streamed] = answer_of(f"data: {document}\n\n".encode()).completion.calls
    assert streamed.arguments == args
    assert answer_of(document.encode()).completion.calls == (streamed,)


def test_ids_that_are_missing_or_came_twice_are_made_and_stay_the_same() -> None:
    first = completion_of(*calls("f", "g"), *calls("h", "i", id="x"))
    ids = [call.correlation_id for call in first.calls]
    assert len(set(ids)) == 4
    assert ids[2] == "x"
    assert completion_of(*calls("f", "g"), *calls("h", "i", id="x")) == first
    assert json.loads(first.continuation or "")[2:] == [
        {"type": "functionCall", "id": "x"},
        {"type": "functionCall"},
    ]


def test_a_call_may_come_without_arguments() -> None:
    empty: dict[str, Any] = {}
    for more in (empty, {"args": None}, {"args": empty}):
        [made] = completion_of({"functionCall": {"name": "f", **more}}).calls
        assert made.arguments == "{}"


def test_arguments_in_pieces_become_one_object() -> None:
    pieces = [
        piece("f"),
        piece("", {"jsonPath": "$.city", "willContinue": True}),
        piece("", {"jsonPath": "$.city", "stringValue": "San ", "willContinue": True}),
        piece("", {"jsonPath": "$.city", "stringValue": "Francisco"}),
        piece("", {"jsonPath": "$.rooms[0].beds", "numberValue": 2}),
        piece("", {"jsonPath": "$.rooms[0]['the view']", "boolValue": True}),
        piece("", {"jsonPath": "$.rooms[1]", "nullValue": "NULL_VALUE"}),
        piece(more=False),
    ]
    [call] = answer_of(sse(*map(chunk, pieces), chunk("", finish="STOP"))).completion.calls
    assert call == RequestedCall(
        call.correlation_id,
        "f",
        '{"city":"San Francisco","rooms":[{"beds":2,"the view":true},null]}',
    )


@pytest.mark.parametrize(
    "path", ["", "$", "city", "$.a[1]", "$.a[x]", "$..", "$.a" * 1 + ".b" * 60, "$[0]", "$.x.y"]
)
def test_a_piece_without_a_place_is_an_invalid_answer(path: str) -> None:
    values = [{"jsonPath": "$.x", "stringValue": "v"}, {"jsonPath": path, "stringValue": "v"}]
    error = error_of(sse(chunk(piece("f", *values, more=False), finish="STOP")))
    assert error.code == ModelErrorCode.INVALID_ANSWER


def test_a_call_of_which_more_was_announced_is_never_run() -> None:
    cut = [chunk(piece("f", {"jsonPath": "$.a", "stringValue": "v"})), chunk("", finish="STOP")]
    error = error_of(sse(*cut))
    assert (error.code, error.retryable) == (ModelErrorCode.BROKEN_STREAM, True)
    cut[1] = chunk("", finish="MAX_TOKENS")
    assert answer_of(sse(*cut)).completion.finish is FinishReason.LENGTH


def test_an_end_mark_without_a_call_is_nothing_and_arguments_without_a_name_are_an_error() -> None:
    assert completion_of("hi", piece(more=False)).calls == ()
    stray = piece("", {"jsonPath": "$.a", "stringValue": "v"})
    assert error_of(sse(chunk(stray))).code == ModelErrorCode.INVALID_ANSWER


def test_texts_are_joined_but_never_across_a_signature_or_a_call() -> None:
    signed = {"text": "c", "thoughtSignature": "s"}
    answer = completion_of("a", "b", signed, "d", *calls("f"), "e", {"text": ""})
    assert answer.parts == tuple(map(TextPart, ("ab", "c", "d", "e")))
    assert json.loads(answer.continuation or "") == [
        {"type": "text"},
        {"type": "text", "thoughtSignature": "s"},
        {"type": "text"},
        {"type": "functionCall"},
        {"type": "text"},
    ]


def test_thoughts_are_shown_apart_and_kept_as_thoughts() -> None:
    thought = {"text": "hm", "thought": True}
    answer, deltas = decode(
        sse(chunk(thought), chunk(thought), chunk("so", finish="STOP")),
        make=GoogleGenerativeAIDecoder,
    )
    assert answer.completion.parts == (ReasoningPart("hmhm"), TextPart("so"))
    assert [delta.text for delta in deltas] == ["hm", "hm", "so"]
    assert json.loads(answer.completion.continuation or "")[0] == {
        "type": "part",
        "part": {"text": "hmhm", "thought": True},
    }


def test_a_signature_without_text_is_kept_whole_and_what_is_unknown_too() -> None:
    end = {"text": "", "thoughtSignature": "s"}
    ran = {"executableCode": {"code": "1+1"}}
    answer = completion_of(ran, "2", end, {})
    assert answer.parts == (TextPart("2"),)
    assert json.loads(answer.continuation or "") == [
        {"type": "part", "part": ran},
        {"type": "text"},
        {"type": "part", "part": end},
    ]


def test_plain_text_and_calls_need_no_continuation() -> None:
    assert completion_of("so", *calls("f", "g")).continuation is None


def test_thoughts_and_cached_tokens_are_inside_of_our_figures() -> None:
    metadata = {
        "promptTokenCount": 10,
        "cachedContentTokenCount": 4,
        "toolUsePromptTokenCount": 5,
        "candidatesTokenCount": 3,
        "thoughtsTokenCount": 7,
        "totalTokenCount": 25,
    }
    traffic = {"trafficType": "ON_DEMAND"}
    chunks = [chunk("x", usageMetadata=metadata), chunk("", finish="STOP", usageMetadata=traffic)]
    assert answer_of(sse(*chunks)).usage == TokenUsage(
        input=15, output=10, cached_input=4, reasoning=7, total=25
    )


def test_a_call_counts_whatever_the_reason_to_stop() -> None:
    for reason in ("STOP", "OTHER", "SOMETHING_NEW"):
        answer = completion_of(*calls("f"), finish=reason)
        assert (answer.finish, answer.raw_finish) == (FinishReason.TOOL_USE, reason)
    assert completion_of("x", finish="SOMETHING_NEW").finish is FinishReason.OTHER


def test_an_answer_without_its_end_is_broken_whatever_it_holds() -> None:
    for data in (sse(chunk(*calls("f"))), b"", sse(chunk("x"))[:-4], b"{}"):
        error = error_of(data)
        assert (error.code, error.retryable) == (ModelErrorCode.BROKEN_STREAM, True)


def test_an_answer_of_nothing_or_of_thoughts_alone_is_empty() -> None:
    for parts in ([], [{"text": "hm", "thought": True}]):
        assert error_of(sse(chunk(*parts, finish="STOP"))).code == ModelErrorCode.EMPTY_ANSWER
    error = error_of(sse(chunk(finish="MAX_TOKENS")))
    assert "raise max_tokens" in error.message


def test_an_error_in_the_stream_is_typed_and_keeps_the_text() -> None:
    failure = {
        "error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}
    }
    decoder = GoogleGenerativeAIDecoder(AttemptId("a"))
    assert decoder.feed(sse(chunk("The"), failure))
    with pytest.raises(ModelError, match="overloaded") as caught:
        decoder.finish()
    assert (caught.value.code, caught.value.vendor_code, caught.value.retryable) == (
        ModelErrorCode.OVERLOADED,
        "UNAVAILABLE",
        True,
    )
    assert decoder.text == "The"


@pytest.mark.parametrize("size", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_text_survives_every_cut_and_every_end_of_line(end: str, size: int) -> None:
    text = "é日😀\u2028\u2029\x85"
    call = {"functionCall": {"name": "f", "args": {"a": text}}}
    data = json.dumps(chunk(text, call, finish="STOP"), ensure_ascii=False)
    answer = answer_of(f"\ufeffdata:{data}{end}{end}".encode(), size).completion
    assert answer.parts == (TextPart(text),)
    assert json.loads(answer.calls[0].arguments) == {"a": text}


@pytest.mark.parametrize("data", [b"data: {]\n\n", b"data: []\n\n", b"data: \xff\n\n"])
def test_what_is_no_json_object_is_an_invalid_answer(data: bytes) -> None:
    assert error_of(data).code == ModelErrorCode.INVALID_ANSWER


@pytest.mark.parametrize("candidates", [None, [], [None], {}, [{"content": []}], [{"content": {}}]])
def test_a_chunk_without_content_changes_nothing(candidates: Any) -> None:
    data = sse({"candidates": candidates}, chunk("x", finish="STOP"))
    assert answer_of(data).completion.parts == (TextPart("x"),)


@pytest.mark.parametrize(
    "part",
    [
        {"text": "x" * 60},
        {"text": "x" * 60, "thought": True},
        {"functionCall": {"name": "f", "args": {"a": "x" * 60}}},
        {"inlineData": {"data": "x" * 60}},
    ],
)
def test_an_endless_answer_is_given_up(part: dict[str, Any]) -> None:
    data = sse(chunk(part), chunk({"inlineData": {}}, *[part] * 3))
    with pytest.raises(ModelError, match="larger than"):
        decode(data, make=lambda attempt: GoogleGenerativeAIDecoder(attempt, max_output=230))


def explain(number: int, headers: dict[str, str] | None = None, **error: Any) -> ModelError:
    body = json.dumps({"error": error}).encode()
    return GoogleGenerativeAIWire().failure(number, headers or {}, body)


def test_a_status_becomes_its_typed_error() -> None:
    error = explain(404, message="models/x is not found", status="NOT_FOUND")
    assert (error.code, error.message, error.vendor_code, error.status) == (
        ModelErrorCode.MODEL_NOT_FOUND,
        "models/x is not found",
        "NOT_FOUND",
        404,
    )
    too_long = "The input token count (9) exceeds the maximum number of tokens allowed (8)."
    assert explain(400, message=too_long).code == ModelErrorCode.CONTEXT_EXCEEDED
    assert explain(503, {"retry-after": "3"}).retry_after_seconds == 3
    assert GoogleGenerativeAIWire().failure(500, {}, b"<html>").message


def test_a_wrong_key_is_told_from_a_wrong_request() -> None:
    reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    error = explain(400, message="API key not valid.", status="INVALID_ARGUMENT", details=[reason])
    assert (error.code, error.retryable) == (ModelErrorCode.AUTHENTICATION, False)


def test_a_quota_that_comes_back_is_waited_for_and_that_of_a_day_is_not() -> None:
    quota: dict[str, Any] = {
        "message": "You exceeded your current quota, please check your plan and billing details.",
        "status": "RESOURCE_EXHAUSTED",
    }
    delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}
    limited = explain(429, **quota, details=[delay])
    assert (limited.code, limited.retryable) == (ModelErrorCode.RATE_LIMITED, True)
    assert limited.retry_after_seconds == 34.5
    daily = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}
    for details in ([delay, daily], []):
        error = explain(429, **quota, details=details)
        assert (error.code, error.retryable) == (ModelErrorCode.QUOTA_EXHAUSTED, False)


def test_an_error_in_an_array_is_read_as_well() -> None:
    body = b'[{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}]'
    assert GoogleGenerativeAIWire().failure(400, {}, body).message == "bad"
    assert GoogleGenerativeAIWire().failure(400, {}, b"[]").code == ModelErrorCode.REQUEST_REJECTED
