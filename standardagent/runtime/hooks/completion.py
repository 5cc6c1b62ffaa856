"""Completion gates: a Run completes when all of them agree, and goes on if one has more to do."""

from collections.abc import Sequence
from functools import partial

from agentslot.session import (
    Change,
    ClassifiedError,
    ContextDisposition,
    ErrorKind,
    ExtensionBoundary,
    ExtensionDecision,
    ExtensionEffect,
    ExtensionEntry,
    ExtensionInvocation,
    GoalReference,
    InvocationId,
    InvocationSucceeded,
    Message,
    RunId,
    SessionState,
    StepId,
    TerminationSource,
)
from agentslot.standardagent.goal.contract import GoalEvaluation
from agentslot.standardagent.hook import (
    CompletionGate,
    CompletionGateResult,
    CompletionGateView,
    Link,
)
from agentslot.standardagent.loop import LoopState
from agentslot.standardagent.runtime.goals import decision_recorded
from agentslot.standardagent.runtime.hooks.chain import BoundaryPolicy, HookChain
from agentslot.standardagent.runtime.hooks.contexts import contribution
from agentslot.standardagent.runtime.hooks.interrupting import failure_of, interruption
from agentslot.standardagent.runtime.hooks.question import Asking, Question, reserve, restore
from agentslot.standardagent.runtime.run import Run

_SUPERSEDED = "completion_gate_superseded"
_GOAL_CHANGED = "completion_goal_version_changed"
_GOAL_LOST = "completion_goal_commit_failed"


def _policy(run: Run) -> BoundaryPolicy[CompletionGateResult]:
    return BoundaryPolicy(
        label="completion-gates",
        result=CompletionGateResult,
        answer=lambda result: InvocationSucceeded(
            ExtensionDecision(result.decision), result.reason, tuple(result.context)
        ),
        stopped="completion_gate_batch_aborted",
        canceled="completion_gate_canceled",
        lost="completion_gate_outcome_unknown",
        superseded=lambda: bool(run.steers()),
    )


class CompletionGates:
    """The gates of one natural completion.

    Args:
        run: the active Run, in the step that it would complete with.
        message: what the model has said last.
        next_step_id: the step in which the Run would go on.
        goal: the goal that was found to be met; it is completed when all gates agree.
    """

    def __init__(
        self,
        run: Run,
        message: Message,
        next_step_id: StepId,
        goal: GoalReference | None = None,
    ) -> None:
        self._run = run
        self._message = message
        self._next_step_id = next_step_id
        self._goal = goal
        self._askings = [self._asking(link) for link in run.owner.components.hooks.completion_gates]

    async def decide(self, recorded: Sequence[ExtensionEntry] = ()) -> LoopState | None:
        """Ask the gates, and let the Run complete or go on.

        Args:
            recorded: the questions that an earlier process recorded, if it did.

        Returns:
            What comes next; None if a message superseded the gates and has been withdrawn since,
            or if the goal is no longer the one that was found to be met.

        Raises:
            HookInterruption: a gate failed, other gates were recorded, or what became of the goal
                could not be recorded.
        """
        questions = self._restored(recorded) if recorded else await self._reserved()
        chain = HookChain(self._run.owner, _policy(self._run), questions)
        try:
            with self._run.interruptible():
                await chain.evaluate()
            if chain.over:
                return LoopState.CANCELED
            state = await self._finish(chain)
        except ClassifiedError as error:
            raise interruption(self._run, error.kind, error.code, error.message) from error
        if chain.failure is not None:
            raise failure_of(self._run, "a completion gate", chain.failure)
        return state

    def _asking(
        self, link: Link[CompletionGate, None]
    ) -> Asking[CompletionGateView, CompletionGateResult]:
        run, message, state = self._run, self._message, self._run.owner.state

        def view(invocation_id: InvocationId, revision: int) -> CompletionGateView:
            return CompletionGateView(
                invocation_id,
                state.id,
                state.agent,
                state.workspace,
                revision,
                run.id,
                run.step_id,
                self._next_step_id,
                message.id,
                message.parts,
                run.budget(),
                run.follow_ons,
                self._goal,
            )

        return Asking(
            link.descriptor,
            link.component.evaluate,
            view,
            partial(
                ExtensionInvocation,
                boundary=ExtensionBoundary.COMPLETION,
                run_id=run.id,
                step_id=run.step_id,
                target_step_id=self._next_step_id,
                message_id=message.id,
                goal=self._goal,
            ),
        )

    def _restored(self, recorded: Sequence[ExtensionEntry]) -> list[Question[CompletionGateResult]]:
        questions = restore(recorded, self._askings)
        if questions is None:
            raise interruption(
                self._run,
                ErrorKind.CONFLICT,
                "completion_gate_definition_mismatch",
                "the completion gates are not those that were asked before the restart",
            )
        return questions

    async def _reserved(self) -> list[Question[CompletionGateResult]]:
        owner = self._run.owner
        async with owner.lock:
            changes, questions = reserve(owner.state, owner.components.ids, self._askings)
            try:
                await owner.commit_in_shield("completion-gates-prepare", changes)
            except ClassifiedError as error:
                code, message = "completion_gate_prepare_failed", error.message
                raise interruption(self._run, error.kind, code, message) from error
        return questions

    async def _finish(self, chain: HookChain[CompletionGateResult]) -> LoopState | None:
        """Record how the chain ended, and with it what it makes of the Run."""
        run = self._run
        async with run.owner.lock:
            if chain.failure is not None:
                await chain.finish("failed", chain.stopped(chain.policy.stopped))
                return LoopState.FAILED
            steers = run.steers()
            if steers or chain.superseded:
                changes = chain.stopped(_SUPERSEDED)
                changes.extend(run.taking(steers, self._next_step_id))
                await chain.finish("superseded", changes)
                if not steers:
                    return None
            else:
                goes_on = self._contributions(chain)
                if not goes_on and self._goal is not None:
                    return await self._complete_goal(chain, self._goal)
                changes = chain.applied(ContextDisposition.CONSUMED)
                await chain.finish("applied", [*changes, *goes_on])
                if not goes_on:
                    return LoopState.COMPLETED
                run.follow_ons += 1
            run.enter_step(self._next_step_id)
        return LoopState.CONTINUE_READY

    async def _complete_goal(
        self, chain: HookChain[CompletionGateResult], goal: GoalReference
    ) -> LoopState | None:
        """All gates agree that the goal is met: first the goal says so, then the journal.

        What the gates said is durable before. So a restart in between finds nothing left to ask,
        and records the same decision again, which changes nothing.
        """
        run = self._run
        await chain.record_ends()
        entry = run.owner.state.extensions[chain.questions[0].sequence]
        try:
            completed = await decision_recorded(run, goal, GoalEvaluation.done(), entry.prepared_at)
        except ClassifiedError as error:
            await chain.finish("goal-lost", chain.stopped(_GOAL_LOST))
            run.terminate(TerminationSource.SESSION, error.kind, _GOAL_LOST, error.message)
            raise
        if not completed:
            await chain.finish("goal-changed", chain.stopped(_GOAL_CHANGED))
            return None
        changes = chain.applied(ContextDisposition.NONE)
        try:
            await chain.finish("applied", changes)
        except ClassifiedError:
            await self._apply_again(chain, changes)
        return LoopState.COMPLETED

    async def _apply_again(
        self, chain: HookChain[CompletionGateResult], changes: Sequence[Change]
    ) -> None:
        """The goal is completed and the journal could not say so: look what is stored, then retry.

        Raises:
            HookInterruption: it cannot be recorded.
        """
        owner = self._run.owner
        try:
            owner.adopt((await owner.components.store.load(owner.id)).state)
            await chain.finish("applied", changes)
        except ClassifiedError as error:
            code = "completion_goal_application_failed"
            raise interruption(self._run, error.kind, code, error.message) from error

    def _contributions(self, chain: HookChain[CompletionGateResult]) -> list[Change]:
        """What gates give the Run to go on with; nothing if it may complete."""
        run = self._run
        return [
            contribution(
                run.owner, question.invocation, question.answer.context, run.id, self._next_step_id
            )
            for question in chain.questions
            if question.answer is not None and question.answer.context
        ]


def recorded_gates(state: SessionState) -> list[ExtensionEntry]:
    """The questions of a completion at which an earlier process ended, oldest first."""
    found: list[ExtensionEntry] = []
    for entry in reversed(state.extensions):
        if entry.invocation.boundary is not ExtensionBoundary.COMPLETION:
            continue
        if not found and not entry.is_open:
            break
        if found and entry.invocation.step_id != found[0].invocation.step_id:
            break
        found.append(entry)
    return found[::-1]


def follow_ons(state: SessionState, run_id: RunId) -> int:
    """How often gates have made the Run go on already."""
    return len(
        {
            entry.invocation.step_id
            for entry in state.extensions
            if entry.invocation.run_id == run_id
            and entry.decision is ExtensionDecision.CONTINUE
            and entry.effect is ExtensionEffect.APPLIED
        }
    )
