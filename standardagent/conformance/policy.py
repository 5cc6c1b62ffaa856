"""The referee of `policy.guard/v1`: a guard decides on calls of every kind, always alike."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

import anyio

from agentslot import Module
from agentslot._conformance import Suite, check, demand
from agentslot.session import MemoryStore
from agentslot.standardagent.conformance.asking import expect_end_when_cancelled
from agentslot.standardagent.conformance.stage import TOOL_EFFECTS, Make, Stage, part, staged
from agentslot.standardagent.policy import POLICY_GUARDS, Decision, PolicyGuard, ToolAction
from agentslot.standardagent.policy.contract import ALLOW
from agentslot.standardagent.policy.explain import ExplainingGuard

_EVERY_TOOL = f"call {' '.join(TOOL_EFFECTS)}"


class _Onlooker:
    """A guard that allows everything and remembers it."""

    def __init__(self) -> None:
        self.actions: list[ToolAction] = []

    async def evaluate(self, action: ToolAction) -> Decision:
        """Allow."""
        self.actions.append(action)
        return ALLOW


@asynccontextmanager
async def _asked(make: Make, disk: MemoryStore) -> AsyncGenerator[tuple[Stage, list[ToolAction]]]:
    """A stage on which calls of every effect have been decided on, and the calls."""
    onlooker = _Onlooker()
    watching = Module("conformance.onlooker", POLICY_GUARDS.append(onlooker))
    async with staged(watching, part(POLICY_GUARDS, make), disk=disk) as stage:
        stage.subjects(POLICY_GUARDS)
        session = await stage.session()
        await session.send_and_wait(_EVERY_TOOL)
        yield stage, onlooker.actions


@check
async def every_call_gets_a_decision(make: Make) -> None:
    """It fails at no call, whatever the effect of the tool; a guard that fails denies."""
    async with _asked(make, MemoryStore()) as (stage, actions):
        results = await stage.results(actions[0].session_id)
        codes = [result.error.code for result in results if result.error is not None]
        failed = codes.count("policy_error")
        demand(not failed, f"{failed} of {len(actions)} calls got none{stage.complained()}")


@check
async def the_same_call_gets_the_same_decision(make: Make) -> None:
    """With the same History, also in the next process: an approval is bound to the reason."""
    disk = MemoryStore()
    async with _asked(make, disk) as (stage, actions):
        known = await _answers(stage, actions)
        again = await _answers(stage, actions)
    demand(known == again, f"it said {known} and then {again}")
    async with staged(part(POLICY_GUARDS, make), disk=disk) as stage:
        later = await _answers(stage, actions)
    demand(known == later, f"it said {known}, and in the next process {later}")


async def _answers(stage: Stage, actions: list[ToolAction]) -> list[object]:
    guards = stage.subjects(POLICY_GUARDS)
    return [await _answer(guard, action) for guard in guards for action in actions]


@check
async def calls_at_the_same_time_do_not_disturb_each_other(make: Make) -> None:
    """One guard decides for all Sessions, and may be asked while it decides."""
    async with _asked(make, MemoryStore()) as (stage, actions):
        for guard in stage.subjects(POLICY_GUARDS):
            alone = [await _answer(guard, action) for action in actions]
            found = await _together(guard, actions)
            stable = alone == [await _answer(guard, action) for action in actions]
            if stable:  # or another check has something to say
                demand(found == alone, f"it said {found}, and alone {alone}")


async def _together(guard: PolicyGuard, actions: list[ToolAction]) -> list[object]:
    answers: dict[int, object] = {}

    async def decide(number: int) -> None:
        answers[number] = await _answer(guard, actions[number])

    async with anyio.create_task_group() as tasks:
        for number in range(len(actions)):
            tasks.start_soon(decide, number)
    return [answers[number] for number in range(len(actions))]


async def _answer(guard: PolicyGuard, action: ToolAction) -> object:
    try:
        return await guard.evaluate(action)
    except Exception as error:  # noqa: BLE001 - compared with what it does alone
        return repr(error)


@check
async def an_explanation_agrees_with_the_decision(make: Make) -> None:
    """A guard that can explain itself would do what it says; one that cannot need not."""
    async with _asked(make, MemoryStore()) as (stage, actions):
        for guard in stage.subjects(POLICY_GUARDS):
            for action in actions:
                if isinstance(guard, ExplainingGuard):
                    told, done = guard.explain(action).decision, await guard.evaluate(action)
                    demand(told == done, f"it explains {told} and decides {done}")


@check
async def a_question_that_is_cancelled_ends(make: Make) -> None:
    """The cancellation of the Run is let pass."""
    async with _asked(make, MemoryStore()) as (stage, actions):
        for guard in stage.subjects(POLICY_GUARDS):
            await expect_end_when_cancelled(partial(guard.evaluate, actions[0]))


POLICY_GUARD_SUITE: Suite[Make] = Suite(
    "policy.guard/v1",
    (
        every_call_gets_a_decision,
        the_same_call_gets_the_same_decision,
        calls_at_the_same_time_do_not_disturb_each_other,
        an_explanation_agrees_with_the_decision,
        a_question_that_is_cancelled_ends,
    ),
)
