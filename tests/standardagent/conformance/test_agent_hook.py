"""The referee of agent hooks."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from agentslot.session import MessageInput
from agentslot.standardagent.conformance import AGENT_HOOK_SUITE, asking
from agentslot.standardagent.hook import AgentHookView
from tests.standardagent.conformance.judging import broken_rules
from tests.standardagent.conformance.wrong import Work, stubborn, unready

MORE = MessageInput.of("Are you sure?")


async def once(view: AgentHookView) -> Sequence[MessageInput]:
    asked = any(message.text == "Are you sure?" for message in view.messages)
    return [] if asked else [MORE]


class AgentHook:
    def __init__(self, work: Work) -> None:
        self.before_run_complete: Any = work


async def test_a_good_hook_conforms() -> None:
    await AGENT_HOOK_SUITE.check(lambda: AgentHook(once))


async def texts(_: object) -> list[str]:
    return ["Are you sure?"]


async def fails(_: object) -> None:
    raise LookupError("no such thing")


async def more(_: object) -> list[MessageInput]:
    return [MORE]


@pytest.mark.parametrize(
    ("work", "rule", "said"),
    [
        (texts, "it_proposes_messages_or_nothing", "proposed a str, which is no message"),
        (fails, "it_proposes_messages_or_nothing", "no such thing"),
        (unready(once), "runs_at_the_same_time_do_not_disturb_each_other", "busy"),
        (stubborn(once), "a_question_that_is_cancelled_ends", "goes on"),
        (more, "a_run_comes_to_its_end", "after 20 requests"),
    ],
)
async def test_a_broken_hook_fails_the_check_that_is_for_it(
    work: Callable[[Any], Any], rule: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if rule == "a_question_that_is_cancelled_ends":
        monkeypatch.setattr(asking, "CANCEL_SECONDS", 0.0)
    found = await broken_rules(AGENT_HOOK_SUITE, lambda: AgentHook(work))
    assert list(found) == [rule]
    assert said in found[rule]
