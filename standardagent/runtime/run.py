"""One Run in progress: what its parts share while it lasts."""

from collections.abc import Sequence
from typing import Protocol

import anyio

from agentslot.interaction import Origin
from agentslot.model import TokenBudget
from agentslot.session import (
    Actor,
    AppendMessage,
    Change,
    ConsumeQueued,
    Delivery,
    ErrorKind,
    Message,
    ModelConfig,
    OutputFormat,
    QueueItem,
    RunId,
    RunTermination,
    StepId,
    TerminationSource,
    safe_line,
)
from agentslot.session.state import ActiveRun
from agentslot.standardagent.loop import LoopState
from agentslot.standardagent.runtime.hooks.contexts import consume_waiting, waiting_for_messages
from agentslot.standardagent.runtime.owner import SessionOwner


class Interruptible(Protocol):
    """Work that can be cut short."""

    def cancel(self) -> None:
        """Cut it short; it may be over already."""
        ...


class Run:
    """Identity, position and fate of the active Run of a Session.

    Attributes:
        output: the form that the final answer must have, if one was asked for.
        cancel_requested: whether it is to end, because it is canceled or its loop has gone away.
        canceled: whether somebody has canceled it.
        awaits_approval: whether a person is asked about a call, and nothing else is going on.
        left: whether this process lets go of it as it is; another goes on with it.
        follow_ons: how often completion gates have made it go on.
    """

    def __init__(
        self,
        owner: SessionOwner,
        active: ActiveRun,
        step_id: StepId,
        output: OutputFormat | None,
    ) -> None:
        self.owner = owner
        self.id: RunId = active.id
        self.config: ModelConfig = active.config
        self.config_revision = active.config_revision
        self.output = output
        self.scope = anyio.CancelScope()
        self._work: Interruptible = self.scope
        self._acting = False
        self._action_over: anyio.Event | None = None
        self.prepared = anyio.Event()
        self.canceled_by: Actor | None = None
        self.cancel_requested = False
        self.canceled = False
        self.awaits_approval = False
        self.left = False
        self.termination: RunTermination | None = None
        self.follow_ons = 0
        self.enter_step(step_id)

    def enter_step(self, step_id: StepId) -> None:
        """Go on to a step; its id is durable by now or becomes so with the next commit."""
        self.step_id = step_id
        self.origin = Origin(self.owner.id, self.id, step_id)

    def cancel(self, actor: Actor | None) -> None:
        """Ask the Run to end as canceled.

        An action in flight is cut short where it may be; its loop is cancelled when it is over.
        """
        self.canceled = True
        self.canceled_by = self.canceled_by or actor
        self._wind_down()

    def leave(self) -> bool:
        """Let go of the Run if it waits for an approval and may outlast this process.

        Its calls stay prepared. Says whether it did.
        """
        keeps = self.owner.components.config.keep_waiting_approvals
        if not keeps or not self.awaits_approval or self.cancel_requested:
            return False
        self.left = True
        self._wind_down()
        return True

    async def abandon(self) -> None:
        """Cut short the action that a loop has left behind, and wait until it is over."""
        self._action_over = anyio.Event()
        self._wind_down()
        await self._action_over.wait()

    def _wind_down(self) -> None:
        self.cancel_requested = True
        if self._acting:
            self._work.cancel()
        else:
            self.scope.cancel()

    @property
    def acting(self) -> bool:
        """Whether an action of the loop is in flight."""
        return self._acting

    def begin_action(self) -> None:
        """From here on a cancellation reaches interruptible work only."""
        self._acting = True

    def end_action(self) -> None:
        """What has happened is recorded; a cancellation that came meanwhile reaches the loop."""
        self._acting = False
        if self._action_over is not None:
            self._action_over.set()
        if self.cancel_requested:
            self.scope.cancel()

    def interruptible(self) -> anyio.CancelScope:
        """A scope for work that a cancellation may cut short."""
        scope = anyio.CancelScope()
        self.interrupts(scope)
        return scope

    def interrupts(self, work: Interruptible) -> None:
        """Let a cancellation reach this work, and no other any more."""
        self._work = work
        if self.cancel_requested:
            work.cancel()

    def terminate(
        self, source: TerminationSource, kind: ErrorKind, code: str, message: str
    ) -> None:
        """Note why the Run will not complete; the first reason stands."""
        if self.termination is None:
            self.termination = RunTermination(source, kind, code, safe_line(message))

    def cut_short(self) -> LoopState:
        """Where a Run stands whose model, or judge, gave no answer: by what it was stopped."""
        if self.cancel_requested:
            return LoopState.CANCELED
        limited = self.termination and self.termination.source is TerminationSource.BUDGET
        return LoopState.BUDGET_EXCEEDED if limited else LoopState.FAILED

    def budget(self) -> TokenBudget:
        """Tokens used of the Run's budget."""
        active = self.owner.state.active_run
        used = active.tokens if active is not None else 0
        return TokenBudget(self.owner.components.config.max_tokens_per_run, used)

    def steers(self) -> tuple[QueueItem, ...]:
        """Queued messages that want to join this Run at its next safe point."""
        return tuple(i for i in self.owner.state.queue if i.delivery is Delivery.STEER)

    def taking(self, items: Sequence[QueueItem], step_id: StepId) -> list[Change]:
        """The changes that take queued messages into a step of this Run."""
        return taking(self.owner, items, self.id, step_id)


def taking(
    owner: SessionOwner, items: Sequence[QueueItem], run_id: RunId, step_id: StepId
) -> list[Change]:
    """The changes that move queued messages into a Run's step, and behind them their contexts."""
    if not items:
        return []
    changes: list[Change] = []
    for item in items:
        queued = item.message
        changes.append(ConsumeQueued(queued.id, run_id))
        changes.append(
            AppendMessage(
                Message(
                    queued.id,
                    queued.role,
                    queued.parts,
                    queued.created_at,
                    run_id,
                    step_id,
                    queued.client_message_id,
                    output=queued.output,
                )
            )
        )
    waiting = waiting_for_messages(owner, [item.message.id for item in items])
    return changes + consume_waiting(owner, waiting, run_id, step_id)
