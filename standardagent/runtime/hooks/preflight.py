"""Tool preflight: hooks advise on every call of a batch before any of them runs."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from agentslot.session import (
    Change,
    ContextDisposition,
    ErrorKind,
    ExtensionBoundary,
    ExtensionDecision,
    ExtensionEntry,
    ExtensionInvocation,
    InvocationId,
    InvocationSucceeded,
    ToolCall,
    ToolCallId,
)
from agentslot.standardagent.hook import (
    Link,
    ToolPreflight,
    ToolPreflightResult,
    ToolPreflightView,
    ToolScope,
)
from agentslot.standardagent.runtime.hooks.chain import BoundaryPolicy, HookChain
from agentslot.standardagent.runtime.hooks.digest import canonical_text
from agentslot.standardagent.runtime.hooks.interrupting import evaluate_batch, interruption
from agentslot.standardagent.runtime.hooks.question import Asking, Question, reserve, restore
from agentslot.standardagent.runtime.run import Run

_POLICY: BoundaryPolicy[ToolPreflightResult] = BoundaryPolicy(
    label="preflight",
    result=ToolPreflightResult,
    answer=lambda result: InvocationSucceeded(ExtensionDecision(result.decision), result.reason),
    stopped="tool_preflight_short_circuited",
    canceled="canceled",
    decisive=frozenset({ExtensionDecision.DENY}),
    decided="tool_preflight_short_circuited",
)


@dataclass(frozen=True, slots=True)
class Advice:
    """What the hooks say of one call: a denial, or reasons to ask a person."""

    denial: str = ""
    reasons: tuple[str, ...] = ()


NO_ADVICE = Advice()


def reserve_preflights(run: Run, calls: Sequence[ToolCall]) -> list[Change]:
    """The changes that record, with the calls themselves, what hooks will be asked about them."""
    owner = run.owner
    if not owner.components.hooks.tool_preflights:
        return []
    changes, _ = reserve(owner.state, owner.components.ids, _askings(run, calls))
    return list(changes)


async def advise(
    run: Run, calls: Sequence[ToolCall], runnable: Collection[ToolCallId], *, resumed: bool
) -> Mapping[ToolCallId, Advice]:
    """Ask the hooks about the runnable calls of a batch, in call order and then chain order.

    Args:
        run: the active Run.
        calls: all calls of the batch.
        runnable: those that could run; about the others nobody needs to be asked.
        resumed: whether an earlier process recorded the calls; it may have had other hooks.

    Raises:
        HookInterruption: a hook failed, or the hooks are not those that were recorded. Nothing of
            the batch may run.
    """
    if not resumed and not run.owner.components.hooks.tool_preflights:
        return {}
    askings = _askings(run, calls)
    if not resumed and not askings:
        return {}
    questions = await _recorded(run, calls, askings)
    chain = HookChain(run.owner, _POLICY, questions)
    for call in calls:
        if call.id not in runnable:
            chain.skip("tool_preflight_not_applicable", group=call.id)
    applied = partial(chain.applied, ContextDisposition.NONE)
    if not await evaluate_batch(run, chain, "a tool preflight", applied):
        return {}
    return {call.id: _merged(call.id, questions) for call in calls}


def _askings(
    run: Run, calls: Sequence[ToolCall]
) -> list[Asking[ToolPreflightView, ToolPreflightResult]]:
    links = run.owner.components.hooks.tool_preflights
    return [
        _asking(run, link, call) for call in calls for link in links if link.scope.covers(call.name)
    ]


def _asking(
    run: Run, link: Link[ToolPreflight, ToolScope], call: ToolCall
) -> Asking[ToolPreflightView, ToolPreflightResult]:
    state = run.owner.state

    def view(invocation_id: InvocationId, revision: int) -> ToolPreflightView:
        return ToolPreflightView(
            invocation_id,
            state.id,
            state.agent,
            state.workspace,
            revision,
            call.run_id,
            call.step_id,
            call.message_id,
            call.id,
            call.name,
            call.arguments,
        )

    return Asking(
        link.descriptor,
        link.component.evaluate,
        view,
        partial(
            ExtensionInvocation,
            boundary=ExtensionBoundary.TOOL_PREFLIGHT,
            run_id=call.run_id,
            step_id=call.step_id,
            message_id=call.message_id,
            tool_call_id=call.id,
        ),
        call.id,
        lambda shown: replace(shown, arguments=canonical_text(shown.arguments)),
    )


async def _recorded(
    run: Run,
    calls: Sequence[ToolCall],
    askings: Sequence[Asking[ToolPreflightView, ToolPreflightResult]],
) -> list[Question[ToolPreflightResult]]:
    """The questions as they are recorded. Calls that no hook was ever asked about get theirs now.

    Raises:
        HookInterruption: other questions are recorded than would be asked now.
    """
    owner = run.owner
    async with owner.lock:
        entries = _entries(run, {call.id for call in calls})
        if not entries:
            changes, fresh = reserve(owner.state, owner.components.ids, askings)
            if changes:
                await owner.commit("preflight-reserve", changes)
            return fresh
    questions = restore(entries, askings)
    if questions is None:
        raise interruption(
            run,
            ErrorKind.CONFLICT,
            "tool_preflight_definition_mismatch",
            "the tool preflights are not those that were asked before the restart",
        )
    return questions


def _entries(run: Run, calls: Collection[ToolCallId]) -> list[ExtensionEntry]:
    """What the journal has of those calls, oldest first; it is looked through back to the Run."""
    found: list[ExtensionEntry] = []
    for entry in reversed(run.owner.state.extensions):
        invocation = entry.invocation
        if invocation.prepared_revision <= run.config_revision:
            break
        preflight = invocation.boundary is ExtensionBoundary.TOOL_PREFLIGHT
        if preflight and invocation.tool_call_id in calls:
            found.append(entry)
    return found[::-1]


def _merged(call_id: ToolCallId, questions: Sequence[Question[ToolPreflightResult]]) -> Advice:
    """Denial beats approval, approval beats leave."""
    answers = [q.answer for q in questions if q.group == call_id and q.answer is not None]
    denials = [a.reason for a in answers if a.decision is ExtensionDecision.DENY]
    asking = (a.reason for a in answers if a.decision is ExtensionDecision.REQUIRE_APPROVAL)
    return Advice(denials[0] if denials else "", tuple(asking))
