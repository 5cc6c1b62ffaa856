"""What a further request of a conversation may cost, counted and not timed."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from agentslot.model.wire import Wire
from benchmarks.encode import WIRES, Schema, beginning, request, tools, turn


@pytest.mark.parametrize("make", WIRES.values(), ids=WIRES)
def test_no_schema_is_serialized_for_a_further_request(make: Callable[[], Wire]) -> None:
    wire, transcript, offered = make(), beginning(), tools(3)
    unread = Schema.reads
    wire.encode(request(transcript, offered))
    read = Schema.reads
    assert read >= unread + len(offered)
    for number in range(5):
        transcript = transcript.appended(turn(number))
        wire.encode(request(transcript, tuple(offered)))
    assert Schema.reads == read


@pytest.mark.parametrize("make", WIRES.values(), ids=WIRES)
def test_a_tool_that_changed_is_written_anew(make: Callable[[], Wire]) -> None:
    wire, transcript, [tool] = make(), beginning(), tools(1)
    wire.encode(request(transcript, (tool,)))
    changed = replace(tool, description="Does something else.")
    assert b"Does something else." in wire.encode(request(transcript, (changed,))).body
