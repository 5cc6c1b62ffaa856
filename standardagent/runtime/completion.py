"""The completion boundary: the model asks for nothing more, or all tools of its last batch have
voted for the end. Does the Run end?

Messages that wait to join come first, then the goal. Without one, agent hooks may propose something
to go on with. Only if nothing else keeps the Run going are the completion gates asked; that a goal
is met becomes true when they all agree.
"""

from collections.abc import Sequence

from agentslot.session import (
    Change,
    Delivery,
    Enqueue,
    ErrorKind,
    Goal,
    GoalReference,
    Message,
    QueueItem,
    Role,
    TextPart,
    read_history,
)
from agentslot.standardagent.goal.contract import GoalDecision, GoalEvaluation
from agentslot.standardagent.loop import LoopState
from agentslot.standardagent.runtime.goals import active_goal, decision_recorded, evaluated
from agentslot.standardagent.runtime.hooks.agenthooks import proposals
from agentslot.standardagent.runtime.hooks.completion import CompletionGates, recorded_gates
from agentslot.standardagent.runtime.hooks.interrupting import interruption
from agentslot.standardagent.runtime.run import Run


async def complete(run: Run, message: Message) -> LoopState:
    """Let the Run complete, or go on in another step.

    Args:
        run: the active Run.
        message: what the model has said last.

    Raises:
        HookInterruption: a completion gate failed.
        ClassifiedError: the goal store failed.
    """
    while True:
        state = await _decided(run, message)
        if state is not None:
            return state


async def resume_completion(run: Run) -> LoopState:
    """Go on with the completion gates among which an earlier process ended.

    Raises:
        HookInterruption: a gate failed, or other gates were recorded.
        ClassifiedError: the goal store failed.
    """
    state = run.owner.state
    gates = recorded_gates(state)
    asked = gates[0].invocation
    message = (
        await read_history(state.history, state.history.message, asked.message_id)
        if asked.message_id
        else None
    )
    if message is None or asked.target_step_id is None:
        raise interruption(
            run,
            ErrorKind.INTERNAL,
            "completion_gate_state_invalid",
            "the message that the completion gates were asked about is not there",
        )
    resumed = CompletionGates(run, message, asked.target_step_id, asked.goal)
    return await resumed.decide(gates) or await complete(run, message)


async def _decided(run: Run, message: Message) -> LoopState | None:
    """What comes next; None if something has come up meanwhile, and all is to be looked at anew."""
    components = run.owner.components
    if await _goes_on(run):
        return LoopState.CONTINUE_READY
    met: GoalReference | None = None
    goal = await active_goal(run)
    if goal is not None:
        evaluation = await evaluated(run, goal)
        if evaluation is None:
            return run.cut_short()
        if evaluation.decision is not GoalDecision.DONE or not components.hooks.completion_gates:
            return await _carried_out(run, goal, evaluation)
        met = goal.reference
    elif components.hooks.agent_hooks and await _goes_on(run, await proposals(run)):
        return LoopState.CONTINUE_READY
    if not components.hooks.completion_gates or run.cancel_requested:
        return LoopState.COMPLETED
    gates = CompletionGates(run, message, components.ids.step(), met)
    return await gates.decide()


async def _carried_out(run: Run, goal: Goal, evaluation: GoalEvaluation) -> LoopState | None:
    """Do what was judged, unless a message has come in or the goal has changed meanwhile."""
    owner = run.owner
    async with owner.lock:
        if run.cancel_requested:
            return LoopState.CANCELED
        if run.steers():
            return None
        now = owner.components.now()
        if not await decision_recorded(run, goal.reference, evaluation, now):
            return None
        if evaluation.decision is not GoalDecision.CONTINUE:
            return LoopState.COMPLETED
        instruction = (TextPart(evaluation.next_instruction),)
        message = Message(owner.components.ids.message(), Role.USER, instruction, now)
        await _take(run, [QueueItem(message, Delivery.STEER)], proposed=True)
    return LoopState.CONTINUE_READY


async def _goes_on(run: Run, proposed: Sequence[QueueItem] = ()) -> bool:
    """Take messages that wait to join into the next step; if there are none, those proposed."""
    async with run.owner.lock:
        steers = run.steers()
        items = steers or proposed
        if not items:
            return False
        await _take(run, items, proposed=not steers)
    return True


async def _take(run: Run, items: Sequence[QueueItem], *, proposed: bool) -> None:
    """Go on to the next step with these messages; the lock is held."""
    owner = run.owner
    step_id = owner.components.ids.step()
    changes: list[Change] = [Enqueue(item) for item in items] if proposed else []
    await owner.commit_in_shield("follow-on", [*changes, *run.taking(items, step_id)])
    run.enter_step(step_id)
