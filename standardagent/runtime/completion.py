"""The completion boundary: the model asks for nothing more. Does the Run end?

Messages that wait to join come first, then what agent hooks propose, and only if nothing else keeps
the Run going are the completion gates asked.
"""

from collections.abc import Sequence

from agentslot.session import Change, Enqueue, ErrorKind, Message, QueueItem, read_history
from agentslot.standardagent.loop import LoopState
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
    """
    hooks = run.owner.components.hooks
    if await _goes_on(run):
        return LoopState.CONTINUE_READY
    if hooks.agent_hooks and await _goes_on(run, await proposals(run)):
        return LoopState.CONTINUE_READY
    if not hooks.completion_gates or run.cancel_requested:
        return LoopState.COMPLETED
    gates = CompletionGates(run, message, run.owner.components.ids.step())
    return await gates.decide() or await complete(run, message)


async def resume_completion(run: Run) -> LoopState:
    """Go on with the completion gates among which an earlier process ended.

    Raises:
        HookInterruption: a gate failed, or other gates were recorded.
    """
    state = run.owner.state
    recorded = recorded_gates(state)
    asked = recorded[0].invocation
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
    gates = CompletionGates(run, message, asked.target_step_id)
    return await gates.decide(recorded) or await complete(run, message)


async def _goes_on(run: Run, proposed: Sequence[QueueItem] = ()) -> bool:
    """Take messages that wait to join into the next step; if there are none, those proposed."""
    owner = run.owner
    async with owner.lock:
        steers = run.steers()
        items = steers or proposed
        if not items:
            return False
        step_id = owner.components.ids.step()
        changes: list[Change] = [] if steers else [Enqueue(item) for item in items]
        await owner.commit_in_shield("follow-on", [*changes, *run.taking(items, step_id)])
        run.enter_step(step_id)
    return True
