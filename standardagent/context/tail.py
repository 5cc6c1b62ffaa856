"""The compactor that keeps the end of a conversation and summarizes nothing."""

from agentslot import Module
from agentslot.session import Message, Role
from agentslot.standardagent.context.contract import CONTEXT_COMPACTOR, Compaction, ContextInput


class TailCompactor:
    """Keeps the newest turns that have at most so many elements together, and at least one turn.

    A turn begins with a user message, so no call is parted from its result.

    Args:
        max_inputs: messages, calls and results to keep at most.
    """

    def __init__(self, max_inputs: int) -> None:
        if max_inputs < 1:
            raise ValueError(f"max_inputs must be at least 1, not {max_inputs}")
        self._max_inputs = max_inputs

    async def compact(self, context: ContextInput) -> Compaction:
        """The newest beginning of a turn that keeps little enough, or the last turn."""
        kept_from = 0
        inputs = context.inputs
        for index in range(inputs.lasting - 1, -1, -1):  # what sources have added is no turn
            element = inputs[index]
            if isinstance(element, Message) and element.role is Role.USER:
                if kept_from and len(inputs) - index > self._max_inputs:
                    break
                kept_from = index
        return Compaction(kept_from)


def TailCompactorModule(max_inputs: int) -> Module:  # noqa: N802 - like the other modules
    """Keep the newest turns of a conversation that has grown too long."""
    return Module("context.tail", CONTEXT_COMPACTOR.set(TailCompactor(max_inputs)))
