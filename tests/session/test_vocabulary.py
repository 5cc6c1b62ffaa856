"""The small values: what they accept, what they refuse, how they are written."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.session import (
    Actor,
    ActorKind,
    AttachmentPart,
    AttemptId,
    AttemptStatus,
    ClassifiedError,
    ErrorKind,
    MessageInput,
    ModelAttempt,
    ModelConfig,
    RunId,
    SharedList,
    StepId,
    TextPart,
    TokenUsage,
    ToolCallId,
    ToolError,
    ToolResult,
    ToolStatus,
    is_identity,
    is_safe_line,
    kind_of,
    safe_line,
)


def attempt(cost_usd: Decimal) -> ModelAttempt:
    ids = AttemptId("a"), RunId("r"), StepId("s")
    return ModelAttempt(*ids, AttemptStatus.SUCCEEDED, "p", "m", cost_usd=cost_usd)


@pytest.mark.parametrize("text", ["a", "a b", "\u00e9", "A-1:x/y"])
def test_an_identity_is_any_trimmed_text(text: str) -> None:
    assert is_identity(text)


@pytest.mark.parametrize("text", ["", " ", " a", "a\n"])
def test_no_identity_is_empty_or_has_white_space_around_it(text: str) -> None:
    assert not is_identity(text)
    with pytest.raises(ValueError, match="trimmed"):
        Actor(ActorKind.SERVICE, text)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ModelConfig("p", ""),
        lambda: ModelConfig("p", "m", temperature=float("nan")),
        lambda: ModelConfig("p", "m", temperature=-0.1),
        lambda: ModelConfig("p", "m", max_tokens=0),
        lambda: ModelConfig("p", "m", reasoning="huge"),  # type: ignore[arg-type]  # untyped code
        lambda: MessageInput(()),
        lambda: ToolResult(ToolCallId("c"), ToolStatus.FAILED),
        lambda: ToolResult(ToolCallId("c"), ToolStatus.SUCCEEDED, error=ToolError("a", "b")),
        lambda: attempt(Decimal("Infinity")),
        lambda: attempt(Decimal("NaN")),
        lambda: attempt(Decimal("sNaN")),
        lambda: attempt(Decimal(-1)),
    ],
)
def test_values_that_make_no_sense_cannot_be_made(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"must|needs|carries"):
        make()


def test_people_write_messages_in_several_forms() -> None:
    part = TextPart("hello")
    for content in ("hello", part, [part], (part,), MessageInput((part,))):
        assert MessageInput.of(content) == MessageInput((part,))


def test_usage_adds_up() -> None:
    total = TokenUsage(1, 2, total=3) + TokenUsage(10, 20, 5, 6, 7, 30, estimated=True)
    assert total == TokenUsage(11, 22, 5, 6, 7, 33, estimated=True)


def test_kind_is_that_of_the_nearest_classified_cause() -> None:
    error = RuntimeError("wrapper")
    error.__cause__ = ClassifiedError(ErrorKind.NOT_FOUND, "x", "y")
    assert kind_of(error) is ErrorKind.NOT_FOUND
    assert kind_of(RuntimeError()) is ErrorKind.INTERNAL


@given(st.text(), st.integers(3, 40))
def test_any_text_becomes_one_safe_line(text: str, limit: int) -> None:
    line = safe_line(text, limit)
    assert is_safe_line(line, limit)
    assert line == safe_line(line, limit)


def test_a_shared_list_is_a_sequence() -> None:
    items = SharedList([1, 2]).appended([3])
    assert list(items) == [1, 2, 3]
    assert (items[0], items[-1], list(items[1:])) == (1, 3, [2, 3])
    assert items == SharedList([1, 2, 3])
    assert items != [1, 2, 3]
    for position in (3, -4):
        with pytest.raises(IndexError):
            items[position]


def test_versions_of_a_shared_list_do_not_see_each_other() -> None:
    first = SharedList([1])
    one, other = first.appended([2]), first.appended([3])
    assert (list(first), list(one), list(other)) == ([1], [1, 2], [1, 3])


@pytest.mark.parametrize(
    ("part", "problem"),
    [
        (AttachmentPart(" ", "image/png"), "needs the id of its artifact"),
        (AttachmentPart("a", "image"), "no media type like 'image/png'"),
        (AttachmentPart("a", "IMAGE/PNG"), "no media type like 'image/png'"),
        (AttachmentPart("a", "image/png", "one\ntwo"), "not one short line"),
    ],
)
def test_a_malformed_attachment_is_no_input(part: AttachmentPart, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        MessageInput.of([TextPart("look"), part])
