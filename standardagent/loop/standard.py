"""The standard loop: ask the model, run what it asked for, go on until it asks for nothing."""

from agentslot import Module
from agentslot.standardagent.loop.contract import (
    AGENT_LOOP,
    TERMINAL,
    Action,
    LoopState,
    Outcome,
    RunHandle,
)

_NEXT = {
    LoopState.READY_FOR_MODEL: Action.REQUEST_MODEL,
    LoopState.TOOLS_READY: Action.EXECUTE_TOOLS,
    LoopState.CONTINUE_READY: Action.CONTINUE,
}


class StandardLoop:
    """Takes the one action that moves each state on."""

    async def run(self, run: RunHandle) -> Outcome:
        """Drive the Run to its natural end."""
        state = run.state
        while state not in TERMINAL:
            state = await run.act(_NEXT[state], then=Action.EXECUTE_TOOLS)
        return await run.finish(TERMINAL[state])


def StandardLoopModule() -> Module:  # noqa: N802 - reads like the other modules where it is used
    """The standard loop, as the default that an explicit one replaces."""
    return Module("standardagent.loop", AGENT_LOOP.set_default(StandardLoop()))
