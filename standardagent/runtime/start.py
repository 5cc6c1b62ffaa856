"""Starting a Run: one commit holds its start and the message that it begins with."""

from dataclasses import dataclass

from agentslot.session import (
    AppendMessage,
    AppendRun,
    Change,
    Delivery,
    Message,
    QueueItem,
    RunFact,
    RunId,
    RunStatus,
    StepId,
)
from agentslot.standardagent.runtime.hooks.contexts import consume_waiting, waiting_for_run
from agentslot.standardagent.runtime.hooks.inputgates import Admission
from agentslot.standardagent.runtime.owner import SessionOwner
from agentslot.standardagent.runtime.run import Run, taking


@dataclass(frozen=True, slots=True)
class RunStart:
    """A Run that begins with the commit of `changes`."""

    run_id: RunId
    step_id: StepId
    changes: tuple[Change, ...]

    def begun(self, owner: SessionOwner) -> Run:
        """The Run, once the commit has been applied."""
        active = owner.state.active_run
        assert active is not None
        assert active.id == self.run_id
        output = owner.state.history.wanted_output(active.id)
        run = Run(owner, active, self.step_id, output)
        owner.run = run
        return run


def start_with_message(owner: SessionOwner, message: Message, admission: Admission) -> RunStart:
    """Start with a message that was never queued; it must name no run yet."""
    run_id, step_id, start = _start(owner)
    placed = Message(
        message.id,
        message.role,
        message.parts,
        message.created_at,
        run_id,
        step_id,
        message.client_message_id,
        output=message.output,
    )
    contexts = [*admission.consumed(run_id, step_id), *_opening(owner, run_id, step_id)]
    return RunStart(run_id, step_id, (start, AppendMessage(placed), *contexts))


def start_with_queued(owner: SessionOwner, item: QueueItem) -> RunStart:
    """Start with a message from the queue."""
    run_id, step_id, start = _start(owner)
    taken = taking(owner, [item], run_id, step_id)
    return RunStart(run_id, step_id, (start, *taken, *_opening(owner, run_id, step_id)))


def next_start(owner: SessionOwner) -> RunStart | None:
    """The start that the queue asks for after a natural end.

    A steer that came too late for the Run that it was meant for begins the next one, together with
    no other; held messages wait for somebody to reclassify them.
    """
    waiting = (item for item in owner.state.queue if item.delivery is not Delivery.HELD)
    item = next(waiting, None)
    return None if item is None else start_with_queued(owner, item)


def _opening(owner: SessionOwner, run_id: RunId, step_id: StepId) -> list[Change]:
    """What hooks proposed when the Session was opened; the first Run after that shows it."""
    return consume_waiting(owner, waiting_for_run(owner), run_id, step_id)


def _start(owner: SessionOwner) -> tuple[RunId, StepId, AppendRun]:
    state, ids = owner.state, owner.components.ids
    run_id = ids.run()
    fact = RunFact(run_id, RunStatus.STARTED, state.model_config, state.revision)
    return run_id, ids.step(), AppendRun(fact)
