"""The protocol between a loop and the Run that it drives.

A loop decides what comes next; the Runtime does it, keeps it durable and holds the limits. Which
action is legal in which state stands in `TRANSITIONS`, and so do the states it may lead to.
"""

from enum import StrEnum
from typing import Protocol

from agentslot import One
from agentslot.session import RunId, SessionId


class LoopState(StrEnum):
    """Where a Run stands."""

    READY_FOR_MODEL = "ready_for_model"
    TOOLS_READY = "tools_ready"
    CONTINUE_READY = "continue_ready"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"
    BUDGET_EXCEEDED = "budget_exceeded"
    WAITING = "waiting"


class Action(StrEnum):
    """What a loop may ask for."""

    REQUEST_MODEL = "request_model"
    EXECUTE_TOOLS = "execute_tools"
    CONTINUE = "continue"
    WAIT = "wait"


class Outcome(StrEnum):
    """How a Run ends."""

    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"
    BUDGET_EXCEEDED = "budget_exceeded"
    WAITING = "waiting"


TERMINAL = {
    LoopState.COMPLETED: Outcome.COMPLETED,
    LoopState.FAILED: Outcome.FAILED,
    LoopState.CANCELED: Outcome.CANCELED,
    LoopState.BUDGET_EXCEEDED: Outcome.BUDGET_EXCEEDED,
    LoopState.WAITING: Outcome.WAITING,
}
"""The outcome that each terminal state ends in."""

TRANSITIONS: dict[LoopState, dict[Action, frozenset[LoopState]]] = {
    LoopState.READY_FOR_MODEL: {
        Action.REQUEST_MODEL: frozenset(
            {
                LoopState.TOOLS_READY,
                LoopState.CONTINUE_READY,
                LoopState.COMPLETED,
                LoopState.FAILED,
                LoopState.CANCELED,
                LoopState.BUDGET_EXCEEDED,
            }
        ),
        Action.WAIT: frozenset({LoopState.WAITING}),
    },
    LoopState.TOOLS_READY: {
        Action.EXECUTE_TOOLS: frozenset(
            {
                LoopState.CONTINUE_READY,
                LoopState.COMPLETED,
                LoopState.FAILED,
                LoopState.CANCELED,
                LoopState.BUDGET_EXCEEDED,
            }
        ),
    },
    LoopState.CONTINUE_READY: {
        Action.CONTINUE: frozenset({LoopState.READY_FOR_MODEL}),
        Action.WAIT: frozenset({LoopState.WAITING}),
    },
}
"""Legal actions by state, with the states that each may lead to. Terminal states allow none."""

FINISHABLE = frozenset({Outcome.COMPLETED, Outcome.FAILED})
"""Outcomes that a loop may choose by itself, from ready_for_model and continue_ready."""


class RunHandle(Protocol):
    """A Run in the hands of its loop. Actions are sequential; the handle dies with `run`."""

    @property
    def session_id(self) -> SessionId:
        """The Session that the Run belongs to."""
        ...

    @property
    def run_id(self) -> RunId:
        """The Run."""
        ...

    @property
    def state(self) -> LoopState:
        """Where the Run stands now."""
        ...

    async def act(self, action: Action, *, then: Action | None = None) -> LoopState:
        """Do one thing and return where the Run stands then.

        Args:
            action: what to do.
            then: what to do right behind it, if that is legal where the Run stands then. A loop
                that says `request_model` and then `execute_tools` has the answer and the beginning
                of its calls recorded in one commit. If the process ends in this very moment, their
                outcome counts as unknown; calls that wait for their loop are resumed instead.

        Raises:
            LoopProtocolError: the action is not legal now; the Run fails.
        """
        ...

    async def finish(self, outcome: Outcome) -> Outcome:
        """End the Run: in a terminal state with the outcome that belongs to it, before that with
        `completed` or `failed`. Nothing may follow.

        Raises:
            LoopProtocolError: the outcome is not legal now; the Run fails.
        """
        ...


class AgentLoop(Protocol):
    """Drives one Run from its first action to its outcome."""

    async def run(self, run: RunHandle, /) -> Outcome:
        """Act until the Run is finished; return the outcome that was given to `finish`.

        An exception fails the Run. When cancelled, let the cancellation pass.
        """
        ...


AGENT_LOOP = One[AgentLoop]("agent.loop")
