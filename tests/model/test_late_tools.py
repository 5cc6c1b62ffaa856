"""Tools that come in the course of a conversation stand behind the others and change none."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from agentslot.model import ModelRequest
from agentslot.model.wire import Wire
from agentslot.model.wires.anthropic_messages import AnthropicMessagesWire
from agentslot.model.wires.openai_completions import CompatibilityProfile, OpenAICompletionsWire
from benchmarks.encode import WIRES, Schema, beginning, request, tools, turn

MARKING = (
    AnthropicMessagesWire(),
    OpenAICompletionsWire("http://h/", CompatibilityProfile(cache_control=True)),
)


def with_late(stable: int, late: int) -> ModelRequest:
    """A request with some stable tools and some that came later."""
    return replace(request(beginning(), tools(stable + late)), late_tools=late)


def offered(wire: Wire, asked: ModelRequest) -> list[Any]:
    """The tools of a body, without the members that only say how far to cache."""
    shown = json.loads(wire.encode(asked).body)["tools"]
    shown = shown[0].get("functionDeclarations", shown)
    return [{k: v for k, v in tool.items() if k != "cache_control"} for tool in shown]


@pytest.mark.parametrize("make", WIRES.values(), ids=WIRES)
def test_late_tools_are_appended_and_change_nothing_before_them(make: Callable[[], Wire]) -> None:
    wire = make()
    before, after = offered(wire, with_late(3, 0)), offered(wire, with_late(3, 2))
    assert after[:3] == before
    assert len(after) == 5


@pytest.mark.parametrize("make", WIRES.values(), ids=WIRES)
def test_the_bytes_up_to_the_last_stable_tool_stay_the_same(make: Callable[[], Wire]) -> None:
    wire = make()
    before, after = (wire.encode(with_late(3, late)).body for late in (0, 2))
    end = before.index(b"tool_2") + len(b"tool_2")
    assert after[:end] == before[:end]


@pytest.mark.parametrize("make", WIRES.values(), ids=WIRES)
def test_only_the_tool_that_comes_is_serialized(make: Callable[[], Wire]) -> None:
    wire, transcript = make(), beginning()
    known = tools(6)
    unread = Schema.reads
    wire.encode(request(transcript, known[:1]))
    for_one = Schema.reads - unread
    wire.encode(request(transcript, known[:5]))
    transcript, unread = transcript.appended(turn(1)), Schema.reads
    wire.encode(replace(request(transcript, known), late_tools=1))
    assert Schema.reads - unread == for_one
    wire.encode(request(transcript, known[:5]))
    wire.encode(replace(request(transcript, known), late_tools=1))
    assert Schema.reads - unread == for_one


@pytest.mark.parametrize("wire", MARKING, ids=["anthropic", "gateway"])
def test_the_mark_stands_behind_the_last_tool_that_every_request_has(wire: Wire) -> None:
    for late in (0, 2):
        sent = json.loads(wire.encode(with_late(3, late)).body)["tools"]
        assert [number for number, tool in enumerate(sent) if "cache_control" in tool] == [2]


@pytest.mark.parametrize("wire", MARKING, ids=["anthropic", "gateway"])
def test_late_tools_alone_carry_no_mark(wire: Wire) -> None:
    sent = json.loads(wire.encode(with_late(0, 2)).body)["tools"]
    assert len(sent) == 2
    assert not any("cache_control" in tool for tool in sent)
