"""The attempt recorder: a physical request is a fact before its first byte is sent."""

from collections.abc import Callable

import anyio

from agentslot.interaction import PromptCacheLost
from agentslot.model import AttemptOutcome, CacheLoss, ModelRequest, TokenBudget
from agentslot.session import (
    AppendAttempt,
    AppendBudgetExceeded,
    AppendLimitExceeded,
    AttemptId,
    AttemptStatus,
    Change,
    ClassifiedError,
    ErrorKind,
    ModelAttempt,
    RunBudgetExceeded,
    RunLimit,
    RunLimitExceeded,
    TerminationSource,
    safe_line,
)
from agentslot.standardagent.runtime.attemptobservers import tell_finished, tell_started
from agentslot.standardagent.runtime.run import Run


class Recorder:
    """The AttemptRecorder of one logical call.

    Args:
        run: the active Run.
        request: what the attempts are made for.
        opening: makes a change that is recorded with the first attempt.
    """

    def __init__(
        self, run: Run, request: ModelRequest, opening: Callable[[], Change] | None = None
    ) -> None:
        self._run = run
        self.request = request
        self._opening = opening
        self._end: tuple[AttemptId, AttemptOutcome] | None = None

    async def started(self) -> AttemptId:
        """Record the start of an attempt; see AttemptRecorder."""
        run, owner = self._run, self._run.owner
        attempt_id = owner.components.ids.attempt()
        await self._check_limit()
        if owner.components.attempt_observers:
            await tell_started(run, attempt_id, self.request)
        async with owner.lock:
            changes: list[Change] = [] if self._opening is None else [self._opening()]
            changes.append(
                AppendAttempt(
                    ModelAttempt(
                        attempt_id,
                        run.id,
                        run.step_id,
                        AttemptStatus.STARTED,
                        run.config.provider,
                        run.config.model,
                    )
                )
            )
            await owner.commit("attempt-start", changes)
        self._opening = None
        run.prepared.set()
        return attempt_id

    async def _check_limit(self) -> None:
        run, owner = self._run, self._run.owner
        limit = owner.components.config.max_model_attempts_per_run
        if not limit:
            return
        async with owner.lock:
            active = owner.state.active_run
            used = active.attempts if active is not None else 0
            if used < limit:
                return
            fact = RunLimitExceeded(
                run.id, run.step_id, RunLimit.MODEL_ATTEMPTS, used, limit, requested=1
            )
            await owner.commit("run-limit", [AppendLimitExceeded(fact)])
        message = f"the Run has made {used} model requests, its limit is {limit}"
        run.terminate(
            TerminationSource.BUDGET, ErrorKind.UNAVAILABLE, "model_attempt_limit", message
        )
        raise ClassifiedError(ErrorKind.UNAVAILABLE, "model_attempt_limit", message)

    async def finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        """Record the end of an attempt; see AttemptRecorder.

        A success is recorded together with the answer that it brought: either both are durable or
        neither. Every other end is recorded at once, also if an observer fails.
        """
        self._end = attempt_id, outcome
        if outcome.cache_loss is not None:
            self._tell_lost(attempt_id, outcome.cache_loss)
        observers = self._run.owner.components.attempt_observers
        if outcome.status is AttemptStatus.SUCCEEDED and not observers:
            return
        heard = False
        with anyio.CancelScope(shield=True):
            heard = await tell_finished(self._run, observers, attempt_id, outcome)
            if outcome.status is not AttemptStatus.SUCCEEDED or not heard:
                await self.settle()
        if not heard:
            raise ClassifiedError(
                ErrorKind.UNAVAILABLE,
                "attempt_observer_failed",
                "an attempt observer failed when it was told of an end; the log has the cause",
            )

    def _tell_lost(self, attempt_id: AttemptId, loss: CacheLoss) -> None:
        run, owner = self._run, self._run.owner
        if owner.hub.listening:
            number = owner.hub.next_sequence()
            owner.hub.publish(PromptCacheLost(run.origin, number, attempt_id, loss))
        if owner.watch is not None:
            owner.watch.cache_lost(run.id, run.step_id, attempt_id, run.config, loss)

    def _ended(
        self, attempt_id: AttemptId, outcome: AttemptOutcome, finish_reason: str
    ) -> ModelAttempt:
        run = self._run
        return ModelAttempt(
            attempt_id,
            run.id,
            run.step_id,
            outcome.status,
            run.config.provider,
            run.config.model,
            outcome.served_model,
            outcome.provider_request_id,
            outcome.usage,
            outcome.error_code,
            safe_line(outcome.error_message),
            outcome.cost_usd,
            outcome.partial_text,
            finish_reason,
            outcome.response_id,
        )

    def take_end(self, finish_reason: str = "") -> list[Change]:
        """The end of the last attempt, if it is not recorded yet, for the commit of its answer."""
        end, self._end = self._end, None
        return [] if end is None else [AppendAttempt(self._ended(*end, finish_reason))]

    async def settle(self) -> None:
        """Record the end of the last attempt now, if it is not recorded; no answer came of it."""
        changes = self.take_end()
        if changes:
            owner = self._run.owner
            async with owner.lock:
                await owner.commit_in_shield("attempt-finish", changes)

    def budget(self) -> TokenBudget:
        """The Run's tokens now."""
        return self._run.budget()


class EvaluationRecorder(Recorder):
    """Records attempts whose answer is no part of the Session: the end of each stands alone.

    They share the budgets of the Run. That of tokens, which a step looks at before it begins, is
    looked at before each of them.
    """

    async def started(self) -> AttemptId:
        """Record the start of an attempt; see AttemptRecorder."""
        if self._run.budget().exhausted:
            raise await budget_exceeded(self._run)
        return await super().started()

    async def finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        """Record the end of an attempt; see AttemptRecorder."""
        await super().finished(attempt_id, outcome)
        with anyio.CancelScope(shield=True):
            await self.settle()


async def budget_exceeded(run: Run) -> ClassifiedError:
    """Record that the Run has used up its tokens, and note that this ends it; the error for it."""
    owner, budget = run.owner, run.budget()
    async with owner.lock:
        fact = RunBudgetExceeded(run.id, budget.used, budget.limit)
        await owner.commit("run-budget", [AppendBudgetExceeded(fact)])
    message = f"the Run has used {budget.used} tokens of its budget of {budget.limit}"
    code = "run_token_budget_exceeded"
    run.terminate(TerminationSource.BUDGET, ErrorKind.UNAVAILABLE, code, message)
    return ClassifiedError(ErrorKind.UNAVAILABLE, code, message)
