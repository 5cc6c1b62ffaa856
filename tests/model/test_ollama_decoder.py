"""Ollama's decoder against the faults of real servers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.model import Completion, FinishReason, ModelError, ModelErrorCode
from agentslot.model.wire import Answer
from agentslot.model.wires.ollama_chat import OllamaChatDecoder, OllamaChatWire
from agentslot.session import AttemptId, ReasoningPart, TextPart, TokenUsage
from tests.model.support import case, decode, decode_cut

DONE: dict[str, Any] = {"done": True, "done_reason": "stop"}


def answer_of(data: bytes, size: int = 0) -> Answer:
    return decode(data, size, OllamaChatDecoder)[0]


def error_of(data: bytes, size: int = 0) -> ModelError:
    with pytest.raises(ModelError) as caught:
        answer_of(data, size)
    return caught.value


def says(**message: Any) -> dict[str, Any]:
    """A line with a message."""
    return {"model": "m", "message": {"role": "assistant", **message}, "done": False}


def calling(name: str = "ping", arguments: Any = None) -> dict[str, Any]:
    """A line with one call."""
    return says(tool_calls=[{"function": {"name": name, "arguments": arguments}}])


def lines(*objects: dict[str, Any], end: str = "\n") -> bytes:
    return "".join(f"{json.dumps(entry, ensure_ascii=False)}{end}" for entry in objects).encode()


def completion_of(*objects: dict[str, Any], **end: Any) -> Completion:
    return answer_of(lines(*objects, {**DONE, **end})).completion


@pytest.mark.parametrize("size", [0, 1, 3])
def test_calls_that_come_before_the_end_run_whatever_its_reason(size: int) -> None:
    answer = answer_of(case("W23/tool_calls_before_done.ndjson"), size)
    calls = answer.completion.calls
    assert [(call.name, call.arguments) for call in calls] == [("ping", "{}"), ("ping", '{"n":2}')]
    assert len({call.correlation_id for call in calls}) == 2
    assert answer.completion.finish is FinishReason.TOOL_USE
    assert answer.completion.raw_finish == "stop"
    assert answer.usage == TokenUsage(input=3, output=4, total=7)
    assert answer.served_model == "m"


@pytest.mark.parametrize("size", [0, 1, 3])
def test_thinking_is_shown_whatever_stands_beside_it(size: int) -> None:
    answer = answer_of(case("W23/thinking_null_content.ndjson"), size).completion
    assert answer.parts == (ReasoningPart("abc"), TextPart("4"))
    assert answer.continuation == '{"thinking":"abc"}'


def test_a_server_that_does_not_stream_is_read_as_well() -> None:
    whole = {**says(content="hi", thinking="hm"), **DONE, "eval_count": 2}
    answer = answer_of(lines(whole, end=""), 5)
    assert answer.completion.parts == (ReasoningPart("hm"), TextPart("hi"))
    assert answer.usage == TokenUsage(output=2, total=2)


def test_arguments_keep_the_providers_spelling_and_ids_are_the_same_streamed_or_not() -> None:
    args = '{ "n" : 1.0e1, "s":"\\u00e9" }'
    call = f'{{"function":{{"name":"f", "arguments": {args} }}}}'
    message = f'{{"role":"assistant","tool_calls" : [{call},{call}]}}'
    whole = f'{{"message":{message},"done":true}}'.encode()
    streamed = f'{{"message":{message},"done":false}}\n{{"done":true}}\n'.encode()
    calls = answer_of(whole).completion.calls
    assert [made.arguments for made in calls] == [args, args]
    assert answer_of(streamed).completion.calls == calls


def test_ids_are_others_in_another_attempt() -> None:
    data = lines(calling(), DONE)
    other = decode(data, make=lambda _: OllamaChatDecoder(AttemptId("attempt-2")))[0]
    assert (
        other.completion.calls[0].correlation_id != completion_of(calling()).calls[0].correlation_id
    )


def test_a_call_may_come_without_arguments_or_with_them_as_text() -> None:
    made = completion_of(calling(), calling(arguments='{"a":1}'), calling(arguments=[1]))
    assert [call.arguments for call in made.calls] == ["{}", '{"a":1}', "[1]"]


def test_a_call_without_a_name_is_an_invalid_answer() -> None:
    for broken in (says(tool_calls=[{}]), says(tool_calls=[None]), calling("")):
        assert error_of(lines(broken, DONE)).code == ModelErrorCode.INVALID_ANSWER


def test_only_a_line_feed_ends_a_line() -> None:
    text = "a\u2028b\u2029c\x85d"
    data = lines(says(content=text), DONE, end="\r\n")
    for size in (0, 1, 2, 7):
        assert answer_of(data, size).completion.parts == (TextPart(text),)


def test_blank_lines_are_nothing() -> None:
    data = b"\n" + lines(says(content="hi"), DONE, end="\n\n")
    assert answer_of(data).completion.parts == (TextPart("hi"),)


@given(cuts=st.lists(st.integers(1, 60), min_size=1, max_size=30))
def test_any_cut_gives_the_same_answer(cuts: list[int]) -> None:
    data = lines(
        says(thinking="hm é"),
        says(content="日本"),
        says(content="😀"),
        calling("f", {"a": "ü"}),
        DONE,
    )
    assert decode_cut(data, cuts, OllamaChatDecoder) == decode(data, make=OllamaChatDecoder)


def test_an_error_inside_of_a_good_status_is_typed_and_keeps_the_text() -> None:
    decoder = OllamaChatDecoder(AttemptId("a"))
    data = lines(says(content="The"), {"error": "model runner has unexpectedly stopped"})
    assert decoder.feed(data)
    with pytest.raises(ModelError, match="unexpectedly stopped"):
        decoder.finish()
    assert decoder.text == "The"
    assert error_of(b'{"error":"internal server error"}').code == ModelErrorCode.OVERLOADED


def test_an_answer_without_its_end_is_broken_whatever_it_holds() -> None:
    whole = lines(says(content="x"), calling(), DONE)
    for data in (b"", lines(says(content="x")), lines(calling()), whole[:-3]):
        error = error_of(data)
        assert (error.code, error.retryable) == (ModelErrorCode.BROKEN_STREAM, True)


def test_the_output_limit_is_told_and_an_answer_of_nothing_is_empty() -> None:
    answer = completion_of(says(content="x"), done_reason="length")
    assert (answer.finish, answer.raw_finish) == (FinishReason.LENGTH, "length")
    cut = completion_of(calling(), done_reason="length")
    assert cut.finish is FinishReason.LENGTH
    for reason in ("stop", "load", None):
        error = error_of(lines(says(content=""), {**DONE, "done_reason": reason}))
        assert error.code == ModelErrorCode.EMPTY_ANSWER


def test_what_comes_behind_the_end_is_not_read() -> None:
    data = lines(says(content="x"), DONE, says(content="y")) + b"garbage"
    assert answer_of(data).completion.parts == (TextPart("x"),)


@pytest.mark.parametrize("data", [b"{]\n", b"[]\n", b"\xff\n", b"<html>\n"])
def test_what_is_no_json_object_is_an_invalid_answer(data: bytes) -> None:
    assert error_of(data).code == ModelErrorCode.INVALID_ANSWER


@pytest.mark.parametrize("message", [None, [], "x", {"content": 1, "tool_calls": {}}])
def test_a_line_without_a_message_changes_nothing(message: Any) -> None:
    data = lines({"message": message}, says(content="x"), DONE)
    assert answer_of(data).completion.parts == (TextPart("x"),)


@pytest.mark.parametrize(
    "line", [says(content="x" * 60), says(thinking="x" * 60), calling("f", {"a": "x" * 60})]
)
def test_an_endless_answer_is_given_up(line: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="larger than"):
        decode(lines(*[line] * 6), make=lambda attempt: OllamaChatDecoder(attempt, max_output=300))


def test_an_endless_line_is_given_up_before_it_ends() -> None:
    decoder = OllamaChatDecoder(AttemptId("a"), max_output=100)
    decoder.feed(b"x" * 60)
    with pytest.raises(ModelError, match="larger than"):
        decoder.feed(b"x" * 60)


def test_a_status_becomes_its_typed_error() -> None:
    error = OllamaChatWire().failure(404, {}, b'{"error":"model \\"x\\" not found"}')
    assert (error.code, error.message) == (ModelErrorCode.MODEL_NOT_FOUND, 'model "x" not found')
    error = OllamaChatWire().failure(400, {}, b'{"error":"\\"m\\" does not support thinking"}')
    assert (error.code, error.retryable) == (ModelErrorCode.REQUEST_REJECTED, False)
