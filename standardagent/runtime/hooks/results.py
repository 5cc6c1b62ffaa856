"""Tool result hooks: what they add to the results of a batch joins the next request."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from agentslot.session import (
    Change,
    ContextDisposition,
    ExtensionBoundary,
    ExtensionInvocation,
    InvocationId,
    InvocationSucceeded,
    StepId,
    ToolCall,
    ToolCallId,
    ToolResult,
)
from agentslot.standardagent.hook import (
    Link,
    ToolResultHook,
    ToolResultHookResult,
    ToolResultScope,
    ToolResultView,
)
from agentslot.standardagent.runtime.hooks.chain import BoundaryPolicy, HookChain
from agentslot.standardagent.runtime.hooks.contexts import contribution
from agentslot.standardagent.runtime.hooks.digest import canonical_text
from agentslot.standardagent.runtime.hooks.interrupting import evaluate_batch
from agentslot.standardagent.runtime.hooks.question import Asking, Question, reserve
from agentslot.standardagent.runtime.run import Run

_POLICY: BoundaryPolicy[ToolResultHookResult] = BoundaryPolicy(
    label="result-hooks",
    result=ToolResultHookResult,
    answer=lambda result: InvocationSucceeded(None, result.reason, tuple(result.context)),
    stopped="tool_result_hook_batch_aborted",
    canceled="tool_result_hook_canceled",
    lost="tool_result_hook_persistence_failed",
)


class ResultHooks:
    """The hooks that look at the results of one batch.

    Args:
        run: the active Run.
        calls: the calls whose tools ran and gave a definite result, in call order.
        results: their results.
    """

    def __init__(
        self, run: Run, calls: Sequence[ToolCall], results: Mapping[ToolCallId, ToolResult]
    ) -> None:
        self._run = run
        links = run.owner.components.hooks.tool_results
        self._asked = [
            (link, call, results[call.id])
            for call in calls
            for link in links
            if link.scope.covers(call.name, results[call.id].status)
        ]
        self._questions: list[Question[ToolResultHookResult]] = []

    def reserve(self, next_step_id: StepId) -> list[Change]:
        """The changes that record, with the results themselves, what will be asked about them."""
        if not self._asked:
            return []
        owner = self._run.owner
        askings = [_asking(self._run, next_step_id, *asked) for asked in self._asked]
        changes, self._questions = reserve(owner.state, owner.components.ids, askings)
        return list(changes)

    async def evaluate(self) -> None:
        """Ask the hooks, and bring what they add into the step that the Run has entered.

        The cancellation of the Run ends it early, with everything settled.

        Raises:
            HookInterruption: a hook failed; nothing is added.
        """
        if not self._questions:
            return
        chain = HookChain(self._run.owner, _POLICY, self._questions)
        await evaluate_batch(self._run, chain, "a tool result hook", partial(self._applied, chain))

    def _applied(self, chain: HookChain[ToolResultHookResult]) -> list[Change]:
        run = self._run
        changes = chain.applied(ContextDisposition.CONSUMED)
        for question in self._questions:
            if question.answer is not None and question.answer.context:
                context = question.answer.context
                changes.append(
                    contribution(run.owner, question.invocation, context, run.id, run.step_id)
                )
        return changes


def _asking(
    run: Run,
    next_step_id: StepId,
    link: Link[ToolResultHook, ToolResultScope],
    call: ToolCall,
    result: ToolResult,
) -> Asking[ToolResultView, ToolResultHookResult]:
    state = run.owner.state

    def view(invocation_id: InvocationId, revision: int) -> ToolResultView:
        return ToolResultView(
            invocation_id,
            state.id,
            state.agent,
            state.workspace,
            revision,
            call.run_id,
            call.step_id,
            next_step_id,
            call.id,
            call.name,
            call.arguments,
            result,
        )

    return Asking(
        link.descriptor,
        link.component.evaluate,
        view,
        partial(
            ExtensionInvocation,
            boundary=ExtensionBoundary.TOOL_RESULT,
            run_id=call.run_id,
            step_id=call.step_id,
            target_step_id=next_step_id,
            message_id=call.message_id,
            tool_call_id=call.id,
        ),
        call.id,
        _canonical,
    )


def _canonical(view: ToolResultView) -> ToolResultView:
    result = view.result
    if result.output is not None:
        result = replace(result, output=canonical_text(result.output))
    return replace(view, arguments=canonical_text(view.arguments), result=result)
