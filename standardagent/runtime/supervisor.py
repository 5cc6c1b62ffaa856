"""The supervisor of a Run: lets the loop drive it, and ends it in one commit whatever happens."""

import logging
from collections.abc import Sequence
from contextlib import suppress

import anyio

from agentslot._failures import is_failure
from agentslot.interaction import RunFinished
from agentslot.session import (
    Actor,
    ActorKind,
    AppendAttempt,
    AppendRun,
    AppendToolResult,
    AttemptStatus,
    Change,
    ClassifiedError,
    Delivery,
    ErrorKind,
    JournalEntry,
    JournalStatus,
    ModelAttempt,
    ReclassifyQueued,
    RevisionConflictError,
    RunFact,
    RunStatus,
    RunTermination,
    TerminationSource,
    ToolCall,
    ToolResult,
    ToolStatus,
)
from agentslot.session.rules.extensions import OF_A_RUN
from agentslot.session.settlement import abandoned
from agentslot.standardagent.loop import Outcome
from agentslot.standardagent.runtime.driver import RunDriver
from agentslot.standardagent.runtime.owner import SessionOwner
from agentslot.standardagent.runtime.prepare import FixedParts
from agentslot.standardagent.runtime.run import Run
from agentslot.standardagent.runtime.start import next_start

log = logging.getLogger(__name__)

_STATUS = {
    Outcome.COMPLETED: RunStatus.COMPLETED,
    Outcome.FAILED: RunStatus.FAILED,
    Outcome.CANCELED: RunStatus.CANCELED,
    Outcome.BUDGET_EXCEEDED: RunStatus.INTERRUPTED,
    Outcome.WAITING: RunStatus.INTERRUPTED,
}

_DEFAULT_TERMINATION = {
    Outcome.FAILED: RunTermination(
        TerminationSource.LOOP, ErrorKind.INTERNAL, "loop_failed", "the agent loop gave up"
    ),
    Outcome.CANCELED: RunTermination(
        TerminationSource.RUNTIME, ErrorKind.CANCELED, "canceled", "the run was canceled"
    ),
    Outcome.BUDGET_EXCEEDED: RunTermination(
        TerminationSource.BUDGET, ErrorKind.UNAVAILABLE, "budget_exceeded", "a budget is used up"
    ),
    Outcome.WAITING: RunTermination(
        TerminationSource.LOOP, ErrorKind.UNAVAILABLE, "run_waiting", "the agent loop waits"
    ),
}


async def supervise(
    run: Run, parts: FixedParts, prepared: Sequence[ToolCall] = (), *, completing: bool = False
) -> None:
    """Drive a Run to its durable end, and every Run that follows it from the queue.

    It is called in a shielded scope: a Run is cancelled through its own, and its end recorded. A
    fault of the Runtime itself, or a loop or an executor that leaves a cancel scope open, closes
    this Session and leaves the others alone.
    """
    try:
        current: Run | None = run
        driver = RunDriver(run, parts, tuple(prepared), completing=completing)
        while current is not None:
            outcome = await _drive(current, driver)
            if current.left:
                break
            current = await _finish(current, outcome)
            if current is not None:
                driver = RunDriver(current, parts)
        if run.owner.stopping:
            run.owner.close()
    except Exception:
        log.exception("the Runtime failed; Session %s is closed", run.owner.id)
        _give_up(run)
    except BaseException:  # the process is to end, and whoever stops the application waits for us
        _give_up(run)
        raise


def _give_up(run: Run) -> None:
    run.prepared.set()
    run.owner.close()


async def _drive(run: Run, driver: RunDriver) -> Outcome:
    loop = run.owner.components.loop
    returned: Outcome | None = None
    try:
        with run.scope:
            try:
                returned = await loop.run(driver)
            except anyio.get_cancelled_exc_class():
                if run.cancel_requested:
                    raise
                _loop_failed(run, "it cancelled itself")
            except BaseException as error:
                if not is_failure(error):
                    raise
                log.exception("the agent loop failed in Run %s", run.id)
                _loop_failed(run, "its log entry has the cause")
    except ExceptionGroup:  # what the scope leaves of one when it takes its cancellations out
        log.exception("the agent loop failed in Run %s while it was cancelled", run.id)
    driver.revoke()
    if run.acting:
        driver.violation("it returned while an action was in flight")
        await run.abandon()
    if run.canceled:
        return Outcome.CANCELED
    if returned is None or returned is not driver.outcome:
        driver.violation("it did not return the outcome that it finished the Run with")
    return Outcome.FAILED if returned is None or driver.violated else returned


def _loop_failed(run: Run, detail: str) -> None:
    run.terminate(
        TerminationSource.LOOP,
        ErrorKind.INTERNAL,
        "loop_failed",
        f"the agent loop failed: {detail}",
    )


async def _finish(run: Run, outcome: Outcome) -> Run | None:
    """Record the end, and the start of the next queued Run in the same commit; returns that Run."""
    owner = run.owner
    async with owner.lock:
        if run.canceled:
            outcome = Outcome.CANCELED  # it came while this end waited for the lock
        termination = _termination(run, outcome)
        status = _STATUS[outcome]
        if termination is not None and termination.source is TerminationSource.EXTENSION:
            status = RunStatus.INTERRUPTED
        changes = _leftovers(run)
        if termination is not None:
            changes.extend(
                ReclassifyQueued(item.message.id, Delivery.HELD) for item in run.steers()
            )
        end = RunFact(run.id, status, run.config, run.config_revision, termination)
        changes.append(AppendRun(end))
        goes_on = outcome is Outcome.COMPLETED and not owner.stopping
        following = next_start(owner) if goes_on else None
        if following is not None:
            changes.extend(following.changes)
        try:
            await owner.commit_in_shield("run-finish", changes, _actor(run, outcome))
        except RevisionConflictError:
            # Another process has it: a recovery here would interrupt the Run that goes on there.
            log.exception("Session %s has moved on without Run %s; it is closed", owner.id, run.id)
            owner.close()
            following = None
        except ClassifiedError:
            log.exception("the end of Run %s could not be recorded", run.id)
            await _settle(owner)
            following = None
        if following is None:
            owner.run = None
    run.prepared.set()
    if owner.hub.listening:
        message = termination.message if termination is not None else ""
        owner.hub.publish(RunFinished(run.origin, owner.hub.next_sequence(), status, message))
    return None if following is None else following.begun(owner)


def _termination(run: Run, outcome: Outcome) -> RunTermination | None:
    if outcome is Outcome.COMPLETED:
        return None
    if outcome is Outcome.CANCELED or run.termination is None:
        return _DEFAULT_TERMINATION[outcome]
    return run.termination


def _leftovers(run: Run) -> list[Change]:
    """Ends for what a failed component left open: attempts, calls without result, hooks."""
    owner = run.owner
    active = owner.state.active_run
    changes: list[Change] = []
    for attempt_id in active.open_attempts if active is not None else ():
        start = owner.state.history.attempt_start(attempt_id)
        lost = ModelAttempt(
            attempt_id,
            run.id,
            # Its executor may have said nothing of its end, many steps ago.
            run.step_id if start is None or start.step_id is None else start.step_id,
            AttemptStatus.OUTCOME_UNKNOWN,
            run.config.provider,
            run.config.model,
            error_code="attempt_abandoned",
        )
        changes.append(AppendAttempt(lost))
    for invocation in owner.state.extensions.open.values():
        if invocation.invocation.boundary in OF_A_RUN:
            changes.extend(abandoned(invocation))
    changes.extend(AppendToolResult(_lost(entry)) for entry in owner.state.journal.values())
    return changes


def _lost(entry: JournalEntry) -> ToolResult:
    """The result of a call whose own result could not be recorded, or that nobody came to run."""
    call = entry.call
    if entry.status is JournalStatus.PENDING:
        return ToolResult(call.id, ToolStatus.OUTCOME_UNKNOWN)
    text = f"{call.name} was not run: the run ended before"
    return ToolResult.failed(call.id, "tool_batch_aborted", text)


def _actor(run: Run, outcome: Outcome) -> Actor | None:
    if outcome is Outcome.COMPLETED:
        return Actor(ActorKind.AGENT, run.owner.state.agent)
    return run.canceled_by if outcome is Outcome.CANCELED else None


async def _settle(owner: SessionOwner) -> None:
    """After a lost end: go on only if the store has it after all, else close the Session here.

    If another process has written meanwhile the Session is its to recover.
    """
    store, settled = owner.components.store, owner.state
    try:
        with suppress(ClassifiedError):  # a store in doubt answers only when it recovers
            settled = (await store.load(owner.id)).state
        if settled.revision == owner.state.revision:
            settled = (await store.recover(owner.id)).state
    except ClassifiedError:
        log.exception("Session %s could not be recovered; it is closed", owner.id)
        owner.close()
        return
    owner.adopt(settled)
    if settled.active_run is not None:
        owner.close()
