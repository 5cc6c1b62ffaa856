"""The Run in the hands of its loop: every action checked against the table, then done.

A cancellation does not reach an action as such, only the interruptible work inside it (the model's
answer, a guard, a tool); what came of that is recorded in any case.
"""

from agentslot.session import (
    ClassifiedError,
    ErrorKind,
    RunId,
    SessionId,
    TerminationSource,
    ToolCall,
)
from agentslot.standardagent.loop import Action, LoopState, Outcome
from agentslot.standardagent.loop.contract import FINISHABLE, TERMINAL, TRANSITIONS
from agentslot.standardagent.runtime.completion import resume_completion
from agentslot.standardagent.runtime.modelstep import ModelStep
from agentslot.standardagent.runtime.prepare import FixedParts
from agentslot.standardagent.runtime.run import Run
from agentslot.standardagent.runtime.toolbatch import ToolBatch


class LoopProtocolError(ClassifiedError):
    """A loop asked for something that is not legal where its Run stands."""

    def __init__(self, what: str) -> None:
        super().__init__(ErrorKind.INTERNAL, "loop_protocol_violation", f"agent loop: {what}")


class RunDriver:
    """The RunHandle of one Run.

    Args:
        run: the Run.
        parts: what all requests have in common.
        prepared: calls that an earlier process recorded and did not run.
        completing: whether an earlier process ended while completion gates were asked.

    Attributes:
        outcome: what the loop has finished the Run with.
        violated: whether the loop has asked for something that was not legal.
    """

    def __init__(
        self,
        run: Run,
        parts: FixedParts,
        prepared: tuple[ToolCall, ...] = (),
        *,
        completing: bool = False,
    ) -> None:
        self._completing = completing
        self._run = run
        self._parts = parts
        self._batch = ToolBatch(run, prepared, resumed=True) if prepared else None
        self._state: LoopState = LoopState.TOOLS_READY if prepared else LoopState.READY_FOR_MODEL
        self._over = False
        self.outcome: Outcome | None = None
        self.violated = False

    @property
    def session_id(self) -> SessionId:
        """The Session that the Run belongs to."""
        return self._run.owner.id

    @property
    def run_id(self) -> RunId:
        """The Run."""
        return self._run.id

    @property
    def state(self) -> LoopState:
        """Where the Run stands now."""
        return self._state

    def revoke(self) -> None:
        """The loop has returned: the handle does nothing any more."""
        self._over = True

    async def act(self, action: Action, *, then: Action | None = None) -> LoopState:
        """Do one thing; see RunHandle."""
        self._check_alive()
        if action not in TRANSITIONS.get(self._state, {}):
            raise self.violation(f"{action} is not legal in state {self._state}")
        self._run.begin_action()
        try:
            self._state = await self._do(action, then)
            if then is not None and then in TRANSITIONS.get(self._state, {}):
                self._state = await self._do(then)
        except ClassifiedError as error:
            self._run.terminate(TerminationSource.SESSION, error.kind, error.code, error.message)
            self._state = LoopState.FAILED
        finally:
            self._run.end_action()
        return self._state

    async def _do(self, action: Action, then: Action | None = None) -> LoopState:
        if self._run.owner.state.history.stored:
            await self._run.owner.look_back()
        match action:
            case Action.REQUEST_MODEL:
                if self._completing:
                    self._completing = False
                    return await resume_completion(self._run)
                step = ModelStep(self._run, self._parts, begins=then is Action.EXECUTE_TOOLS)
                state = await step.request()
                self._batch = step.batch
                return state
            case Action.EXECUTE_TOOLS:
                batch, self._batch = self._batch, None
                assert batch is not None  # there is one wherever this action is legal
                return await batch.execute()
            case Action.CONTINUE:
                return LoopState.READY_FOR_MODEL
            case Action.WAIT:
                return LoopState.WAITING

    async def finish(self, outcome: Outcome) -> Outcome:
        """End the Run; see RunHandle."""
        self._check_alive()
        if self._state in TERMINAL:
            legal = outcome is TERMINAL[self._state]
        else:
            legal = outcome in FINISHABLE and self._state is not LoopState.TOOLS_READY
        if not legal:
            raise self.violation(f"the Run cannot finish as {outcome} in state {self._state}")
        self.outcome = outcome
        return outcome

    def _check_alive(self) -> None:
        if self._over:
            raise self.violation("it acted after it had returned")
        if self._run.acting:
            raise self.violation("it acted while another action was in flight")
        if self.outcome is not None:
            raise self.violation("it acted after it had finished the Run")

    def violation(self, what: str) -> LoopProtocolError:
        """Note that the loop broke the protocol, which fails the Run; the error that says so."""
        self.violated = True
        error = LoopProtocolError(what)
        self._run.terminate(TerminationSource.LOOP, error.kind, error.code, error.message)
        return error
