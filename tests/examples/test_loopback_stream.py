"""The loopback model speaks the vendor's stream."""

import json
import urllib.request

from tests.examples.vendorclient import events, new_messages, post, request_body


def test_an_answer_is_a_stream_of_chunks_that_ends_with_done(base_url: str) -> None:
    *chunks, last = events(base_url, request_body(new_messages()))

    assert last == "[DONE]"
    heads = [json.loads(chunk) for chunk in chunks]
    assert {chunk["object"] for chunk in heads} == {"chat.completion.chunk"}
    assert len({chunk["id"] for chunk in heads}) == 1
    assert heads[0]["choices"][0]["delta"]["role"] == "assistant"


def test_text_and_arguments_come_in_pieces(base_url: str) -> None:
    answer = post(base_url, request_body(new_messages()))

    deltas = [choice["delta"] for chunk in answer.chunks for choice in chunk["choices"]]
    assert sum("content" in delta for delta in deltas) > 3
    assert sum("tool_calls" in delta for delta in deltas) > 3
    assert answer.finish_reason == "tool_calls"
    assert json.loads(answer.calls[0]["function"]["arguments"])


def test_usage_comes_last_and_only_on_request(base_url: str) -> None:
    with_usage = post(base_url, request_body(new_messages()))
    without = post(base_url, request_body(new_messages(), stream_options={"include_usage": False}))

    assert with_usage.usage is not None
    assert with_usage.usage["prompt_tokens"] > with_usage.usage["completion_tokens"] > 0
    assert with_usage.chunks[-1]["choices"] == []
    assert without.usage is None
    assert without.chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_the_model_is_listed(base_url: str) -> None:
    request = urllib.request.Request(f"{base_url}/models", headers={"Authorization": "Bearer k"})
    with urllib.request.urlopen(request) as response:
        models = json.load(response)

    assert [model["id"] for model in models["data"]] == ["loopback-1"]
