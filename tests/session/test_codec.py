"""What is written is read back exactly; what does not fit is refused."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentslot.session import (
    Actor,
    AppendMessage,
    Change,
    ClassifiedError,
    CommitRequest,
    EditQueued,
    MessageId,
    SessionId,
    TextPart,
)
from agentslot.session.codec import Decoder, UnreadableError, encode
from agentslot.session.fileformat import (
    CommitLine,
    commit_body,
    fingerprint,
    read_commit,
    revision_and_time,
    seal,
    type_of,
    unseal,
)
from tests.session.scenario import START, user

# What the values of a Session hold; these strategies are for the whole test run.
st.register_type_strategy(
    datetime,
    st.datetimes(datetime(1970, 1, 1), datetime(9000, 1, 1), timezones=st.just(UTC)),
)
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
st.register_type_strategy(Decimal, st.decimals(0, 10**6))
st.register_type_strategy(Actor, st.builds(Actor, id=st.just("somebody")))

CHANGES = st.one_of([st.from_type(kind) for kind in get_args(Change)])
REQUESTS = st.builds(
    CommitRequest,
    expected_revision=st.integers(1, 2**64 - 2),
    changes=st.lists(CHANGES, min_size=1, max_size=3).map(tuple),
)


@settings(deadline=None)
@given(data=st.data())
def test_every_commit_comes_back_as_it_was(data: st.DataObject) -> None:
    try:
        request = data.draw(REQUESTS)
    except ValueError:  # a value that its own class refuses
        return
    body = commit_body(request)
    line = seal(body, START)
    assert line.count(b"\n") == 1
    assert type_of(line[:-1]) == "commit"
    assert unseal(line[:-1]) == body
    assert revision_and_time(line) == (request.expected_revision + 1, START)
    read = read_commit()(line[:-1])
    assert (read.key, read.changes, read.actor) == (
        request.idempotency_key,
        request.changes,
        request.actor,
    )
    assert fingerprint(commit_body(request)) == fingerprint(body)


def test_half_a_surrogate_pair_is_refused_with_its_place() -> None:
    edit = EditQueued(MessageId("q"), (TextPart("fine"), TextPart("bad \udc88 half")))
    with pytest.raises(ClassifiedError, match=r"\$\.changes\[0\]\.parts\[1\]\.text") as caught:
        commit_body(CommitRequest(SessionId("s"), 1, "key", (edit,)))
    assert caught.value.code == "text_not_unicode"


WRONG: Any = 3  # what code without types may put anywhere


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (AppendMessage(replace(user("u"), client_message_id=WRONG)), "Message.client_message_id"),
        (AppendMessage(replace(user("u"), role=WRONG)), "Message.role"),
        (AppendMessage(replace(user("u"), created_at=WRONG)), "Message.created_at"),
        (AppendMessage(replace(user("u"), parts=(WRONG,))), "Message.parts"),
        (AppendMessage(replace(user("u"), parts=(TextPart(WRONG),))), "TextPart.text"),
        (EditQueued(WRONG, (TextPart("hi"),)), "EditQueued.message_id"),
    ],
)
def test_what_could_not_be_read_again_is_not_written(change: Change, place: str) -> None:
    with pytest.raises(ClassifiedError, match=f"{place} is of type int") as caught:
        commit_body(CommitRequest(SessionId("s"), 1, "key", (change,)))
    assert caught.value.code == "wrong_type"


@pytest.mark.parametrize("number", [True, 1.5, "1"])
def test_a_number_that_is_none_is_not_written(number: Any) -> None:
    with pytest.raises(ClassifiedError, match=r"Shape\.number is of type"):
        encode(Shape(number))


def test_a_pair_of_surrogates_given_as_one_character_is_kept() -> None:
    request = CommitRequest(SessionId("s"), 1, "key", (AppendMessage(user("u", "\U0001f378")),))
    assert read_commit()(seal(commit_body(request), START)[:-1]).changes == request.changes


@dataclass(frozen=True)
class Shape:
    number: int
    text: str = "default"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{}", "number: Field required"),
        (b'{"number":"1"}', "valid integer"),
        (b'{"number":true}', "valid integer"),
        (b'{"number":1.0}', "valid integer"),
        (b'{"number":1,"more":2}', "more"),
        (b'{"number":1', "Invalid JSON"),
        (b'{"number":1} {}', "Invalid JSON"),
        (b'{"number":1,"text":"\\ud800"}', "Invalid JSON"),
        (b'{"number":1,"text":"\xff"}', "Invalid JSON"),
        (b"[1]", "Input should be"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(line: bytes, problem: str) -> None:
    with pytest.raises(UnreadableError, match=problem):
        Decoder(Shape)(line)


def test_what_equals_its_default_is_left_out() -> None:
    assert encode(Shape(1)) == b'{"number":1}'
    assert Decoder(Shape)(b'{"number":1}') == Shape(1)


def test_one_flipped_bit_is_noticed() -> None:
    request = CommitRequest(SessionId("s"), 1, "key", (AppendMessage(user("u")),))
    line = seal(commit_body(request), START)[:-1]
    for position in range(len(line)):
        flipped = line[:position] + bytes([line[position] ^ 1]) + line[position + 1 :]
        with pytest.raises(UnreadableError):
            type_of(flipped)


def test_commit_lines_are_what_the_documentation_shows() -> None:
    request = CommitRequest(SessionId("s"), 1, "key", (AppendMessage(user("u", run=None)),))
    assert commit_body(request) == (
        b'{"type":"commit","key":"key","changes":[{"message":{"id":"u","role":"user","parts":'
        b'[{"text":"hello","kind":"text"}],"created_at":"2026-11-30T12:00:00Z"},'
        b'"kind":"append_message"}],"rev":2}'
    )
    assert CommitLine.__doc__
