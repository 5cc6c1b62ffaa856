"""Where Anthropic's cache marks stand in a request to a gateway of chat completions."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.model import CacheRetention, Input, ModelRequest, Transcript
from agentslot.model.wires.openai_completions import (
    CompatibilityProfile,
    OpenAICompletionsWire,
    profile_for,
)
from agentslot.session import AttachmentPart, Role, ToolResult
from tests.model.support import PING, call, in_base64, message, request

HOST = "https://openrouter.ai/api/v1"
PROFILE = profile_for(HOST, "anthropic/claude-opus-5")
MARK = {"type": "ephemeral"}
GO_ON = message(4, Role.USER, "go on")


def exchange(output: str = "pong") -> list[Input]:
    """A user's message, a call, and its result."""
    owner = message(2, Role.ASSISTANT, "on it")
    made = call(owner, 1, "ping", "{}")
    return [message(1, Role.USER, "q"), owner, made, ToolResult.succeeded(made.id, output)]


def asked(inputs: list[Input]) -> ModelRequest:
    return replace(request(inputs, "Be brief."), tools=(PING, replace(PING, name="pong")))


def body_of(inputs: list[Input], profile: CompatibilityProfile = PROFILE, **more: Any) -> Any:
    return json.loads(OpenAICompletionsWire(HOST, profile, **more).encode(asked(inputs)).body)


def marks_of(sent: Any) -> list[Any]:
    """What is marked, in the order of the request: names of tools, and texts."""
    assert all("cache_control" not in entry for entry in sent["messages"])
    blocks = [b for m in sent["messages"] if isinstance(m["content"], list) for b in m["content"]]
    marked = [each for each in (*sent["tools"], *blocks) if "cache_control" in each]
    assert all(each["cache_control"] == MARK for each in marked)
    return [each["text"] if "text" in each else each["function"]["name"] for each in marked]


@pytest.mark.parametrize(
    ("inputs", "last"),
    [
        ([], "Continue."),
        ([message(1, Role.USER, "q")], "q"),
        (exchange(), "pong"),
        ([*exchange(), GO_ON], "go on"),
        ([*exchange(), message(3, Role.ASSISTANT, "done")], "Continue."),
    ],
)
def test_the_marks_are_on_the_last_tool_the_prompt_and_the_last_text_alone(
    inputs: list[Input], last: str
) -> None:
    assert marks_of(body_of(inputs)) == ["pong", "Be brief.", last]


def test_a_mark_is_on_nothing_that_cannot_carry_one() -> None:
    silent = exchange("")
    assert marks_of(body_of(silent)) == ["pong", "Be brief."]
    wire = OpenAICompletionsWire(HOST, PROFILE)
    shown = message(1, Role.USER, "look", AttachmentPart("a", "image/png"))
    body = wire.encode(asked([shown]), in_base64({"a": b"png"})).body
    assert marks_of(json.loads(body)) == ["pong", "Be brief."]


def test_a_server_that_takes_no_marks_or_keeps_nothing_is_sent_plain_texts() -> None:
    for profile, cache in (
        (replace(PROFILE, cache_control=False), CacheRetention.SHORT),
        (PROFILE, CacheRetention.NONE),
    ):
        sent = body_of([*exchange(), GO_ON], profile, cache=cache)
        assert marks_of(sent) == []
        contents = [entry["content"] for entry in sent["messages"]]
        assert contents == ["Be brief.", "q", "on it", "pong", "Understood.", "go on"]


def test_the_name_of_a_result_does_not_stand_in_the_way_of_its_mark() -> None:
    sent = body_of(exchange(), replace(PROFILE, tool_result_name=True))
    assert sent["messages"][-1]["name"] == "ping"
    assert marks_of(sent)[-1] == "pong"


@given(st.lists(st.sampled_from(["user", "blank", "call"]), min_size=1, max_size=6))
def test_what_was_sent_stays_as_it_was_while_the_conversation_grows(kinds: list[str]) -> None:
    wire = OpenAICompletionsWire(HOST, PROFILE)
    transcript, before = Transcript(), b""
    for number, kind in enumerate(kinds):
        owner = message(number, Role.USER if kind == "user" else Role.ASSISTANT, f"text {number}")
        new: list[Input] = [owner]
        if kind != "user":
            made = call(owner, 1, "ping", "{}")
            new += [made, ToolResult.succeeded(made.id, "" if kind == "blank" else "pong")]
        transcript = transcript.appended(new)
        sent = wire.encode(replace(asked([]), inputs=transcript))
        assert sent.body.startswith(before)
        before = sent.body[: sent.stable]
        assert len(marks_of(json.loads(sent.body))) <= 4
