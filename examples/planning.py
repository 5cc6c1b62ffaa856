"""A loop that plans first: the model writes a plan, and only then gets to work on it.

A context source asks for the plan, and a hook at its natural end sends the model on.
"""

from collections.abc import Sequence

from agentslot import Module
from agentslot.session import MessageInput, RunId
from agentslot.standardagent import (
    AGENT_LOOP,
    CONTEXT_SOURCES,
    Action,
    ContextInput,
    LoopState,
    Outcome,
    RunHandle,
)
from agentslot.standardagent.hook import AGENT_HOOKS, AgentHookView

PLAN = MessageInput.of("First write a short numbered plan. Call no tools yet.")
GO_ON = MessageInput.of("Good. Now carry out your plan, step by step.")

_ENDS = (LoopState.COMPLETED, LoopState.FAILED, LoopState.CANCELED, LoopState.BUDGET_EXCEEDED)


class PlanFirst:
    """Loop, context source and hook in one: they share which Runs are still planning."""

    key = "plan-first"

    def __init__(self) -> None:
        self._planning = set[RunId]()

    async def run(self, run: RunHandle) -> Outcome:
        """Plan in the first step, then act until nothing is left to do."""
        state = run.state
        if state is LoopState.READY_FOR_MODEL:  # after a crash, calls may be left to make first
            self._planning.add(run.run_id)
            try:
                state = await run.act(Action.REQUEST_MODEL)
            finally:
                self._planning.discard(run.run_id)
        while state not in _ENDS:
            action = Action.EXECUTE_TOOLS if state is LoopState.TOOLS_READY else Action.CONTINUE
            ready = state is LoopState.READY_FOR_MODEL
            state = await run.act(Action.REQUEST_MODEL if ready else action)
        return await run.finish(Outcome(state))

    async def contribute(self, context: ContextInput) -> Sequence[MessageInput]:
        """Ask for the plan, in the first step only."""
        return [PLAN] if context.run_id in self._planning else []

    async def before_run_complete(self, view: AgentHookView) -> Sequence[MessageInput]:
        """The plan is there: let the Run go on instead of completing."""
        return [GO_ON] if view.run_id in self._planning else []


def planning_module() -> Module:
    """Put it into an application beside the other modules."""
    plan = PlanFirst()
    contributions = (AGENT_LOOP.set(plan), CONTEXT_SOURCES.append(plan), AGENT_HOOKS.append(plan))
    return Module("example.planning", *contributions)
