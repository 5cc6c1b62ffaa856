"""The digest of what a hook is shown: of its meaning, never of its spelling."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot._json import JsonValue, dumps
from agentslot.session import (
    AgentId,
    ClassifiedError,
    InvocationId,
    MessageId,
    RunId,
    SessionId,
    StepId,
    ToolCallId,
    WorkspaceId,
)
from agentslot.standardagent.hook import ToolPreflightView
from agentslot.standardagent.runtime.hooks.digest import canonical_text, input_digest

VIEW = ToolPreflightView(
    InvocationId("i"),
    SessionId("s"),
    AgentId("a"),
    WorkspaceId("w"),
    3,
    RunId("r"),
    StepId("t"),
    MessageId("m"),
    ToolCallId("c"),
    "tool",
    "{}",
)


def digest(arguments: str) -> str:
    return input_digest(replace(VIEW, arguments=canonical_text(arguments)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a": 1, "b": 2}', '{"b":2,"a":1}'),
        ('{"a": {"x": [1, 2], "y": null}}', '{"a":{"y":null,"x":[1,2]}}'),
        ('{"\\u0061": "\\u00e9\\/"}', '{"a": "é/"}'),
        ('{"a": "\\ud83c\\udf78"}', '{"a": "\U0001f378"}'),
        ('{"n": 1}', '{"n": 1.0}'),
        ('{"n": 1}', '{"n": 1e0}'),
        ('{"n": 100}', '{"n": 1E+2}'),
        ('{"n": 0}', '{"n": -0}'),
        ('{"n": 0}', '{"n": -0.0e9}'),
        ('{"n": 1}', '{"n": 10e-1}'),
        ('{"n": 12345678901234567890123}', '{"n": 1234567890123456789012.3e1}'),
        (f'{{"n": {"9" * 5000}}}', f'{{ "n" : {"9" * 5000}.0 }}'),
    ],
)
def test_the_same_value_has_the_same_digest(one: str, other: str) -> None:
    assert digest(one) == digest(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"n": 1}', '{"n": true}'),
        ('{"n": 1}', '{"n": "1"}'),
        ('{"n": 0}', '{"n": null}'),
        ('{"n": 0}', '{"n": false}'),
        ('{"a": [1, 2]}', '{"a": [2, 1]}'),
        ('{"a": []}', '{"a": {}}'),
        ('{"a": 1}', '{"A": 1}'),
        ('{"n": 9007199254740992}', '{"n": 9007199254740993}'),
        ('{"n": 0.1}', '{"n": 0.10000000000000001}'),
        ("{}", '"{}"'),
    ],
)
def test_another_value_has_another_digest(one: str, other: str) -> None:
    assert digest(one) != digest(other)


def test_every_part_of_a_view_counts() -> None:
    views = [
        VIEW,
        replace(VIEW, invocation_id=InvocationId("j")),
        replace(VIEW, prepared_revision=4),
        replace(VIEW, tool="other"),
        replace(VIEW, arguments='{"a":1}'),
    ]
    assert len({input_digest(view) for view in views}) == len(views)


def test_known_digests_stay_as_they_are() -> None:
    known = "sha256:25a4b88be5f14a2ff3168c36dceff98e6f22421811a5bfa2d2e888e324fec11f"
    assert digest('{"b": [1.0, "\\u00e9"], "a": -0}') == known


def test_arguments_that_are_no_json_are_taken_as_text() -> None:
    assert digest('{"a": 1, "a": 2}') != digest('{"a": 2}')
    assert digest("{") != digest("{{")


def test_half_a_surrogate_pair_has_no_digest() -> None:
    with pytest.raises(ClassifiedError):
        digest("half \ud83c")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


def shuffled(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {name: shuffled(value[name]) for name in reversed(value)}
    if isinstance(value, list):
        return [shuffled(each) for each in value]
    return value


@given(values)
def test_the_order_of_members_never_counts(value: JsonValue) -> None:
    assert digest(dumps(value)) == digest(dumps(shuffled(value)))
