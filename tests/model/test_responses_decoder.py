"""The Responses decoder against the faults of real servers."""

import json
from typing import Any

import pytest

from agentslot.model import (
    Completion,
    FinishReason,
    ModelError,
    ModelErrorCode,
    ReasoningDelta,
    RequestedCall,
    TextDelta,
)
from agentslot.model.wire import Answer
from agentslot.model.wires.openai_responses import OpenAIResponsesDecoder
from agentslot.session import AttemptId, ReasoningPart, TextPart, TokenUsage
from tests.model.support import case, decode

Event = dict[str, Any]


def answer_of(data: bytes, size: int = 0) -> Answer:
    return decode(data, size, OpenAIResponsesDecoder)[0]


def error_of(data: bytes, size: int = 0) -> ModelError:
    with pytest.raises(ModelError) as caught:
        answer_of(data, size)
    return caught.value


def sse(*events: Event) -> bytes:
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()


def added(index: int, kind: str, **members: Any) -> Event:
    item = {"type": kind, "id": f"i{index}", **members}
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index: int, kind: str, **members: Any) -> Event:
    return {**added(index, kind, **members), "type": "response.output_item.done"}


def delta(index: int, kind: str, piece: str, **members: Any) -> Event:
    return {"type": f"response.{kind}.delta", "output_index": index, "delta": piece, **members}


def call(index: int, arguments: str, token: str = "c1") -> Event:
    return done(index, "function_call", call_id=token, name="say", arguments=arguments)


def text(index: int, content: str, **members: Any) -> Event:
    contents = [{"type": "output_text", "text": content}]
    return done(index, "message", role="assistant", content=contents, **members)


def end(kind: str = "completed", *output: Event, **members: Any) -> Event:
    items = [event["item"] for event in output]
    response = {"id": "resp_1", "model": "m", "status": kind, "output": items, **members}
    return {"type": f"response.{kind}", "response": response}


def completion_of(*events: Event) -> Completion:
    return answer_of(sse(*events)).completion


def test_an_answer_that_jumps_to_its_end_is_broken() -> None:
    error = error_of(case("W16/responses_jump_to_completed.txt"))
    assert (error.code, error.retryable) == (ModelErrorCode.BROKEN_STREAM, True)


def test_an_answer_without_its_end_is_broken_whatever_it_holds() -> None:
    error = error_of(sse(call(0, "{}")))
    assert (error.code, error.retryable) == (ModelErrorCode.BROKEN_STREAM, True)
    assert error_of(b"").code == ModelErrorCode.BROKEN_STREAM


def test_items_that_come_only_with_the_end_are_read_there() -> None:
    assert completion_of(end("completed", text(0, "so"))).parts == (TextPart("so"),)
    opened = added(0, "function_call", call_id="c1", name="say", arguments="")
    answer = completion_of(opened, end("completed", call(0, '{"a":1}')))
    assert answer.calls == (RequestedCall("c1", "say", '{"a":1}'),)


def test_a_whole_item_counts_once_though_the_end_repeats_it_elsewhere() -> None:
    answer = completion_of(text(1, "so"), end("completed", text(0, "so")))
    assert answer.parts == (TextPart("so"),)


def test_a_server_that_does_not_stream_is_read_as_well() -> None:
    response = end("completed", text(0, "so"))["response"]
    answer = answer_of(json.dumps({"object": "response", **response}).encode())
    assert answer.completion.parts == (TextPart("so"),)
    assert (answer.served_model, answer.request_id) == ("m", "resp_1")


def test_arguments_are_kept_as_the_model_wrote_them_and_placeholders_are_none() -> None:
    written = ' { "b" : 1.0e1, "a":"\\u00e9" }'
    opened = added(0, "function_call", call_id="c1", name="say", arguments="{}")
    pieces = [delta(0, "function_call_arguments", piece) for piece in written]
    answer = completion_of(opened, *pieces, call(0, written), end())
    assert answer.calls == (RequestedCall("c1", "say", written),)
    assert answer.finish is FinishReason.TOOL_USE
    assert completion_of(call(0, ""), end()).calls[0].arguments == "{}"


def test_two_calls_with_one_id_keep_apart() -> None:
    calls = completion_of(call(0, "{}"), call(1, "{}"), call(2, "{}", ""), end()).calls
    assert calls[0].correlation_id == "c1"
    assert len({made.correlation_id for made in calls} - {""}) == 3


def test_pieces_belong_to_the_item_at_their_index_in_whatever_order_they_come() -> None:
    deltas: list[Event] = [
        delta(1, "output_text", "b", item_id="x1"),
        delta(0, "output_text", "a", item_id="x2"),
        delta(1, "output_text", "B", item_id="x3"),
    ]
    decoder = OpenAIResponsesDecoder(AttemptId("a"))
    decoder.feed(sse(*deltas))
    assert decoder.text == "abB"
    answer = completion_of(*deltas, text(1, "bB"), text(0, "a"), end())
    assert answer.parts == (TextPart("a"), TextPart("bB"))


def test_without_an_index_pieces_belong_to_the_item_of_their_id() -> None:
    """As llama.cpp sends it: the thinking is closed when the text has been written."""
    thought = done(0, "reasoning", content=[{"type": "reasoning_text", "text": "hm"}])
    events = [
        added(0, "reasoning", content=[]),
        delta(0, "reasoning_text", "hm", item_id="i0"),
        added(1, "message", content=[]),
        delta(1, "output_text", "so", item_id="i1"),
        thought,
        text(1, "so"),
    ]
    for event in events:
        del event["output_index"]
    answer, deltas = decode(
        sse(*events, end("completed", thought, text(1, "so"))), 0, OpenAIResponsesDecoder
    )
    assert [type(shown) for shown in deltas] == [ReasoningDelta, TextDelta]
    assert answer.completion.parts == (ReasoningPart("hm"), TextPart("so"))


def test_thinking_is_shown_as_it_comes_and_summaries_are_set_apart() -> None:
    events: list[Event] = [
        added(0, "reasoning"),
        {"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0},
        delta(0, "reasoning_summary_text", "one"),
        {"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 1},
        delta(0, "reasoning_summary_text", "two"),
        done(0, "reasoning", summary=[{"text": "one"}, {"text": "two"}], encrypted_content="e"),
        delta(1, "output_text", "so"),
        text(1, "so"),
        end(),
    ]
    answer, deltas = decode(sse(*events), make=OpenAIResponsesDecoder)
    assert answer.completion.parts == (ReasoningPart("one\n\ntwo"), TextPart("so"))
    thoughts = [shown.text for shown in deltas if isinstance(shown, ReasoningDelta)]
    assert thoughts == ["one", "\n\n", "two"]
    assert [shown.text for shown in deltas if isinstance(shown, TextDelta)] == ["so"]


def test_thinking_goes_back_whole_and_messages_by_their_id_and_phase() -> None:
    thought = done(
        0, "reasoning", content=[], summary=[], encrypted_content="e", status="completed"
    )
    said = text(1, "so", phase="commentary")
    kept = json.loads(completion_of(thought, said, call(2, "{}"), end()).continuation or "")
    assert kept == [
        {"type": "reasoning", "id": "i0", "summary": [], "encrypted_content": "e"},
        {"type": "message", "id": "i1", "phase": "commentary"},
        {"type": "function_call", "id": "i2"},
    ]


def test_thinking_that_the_server_would_have_to_look_up_is_not_kept() -> None:
    thought = done(0, "reasoning", summary=[{"text": "hm"}], encrypted_content=None)
    assert json.loads(completion_of(thought, text(1, "so"), end()).continuation or "") == [
        {"type": "message", "id": "i1"}
    ]
    raw = done(0, "reasoning", id="", content=[{"type": "reasoning_text", "text": "hm"}])
    assert json.loads(completion_of(raw, text(1, "so"), end()).continuation or "")[0] == {
        "type": "reasoning",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "hm"}],
    }


def test_ids_that_the_server_would_refuse_are_not_kept() -> None:
    said = text(0, "so", id="x" * 65)
    assert completion_of(said, end()).continuation is None


def test_what_the_server_did_itself_is_kept_and_what_waits_for_an_answer_is_not() -> None:
    searched = done(0, "web_search_call", status="completed", action={"type": "search"})
    patch = done(1, "apply_patch_call", call_id="c9", operation={})
    kept = json.loads(completion_of(searched, patch, text(2, "so"), end()).continuation or "")
    assert kept == [searched["item"], {"type": "message", "id": "i2"}]


@pytest.mark.parametrize(
    ("event", "code", "vendor_code", "retryable"),
    [
        (
            {"type": "error", "error": {"code": "server_error", "message": "try again"}},
            ModelErrorCode.OVERLOADED,
            "server_error",
            True,
        ),
        (
            {"type": "error", "code": "rate_limit_exceeded", "message": "try again"},
            ModelErrorCode.RATE_LIMITED,
            "rate_limit_exceeded",
            True,
        ),
        (
            end("failed", error={"code": "context_length_exceeded", "message": "try again"}),
            ModelErrorCode.CONTEXT_EXCEEDED,
            "context_length_exceeded",
            False,
        ),
    ],
)
@pytest.mark.parametrize("size", [0, 1])
def test_a_failure_in_the_stream_is_typed_and_keeps_the_text(
    event: Event, code: ModelErrorCode, vendor_code: str, retryable: bool, size: int
) -> None:
    error = error_of(sse(delta(0, "output_text", "so"), event), size)
    assert (error.code, error.vendor_code, error.retryable) == (code, vendor_code, retryable)
    assert error.message == "try again"


def test_a_failure_without_a_word_is_a_failure() -> None:
    for event in (end("failed", error=None), {"type": "response.failed"}, {"type": "error"}):
        assert error_of(sse(event)).code == ModelErrorCode.REQUEST_REJECTED


def test_an_answer_cut_by_its_limit_keeps_what_there_is() -> None:
    details = {"reason": "max_output_tokens"}
    opened = added(1, "function_call", call_id="c1", name="say")
    answer = completion_of(
        delta(0, "output_text", "so"),
        opened,
        delta(1, "function_call_arguments", '{"a":'),
        end("incomplete", incomplete_details=details),
    )
    assert (answer.finish, answer.raw_finish) == (FinishReason.LENGTH, "max_output_tokens")
    assert answer.parts == (TextPart("so"),)
    assert answer.calls == (RequestedCall("c1", "say", '{"a":'),)
    empty = error_of(sse(end("incomplete", incomplete_details=details)))
    assert empty.code == ModelErrorCode.EMPTY_ANSWER


def test_a_refusal_is_shown_and_runs_no_call() -> None:
    refused = done(0, "message", content=[{"type": "refusal", "refusal": "no"}])
    answer = completion_of(delta(0, "refusal", "no"), refused, call(1, "{}"), end())
    assert (answer.finish, answer.calls) == (FinishReason.REFUSAL, ())
    assert answer.parts == (TextPart("no"),)
    filtered = end("incomplete", incomplete_details={"reason": "content_filter"})
    assert error_of(sse(filtered)).code == ModelErrorCode.REFUSED


def test_figures_include_what_they_are_made_of() -> None:
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 6, "cache_write_tokens": 3},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 4},
        "total_tokens": 15,
    }
    answer = answer_of(sse(text(0, "so"), end(usage=usage)))
    assert answer.usage == TokenUsage(
        input=10, output=5, cached_input=6, cache_write=3, reasoning=4, total=15
    )
    assert answer_of(sse(text(0, "so"), end(usage={"input_tokens": 1}))).usage is None


def test_nothing_is_read_behind_the_end() -> None:
    decoder = OpenAIResponsesDecoder(AttemptId("a"))
    decoder.feed(sse(text(0, "so"), end(), text(1, "more")) + b"data: [DONE]\n\n")
    assert decoder.done
    assert decoder.finish().completion.parts == (TextPart("so"),)


@pytest.mark.parametrize("data", [b"data: {]\n\n", b"data: []\n\n", b"data: \xff\n\n"])
def test_what_is_no_json_object_is_an_invalid_answer(data: bytes) -> None:
    assert error_of(data).code == ModelErrorCode.INVALID_ANSWER


def test_a_call_without_a_name_is_an_invalid_answer() -> None:
    nameless = done(0, "function_call", call_id="c1", arguments="{}")
    assert error_of(sse(nameless, end())).code == ModelErrorCode.INVALID_ANSWER


@pytest.mark.parametrize("kind", ["output_text", "reasoning_text", "function_call_arguments"])
def test_an_endless_answer_is_given_up(kind: str) -> None:
    decoder = OpenAIResponsesDecoder(AttemptId("a"), max_output=100)
    decoder.feed(sse(delta(0, kind, "x" * 60)))
    with pytest.raises(ModelError, match="larger than"):
        decoder.feed(sse(delta(0, kind, "x" * 60)))
