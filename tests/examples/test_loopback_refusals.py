"""The loopback model refuses what a vendor refuses, and tool results that cannot be true."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.examples.vendorclient import (
    TOOLS,
    RefusedError,
    ask,
    new_messages,
    post,
    request_body,
    run_calls,
    tool_message,
    work_to_the_end,
    work_until,
)
from tests.examples.workshop import JsonObject, Workshop


def refusal(base_url: str, messages: list[JsonObject], **changes: Any) -> JsonObject:
    with pytest.raises(RefusedError) as caught:
        post(base_url, request_body(messages, **changes))
    assert caught.value.status == 400
    assert caught.value.error["type"] == "invalid_request_error"
    return caught.value.error


def two_reads(base_url: str, workshop: Workshop) -> tuple[list[JsonObject], list[JsonObject]]:
    """A conversation whose last turn read two files, and the results of the two calls."""
    messages = new_messages()
    answer = work_until(base_url, workshop, messages, "file_read")
    return messages, run_calls(workshop, answer)


def test_a_request_without_a_key_is_refused(base_url: str) -> None:
    with pytest.raises(RefusedError, match="API key") as caught:
        post(base_url, request_body(new_messages()), key=None)
    assert caught.value.status == 401


def test_an_unknown_model_is_refused(base_url: str) -> None:
    with pytest.raises(RefusedError, match="loopback-1") as caught:
        post(base_url, request_body(new_messages(), model="gpt-9"))
    assert caught.value.status == 404
    assert caught.value.error["code"] == "model_not_found"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"text"'])
def test_a_body_that_is_no_json_object_is_refused(base_url: str, body: bytes) -> None:
    with pytest.raises(RefusedError, match="no JSON object"):
        post(base_url, body)


MALFORMED: list[tuple[JsonObject, str]] = [
    ({"mesages": []}, "Unrecognized request argument supplied: mesages"),
    ({"stream": False}, "stream"),
    ({"messages": []}, "messages"),
    ({"messages": [{"role": "robot", "content": "hi"}]}, "messages[0]"),
    ({"messages": [{"role": "user", "content": 5}]}, "messages[0]"),
    ({"messages": [{"role": "user"}]}, "messages[0]"),
    ({"messages": [{"role": "user", "content": "hi", "id": "1"}]}, "messages[0]"),
    ({"messages": [{"role": "system", "content": "hi"}]}, "nothing to answer"),
    ({"tools": []}, "tools"),
    ({"tools": [{"type": "function", "function": {"name": "bash"}}]}, "tools[0]"),
    ({"tools": TOOLS[1:]}, "'bash'"),
    ({"tools": [{"type": "function", "function": {"name": "a b", "parameters": {}}}]}, "name"),
]


@pytest.mark.parametrize(("changes", "told"), MALFORMED)
def test_a_malformed_request_is_refused_by_name(
    base_url: str, changes: JsonObject, told: str
) -> None:
    with pytest.raises(RefusedError) as caught:
        post(base_url, {**request_body(new_messages()), **changes})
    error = caught.value.error
    assert caught.value.status == 400
    assert told in f"{error['message']} {error['param']}"


def test_a_tool_whose_schema_does_not_take_the_call_is_refused(base_url: str) -> None:
    bash = json.loads(json.dumps(TOOLS[0]).replace("command", "script"))
    assert "must take command" in refusal(base_url, new_messages(), tools=[bash])["message"]


def test_a_missing_result_is_refused(base_url: str, workshop: Workshop) -> None:
    messages, (first, second) = two_reads(base_url, workshop)
    error = refusal(base_url, [*messages, first])
    assert second["tool_call_id"] in error["message"]


def test_a_message_between_call_and_result_is_refused(base_url: str, workshop: Workshop) -> None:
    messages, (first, second) = two_reads(base_url, workshop)
    between = {"role": "user", "content": "hurry"}
    error = refusal(base_url, [*messages, first, between, second])
    assert error["param"] == f"messages[{len(messages) + 1}]"


def test_a_doubled_result_is_refused(base_url: str, workshop: Workshop) -> None:
    messages, (first, second) = two_reads(base_url, workshop)
    assert "twice" in refusal(base_url, [*messages, first, first, second])["message"]
    assert "twice" in refusal(base_url, [*messages, first, second, second])["message"]


def test_results_out_of_order_are_refused(base_url: str, workshop: Workshop) -> None:
    messages, (first, second) = two_reads(base_url, workshop)
    assert "came before" in refusal(base_url, [*messages, second, first])["message"]


def test_a_result_for_an_unknown_call_is_refused(base_url: str, workshop: Workshop) -> None:
    messages, (first, second) = two_reads(base_url, workshop)
    stray = {**second, "tool_call_id": "call_1"}
    assert "'call_1'" in refusal(base_url, [*messages, first, stray])["message"]
    assert "is none" in refusal(base_url, [*messages, first, second, stray])["message"]


def test_results_swapped_between_two_calls_are_refused(base_url: str, workshop: Workshop) -> None:
    messages, (first, second) = two_reads(base_url, workshop)
    swapped = [{**first, "content": second["content"]}, {**second, "content": first["content"]}]
    assert "not the text" in refusal(base_url, messages + swapped)["message"]


def test_a_call_id_used_for_two_calls_is_refused(base_url: str, workshop: Workshop) -> None:
    messages = new_messages()
    turn = run_calls(workshop, ask(base_url, messages))
    assert "two calls" in refusal(base_url, messages + turn + messages[2:] + turn)["message"]


@pytest.mark.parametrize("arguments", ["", "{", "[]", '{"command": '])
def test_arguments_that_are_no_json_object_are_refused(base_url: str, arguments: str) -> None:
    messages = new_messages()
    call = ask(base_url, messages).calls[0]
    call["function"]["arguments"] = arguments
    error = refusal(base_url, [*messages, tool_message(call, "{}")])
    assert "JSON object" in error["message"]


def test_a_call_that_was_altered_on_its_way_is_refused(base_url: str, workshop: Workshop) -> None:
    messages = new_messages()
    answer = ask(base_url, messages)
    results = run_calls(workshop, answer)
    answer.calls[0]["function"]["arguments"] = '{"command": "ls"}'
    assert "never made" in refusal(base_url, messages + results)["message"]


def _with(old: str, new: str) -> Callable[[str], str]:
    return lambda content: content.replace(old, new)


def _only(text: str) -> Callable[[str], str]:
    return lambda _: text


@pytest.mark.parametrize(
    ("tool", "change", "told"),
    [
        ("bash", _only(""), "is not in the list"),
        ("bash", _with("./shop/discounts.py", ""), "is not in the list"),
        ("file_read", _only(""), "not the text"),
        ("file_read", _with("unit_cents", "cents"), "not the text"),
        ("file_read", _with("sha256", "md5"), "not the hash"),
        ("file_edit", _only("{}"), "not the hash"),
        ("file_edit", _only('{"error": {"code": "denied"}}'), "not the hash"),
    ],
)
def test_a_result_that_the_tool_cannot_have_given_is_refused(
    base_url: str, workshop: Workshop, tool: str, change: Callable[[str], str], told: str
) -> None:
    messages = new_messages()
    first, *rest = run_calls(workshop, work_until(base_url, workshop, messages, tool))
    forged = {**first, "content": change(first["content"])}
    assert told in refusal(base_url, [*messages, forged, *rest])["message"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_only(""), "ends with OK or FAILED"),
        (_with("FAILED (failures=2)", "OK"), "cannot pass before"),
        (_with("[exit code 1]", "[exit code 0]"), "exit code"),
    ],
)
def test_a_test_run_that_did_not_happen_so_is_refused(
    base_url: str, workshop: Workshop, change: Callable[[str], str], told: str
) -> None:
    messages = new_messages()
    messages += run_calls(workshop, ask(base_url, messages))
    (result,) = run_calls(workshop, ask(base_url, messages))
    forged = {**result, "content": change(result["content"])}
    assert told in refusal(base_url, [*messages, forged])["message"]


def test_a_conversation_that_lost_an_edit_is_refused(base_url: str, workshop: Workshop) -> None:
    messages = new_messages()
    work_to_the_end(base_url, workshop, messages)
    is_edit = [
        any(call["function"]["name"] == "file_edit" for call in message.get("tool_calls", ()))
        for message in messages
    ]
    edit = is_edit.index(True)
    without = [*messages[:edit], *messages[edit + 2 :], {"role": "user", "content": "And?"}]
    assert "cannot pass before" in refusal(base_url, without)["message"]
