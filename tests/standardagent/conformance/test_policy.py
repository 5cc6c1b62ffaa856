"""The referee of policy guards: ours pass, and each of its checks finds what it is for."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from agentslot.standardagent import (
    Decision,
    EffectPolicy,
    LoopGuardModule,
    PolicyEffect,
    Preset,
    Rule,
    Rulebook,
    ToolAction,
    ToolRules,
    Verdict,
)
from agentslot.standardagent.conformance import POLICY_GUARD_SUITE, asking
from tests.standardagent.conformance.judging import broken_rules
from tests.standardagent.conformance.wrong import Work, stubborn, unready

ALLOW = Decision(PolicyEffect.ALLOW)
DENY = Decision(PolicyEffect.DENY, "not here")


def rulebook() -> Rulebook:
    rules = [
        Rule(then=PolicyEffect.DENY, reason="not sent", tools=["send"]),
        Rule(then=PolicyEffect.REQUIRE_APPROVAL, reason="kept", arguments={"text": "n.*"}),
    ]
    return Rulebook(rules, fallback=ALLOW)


@pytest.mark.parametrize(
    "make",
    [
        *(lambda preset=preset: EffectPolicy(preset) for preset in Preset),
        lambda: ToolRules({"note": DENY}, fallback=ALLOW),
        rulebook,
        lambda: LoopGuardModule(1),
    ],
)
async def test_our_guards_conform(make: Callable[[], object]) -> None:
    await POLICY_GUARD_SUITE.check(make)


async def by_name(action: ToolAction) -> Decision:
    return DENY if action.call.name == "send" else ALLOW


class Guard:
    def __init__(self, work: Work = by_name) -> None:
        self.evaluate: Any = work


class Counting(Guard):
    """Allows so many calls, and forgets with its process."""

    def __init__(self, allowed: int) -> None:
        self._left = allowed
        super().__init__(self._decide)

    async def _decide(self, action: ToolAction) -> Decision:
        self._left -= 1
        return ALLOW if self._left >= 0 else DENY


class NewReasons(Guard):
    """Gives a reason that the next process does not know."""

    numbers = count()

    def __init__(self) -> None:
        self._number = next(self.numbers)
        super().__init__(self._decide)

    async def _decide(self, action: ToolAction) -> Decision:
        return Decision(PolicyEffect.REQUIRE_APPROVAL, f"guard {self._number} asks")


class Explaining(Guard):
    def explain(self, action: ToolAction) -> Verdict:
        return Verdict(ALLOW, "everything is allowed")


async def fails_to_read(action: ToolAction) -> Decision:
    if action.call.name == "look":
        raise LookupError(action.call.name)
    return ALLOW


async def says_yes(_: object) -> str:
    return "yes"


@pytest.mark.parametrize(
    ("make", "rule", "said"),
    [
        (lambda: Guard(says_yes), "every_call_gets_a_decision", "4 of 4 calls"),
        (lambda: Counting(6), "the_same_call_gets_the_same_decision", "not here"),
        (NewReasons, "the_same_call_gets_the_same_decision", "in the next process"),
        (
            lambda: Guard(unready(by_name)),
            "calls_at_the_same_time_do_not_disturb_each_other",
            "busy",
        ),
        (Explaining, "an_explanation_agrees_with_the_decision", "explains"),
        (lambda: Guard(stubborn(by_name)), "a_question_that_is_cancelled_ends", "goes on"),
    ],
)
async def test_a_broken_guard_fails_the_check_that_is_for_it(
    make: Callable[[], object], rule: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if rule == "a_question_that_is_cancelled_ends":
        monkeypatch.setattr(asking, "CANCEL_SECONDS", 0.0)
    found = await broken_rules(POLICY_GUARD_SUITE, make)
    assert list(found) == [rule]
    assert said in found[rule]
