"""The referee of loops: ours pass, and each of its checks finds what it is for."""

from collections.abc import Callable

import anyio
import pytest

from agentslot import _conformance
from agentslot.standardagent import Action, AgentLoop, LoopState, Outcome, RunHandle, StandardLoop
from agentslot.standardagent.conformance import AGENT_LOOP_SUITE
from agentslot.standardagent.loop.contract import TERMINAL
from examples.planning import PlanFirst
from tests.standardagent.conformance.judging import broken_rules

NEXT = {
    LoopState.READY_FOR_MODEL: Action.REQUEST_MODEL,
    LoopState.TOOLS_READY: Action.EXECUTE_TOOLS,
    LoopState.CONTINUE_READY: Action.CONTINUE,
}


@pytest.mark.parametrize("loop", [StandardLoop, PlanFirst])
async def test_our_loops_conform(loop: Callable[[], AgentLoop]) -> None:
    await AGENT_LOOP_SUITE.check(loop)


class Wrong:
    """The standard loop with one mistake: what it does where its last action led to a state."""

    def __init__(self, action: Action, state: LoopState) -> None:
        self._mistake = (action, state)

    async def run(self, run: RunHandle) -> Outcome:
        state = run.state
        while state not in TERMINAL:
            action = NEXT[state]
            state = await run.act(action)
            if (action, state) == self._mistake:
                return await self.err(run, state)
        return await run.finish(TERMINAL[state])

    async def err(self, run: RunHandle, state: LoopState) -> Outcome:
        if state in TERMINAL:
            await run.act(Action.REQUEST_MODEL)
        return await run.finish(Outcome.COMPLETED)


class FromTheBeginning(StandardLoop):
    async def run(self, run: RunHandle) -> Outcome:
        await run.act(Action.REQUEST_MODEL)
        return await super().run(run)


class Lazy:
    async def run(self, run: RunHandle) -> Outcome:
        await anyio.sleep_forever()
        raise AssertionError


async def test_a_component_that_never_ends_fails_when_its_time_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_conformance, "CHECK_SECONDS", 0.0)
    found = await broken_rules(AGENT_LOOP_SUITE, Lazy)
    assert set(found.values()) == {"it did not end within 0 seconds"}


class OneRunOnly:
    """Keeps its Run where the next one puts its own."""

    async def run(self, run: RunHandle) -> Outcome:
        self._run = run
        while self._run.state not in TERMINAL:
            await self._run.act(NEXT[self._run.state])
        return await self._run.finish(TERMINAL[self._run.state])


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (
            lambda: Wrong(Action.EXECUTE_TOOLS, LoopState.CONTINUE_READY),
            "every_call_is_made_once_and_its_result_is_shown",
        ),
        (
            lambda: Wrong(Action.REQUEST_MODEL, LoopState.CONTINUE_READY),
            "a_run_that_is_sent_on_goes_on",
        ),
        (
            lambda: Wrong(Action.EXECUTE_TOOLS, LoopState.COMPLETED),
            "a_batch_that_ends_the_run_ends_it",
        ),
        (lambda: Wrong(Action.REQUEST_MODEL, LoopState.FAILED), "a_model_that_fails_ends_the_run"),
        (
            lambda: Wrong(Action.REQUEST_MODEL, LoopState.BUDGET_EXCEEDED),
            "a_budget_that_is_used_up_ends_the_run",
        ),
        (lambda: Wrong(Action.REQUEST_MODEL, LoopState.CANCELED), "a_run_can_be_cancelled"),
        (lambda: Wrong(Action.EXECUTE_TOOLS, LoopState.CANCELED), "a_run_can_be_cancelled"),
        (FromTheBeginning, "calls_that_wait_after_a_crash_are_made"),
        (OneRunOnly, "runs_at_the_same_time_do_not_disturb_each_other"),
    ],
)
async def test_a_broken_loop_fails_the_check_that_is_for_it(
    make: Callable[[], object], rule: str
) -> None:
    assert list(await broken_rules(AGENT_LOOP_SUITE, make)) == [rule]
