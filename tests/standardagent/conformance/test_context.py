"""The referees of context sources and compactors: each of their checks finds what it is for."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from agentslot import Module
from agentslot.session import Message, MessageInput, Role, TextPart
from agentslot.standardagent import Compaction, ContextInput, TailCompactor, TailCompactorModule
from agentslot.standardagent.conformance import (
    CONTEXT_COMPACTOR_SUITE,
    CONTEXT_SOURCE_SUITE,
    asking,
)
from examples.planning import PlanFirst
from tests.standardagent.conformance.judging import broken_rules
from tests.standardagent.conformance.wrong import Work, stubborn, unready

NOON = MessageInput.of("It is noon.")


async def noon(context: ContextInput) -> Sequence[MessageInput]:
    return [NOON]


class Source:
    def __init__(self, work: Work = noon, key: str = "clock") -> None:
        self.key = key
        self.contribute: Any = work


async def texts(_: object) -> list[str]:
    return ["It is noon."]


async def fails_at_results(context: ContextInput) -> Sequence[MessageInput]:
    if not isinstance(context.inputs[-1], Message):
        raise LookupError("no message at the end")
    return [NOON]


def rewrite(context: ContextInput) -> None:
    """Change a conversation that is shared with everybody."""
    said = context.inputs[0]
    assert isinstance(said, Message)
    context.inputs.ledger.items[0] = replace(said, parts=(TextPart(said.text + "!"),))


async def rewrites(context: ContextInput) -> Sequence[MessageInput]:
    rewrite(context)
    return [NOON]


class Fickle(Source):
    numbers = count()

    @property
    def key(self) -> str:
        return f"clock {next(self.numbers)}"

    @key.setter
    def key(self, key: str) -> None:
        pass


NUMBERS = count()


@pytest.mark.parametrize("make", [Source, PlanFirst])
async def test_a_good_source_conforms(make: Callable[[], object]) -> None:
    await CONTEXT_SOURCE_SUITE.check(make)


@pytest.mark.parametrize(
    ("make", "rule", "said"),
    [
        (lambda: Source(key=f"clock {next(NUMBERS)}"), "it_has_one_key", "in the next process"),
        (Fickle, "it_has_one_key", "and then"),
        (lambda: Source(texts), "it_adds_messages_or_nothing", "no MessageInput"),
        (lambda: Source(fails_at_results), "it_adds_messages_or_nothing", "no message at the end"),
        (
            lambda: Source(unready(noon)),
            "sessions_at_the_same_time_do_not_disturb_each_other",
            "busy",
        ),
        (lambda: Source(rewrites), "it_leaves_the_conversation_alone", "changed"),
        (lambda: Source(stubborn(noon)), "a_question_that_is_cancelled_ends", "goes on"),
    ],
)
async def test_a_broken_source_fails_the_check_that_is_for_it(
    make: Callable[[], object], rule: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if rule == "a_question_that_is_cancelled_ends":
        monkeypatch.setattr(asking, "CANCEL_SECONDS", 0.0)
    found = await broken_rules(CONTEXT_SOURCE_SUITE, make)
    assert list(found) == [rule]
    assert said in found[rule]


class Compactor:
    def __init__(self, work: Work) -> None:
        self.compact: Any = work


async def summary(context: ContextInput) -> Compaction:
    starts = [
        index
        for index, each in enumerate(context.inputs[: context.inputs.lasting])
        if isinstance(each, Message) and each.role is Role.USER
    ]
    return Compaction(starts[-2], (MessageInput.of("They said hello many times."),))


@pytest.mark.parametrize(
    "make",
    [lambda: TailCompactor(20), lambda: TailCompactorModule(1), lambda: Compactor(summary)],
)
async def test_a_good_compactor_conforms(make: Callable[[], object]) -> None:
    await CONTEXT_COMPACTOR_SUITE.check(make)


async def keeps_everything(_: object) -> Compaction:
    return Compaction(0)


async def keeps_the_last_element(context: ContextInput) -> Compaction:
    return Compaction(context.inputs.lasting - 1)


async def keeps_from_the_newest_user_message(context: ContextInput) -> Compaction:
    newest = max(
        index
        for index, each in enumerate(context.inputs)
        if isinstance(each, Message) and each.role is Role.USER
    )
    return Compaction(newest)


async def rewriting(context: ContextInput) -> Compaction:
    rewrite(context)
    return await TailCompactor(20).compact(context)


FITS = "a_conversation_that_is_too_long_is_made_to_fit"
SENDABLE = "what_it_keeps_can_be_sent"


@pytest.mark.parametrize(
    ("work", "rule", "said"),
    [
        (keeps_everything, FITS, "longer than 10000 tokens"),
        (keeps_the_last_element, SENDABLE, "tool_result, not a message"),
        (keeps_from_the_newest_user_message, SENDABLE, "kept_from is"),
        (
            unready(TailCompactor(20).compact),
            "sessions_at_the_same_time_do_not_disturb_each_other",
            "busy",
        ),
        (rewriting, "it_leaves_the_conversation_alone", "changed"),
        (stubborn(TailCompactor(20).compact), "a_question_that_is_cancelled_ends", "goes on"),
    ],
)
async def test_a_broken_compactor_fails_the_check_that_is_for_it(
    work: Work, rule: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if rule == "a_question_that_is_cancelled_ends":
        monkeypatch.setattr(asking, "CANCEL_SECONDS", 0.0)
    found = await broken_rules(CONTEXT_COMPACTOR_SUITE, lambda: Compactor(work))
    assert list(found) == [rule]
    assert said in found[rule]


@pytest.mark.parametrize("suite", [CONTEXT_SOURCE_SUITE, CONTEXT_COMPACTOR_SUITE])
async def test_a_module_without_a_component_conforms_to_nothing(suite: Any) -> None:
    found = await broken_rules(suite, lambda: Module("empty"))
    assert len(found) == len(suite.checks)
