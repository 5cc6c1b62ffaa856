"""The end of a batch whose tools have all voted for the end of the Run."""

from collections.abc import Sequence
from itertools import takewhile

from agentslot.session import History, MessageId, ToolCall, read_history
from agentslot.standardagent.loop import LoopState
from agentslot.standardagent.runtime.completion import complete
from agentslot.standardagent.runtime.run import Run


async def are_whole(run: Run, calls: Sequence[ToolCall]) -> bool:
    """Whether these are all calls of their message: none ended with the process that made it."""
    history = run.owner.state.history
    return await read_history(history, _calls_of, history, calls[0].message_id) == len(calls)


async def complete_behind(run: Run, calls: Sequence[ToolCall]) -> LoopState:
    """Let the Run complete behind the results of these calls, or go on in another step.

    Raises:
        HookInterruption: a completion gate failed.
        ClassifiedError: the goal store failed.
    """
    history = run.owner.state.history
    message = await read_history(history, history.message, calls[0].message_id)
    assert message is not None  # its calls stand behind it
    return await complete(run, message)


def _calls_of(history: History, message_id: MessageId) -> int:
    """How many calls a message has made; they follow it."""
    said = history.fact_about(("message", message_id))
    behind = range(len(history) if said is None else said.sequence, len(history))
    made = takewhile(lambda position: isinstance(history[position].payload, ToolCall), behind)
    return sum(1 for _ in made)
