"""The referee of `agent.hook/v1`: best effort, so nothing of it but the log says what is wrong."""

from collections.abc import Sequence
from functools import partial

import anyio

from agentslot import Module
from agentslot._conformance import Suite, check, demand
from agentslot.session import MessageInput
from agentslot.standardagent.conformance.asking import expect_end_when_cancelled
from agentslot.standardagent.conformance.hooks import CONFIG
from agentslot.standardagent.conformance.stage import Make, first, part, staged
from agentslot.standardagent.hook import AGENT_HOOKS, AgentHookView


class _Onlooker:
    """A hook that proposes nothing and remembers what it was shown."""

    def __init__(self) -> None:
        self.views: list[AgentHookView] = []

    async def before_run_complete(self, view: AgentHookView) -> Sequence[MessageInput]:
        """Propose nothing."""
        self.views.append(view)
        return ()


async def _complaints(make: Make, sessions: int) -> list[str]:
    """What the log has against the hook, when so many Sessions ask it at the same time."""
    async with staged(part(AGENT_HOOKS, make), config=CONFIG) as stage:
        stage.subjects(AGENT_HOOKS)
        async with anyio.create_task_group() as tasks:
            for session in [await stage.session() for _ in range(sessions)]:
                tasks.start_soon(session.send_and_wait, "call note")
        return stage.complaints


@check
async def it_proposes_messages_or_nothing(make: Make) -> None:
    """It fails at nothing that the Runtime asks, and every proposal is a message."""
    complaints = await _complaints(make, 1)
    demand(not complaints, first(complaints))


@check
async def runs_at_the_same_time_do_not_disturb_each_other(make: Make) -> None:
    """One hook is asked for all Sessions: it fails with others no more than alone."""
    alone, together = await _complaints(make, 1), await _complaints(make, 3)
    demand(bool(alone) or not together, first(together))


@check
async def a_question_that_is_cancelled_ends(make: Make) -> None:
    """The cancellation of the Run is let pass."""
    onlooker = _Onlooker()
    watching = Module("conformance.onlooker", AGENT_HOOKS.append(onlooker))
    async with staged(watching, part(AGENT_HOOKS, make), config=CONFIG) as stage:
        await (await stage.session()).send_and_wait("hello")
        for hook in stage.subjects(AGENT_HOOKS):
            await expect_end_when_cancelled(partial(hook.before_run_complete, onlooker.views[0]))


@check
async def a_run_comes_to_its_end(make: Make) -> None:
    """A hook that keeps Runs going stops at some time: only budgets stop it otherwise."""
    async with staged(part(AGENT_HOOKS, make), config=CONFIG) as stage:
        session = await stage.session()
        await session.send_and_wait("hello")
        ended = (await stage.last_run(session.id)).termination
        endless = ended is not None and ended.code == "model_attempt_limit"
        limit = CONFIG.max_model_attempts_per_run
        demand(not endless, f"after {limit} requests it still kept the Run going")


AGENT_HOOK_SUITE: Suite[Make] = Suite(
    "agent.hook/v1",
    (
        it_proposes_messages_or_nothing,
        runs_at_the_same_time_do_not_disturb_each_other,
        a_question_that_is_cancelled_ends,
        a_run_comes_to_its_end,
    ),
)
