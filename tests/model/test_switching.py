"""A conversation goes on with any vendor, whichever vendors wrote it so far.

Every recorded answer of each vendor is remembered as History keeps it and sent to each other one.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentslot._json import JsonError, JsonValue, loads
from agentslot.model import Completion, Input, ModelConfig, Transcript
from agentslot.session import Message, Role, TextPart, ToolCall, ToolResult
from tests.model import readback
from tests.model.readback import Said
from tests.model.support import message, remembered, request
from tests.model.vendors import VENDORS, answers_of

MIN_SECRET = 40
"""From this length on a string of a vendor's state cannot be in a request by chance."""


def exchange(number: int, answer: Completion, config: ModelConfig) -> list[Input]:
    """A question, an answer as History keeps it, and the results of its calls."""
    kept = remembered(number, answer, config)
    made = [entry for entry in kept if isinstance(entry, ToolCall)]
    results = [ToolResult.succeeded(call.id, f"result of {call.id}") for call in made]
    return [message(number - 1, Role.USER, "question"), *kept, *results]


def expected(history: Iterable[Input]) -> list[Said]:
    """What any request must say of a history."""
    said: list[Said] = []
    for entry in history:
        match entry:
            case Message(role=Role.USER):
                said.append(Said("user", entry.text))
            case Message():
                texts = [part.text for part in entry.parts if isinstance(part, TextPart)]
                said.append(Said("assistant", "".join(t for t in texts if t.strip())))
            case ToolCall():
                arguments = readback.arguments_of(json.loads(entry.arguments))
                said.append(Said("assistant", "", ((entry.name, arguments),)))
            case ToolResult():
                said.append(Said("tool", json.loads(entry.output or '""')))
    return readback.joined(said)


def heard(name: str, body: dict[str, Any]) -> list[Said]:
    """What a request says, less the words that one vendor wants between a tool and a user."""
    said = VENDORS[name].read(body)
    return readback.joined(entry for entry in said if entry != Said("assistant", "Understood."))


def strings_in(value: JsonValue) -> Iterator[str]:
    """All strings of a JSON value, which may stand in strings themselves."""
    if isinstance(value, str):
        yield value
        if value[:1] in ("{", "["):
            with suppress(JsonError):
                yield from strings_in(loads(value))
    elif isinstance(value, dict):
        yield from strings_in(list(value.values()))
    elif isinstance(value, list):
        for element in value:
            yield from strings_in(element)


def told(answer: Completion) -> str:
    """What anybody may read of an answer."""
    texts = [part.text for part in answer.parts if isinstance(part, TextPart)]
    return "\0".join([*texts, *(call.arguments for call in answer.calls)])


@pytest.mark.parametrize("target", VENDORS)
@pytest.mark.parametrize("origin", VENDORS)
def test_a_conversation_goes_on_with_another_vendor(origin: str, target: str) -> None:
    vendor = VENDORS[target]
    config = vendor.config
    if origin == target:
        config = replace(config, model=f"{config.model}-next")
    for answer in answers_of(origin):
        history = exchange(2, answer, VENDORS[origin].config)
        history.append(message(3, Role.USER, "go on"))
        body = json.loads(vendor.wire().encode(request(history, "Be brief.", config)).body)
        assert heard(target, body) == expected(history)
        sent = "\0".join(strings_in(body))
        kept = strings_in(json.loads(answer.continuation or "{}"))
        own = [s for s in kept if len(s) >= MIN_SECRET and s not in told(answer)]
        assert not [secret for secret in own if secret in sent]


@pytest.mark.parametrize("name", VENDORS)
def test_a_conversation_goes_on_with_the_vendor_that_began_it(name: str) -> None:
    vendor = VENDORS[name]
    for answer in answers_of(name):
        history = exchange(2, answer, vendor.config)
        for more in ([], [message(3, Role.USER, "go on")]):
            sent = vendor.wire().encode(request([*history, *more], "Be brief.", vendor.config))
            said = heard(name, json.loads(sent.body))
            assert said[: len(expected(history))] == expected(history)


@settings(deadline=None)
@given(
    turns=st.lists(
        st.tuples(st.sampled_from(sorted(VENDORS)), st.integers(0, 1000)), min_size=1, max_size=5
    )
)
def test_the_vendor_may_change_at_every_turn(turns: list[tuple[str, int]]) -> None:
    wires = {name: vendor.wire() for name, vendor in VENDORS.items()}
    transcript = Transcript()
    for number, (name, choice) in enumerate(turns):
        answers = answers_of(name)
        answer = answers[choice % len(answers)]
        history = exchange(2 * number + 2, answer, VENDORS[name].config)
        transcript = transcript.appended(history)
        asked = transcript.appended([message(999, Role.USER, "go on")])
        for target, vendor in VENDORS.items():
            sent = wires[target].encode(request(asked, "Be brief.", vendor.config))
            fresh = vendor.wire().encode(request(list(asked), "Be brief.", vendor.config))
            assert sent == fresh
            assert heard(target, json.loads(sent.body)) == expected(asked)
