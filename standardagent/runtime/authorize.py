"""The authorization of a call: every guard in order, then approval if any of them asks for it."""

import logging
from functools import partial

from agentslot.session import Actor, ToolCall, ToolResult
from agentslot.standardagent.observe import ToolVerdict
from agentslot.standardagent.policy import (
    ApprovalAnswer,
    ApprovalRequest,
    Decision,
    PolicyEffect,
    ToolAction,
)
from agentslot.standardagent.runtime.calling import answer_of
from agentslot.standardagent.runtime.hooks.preflight import NO_ADVICE, Advice
from agentslot.standardagent.runtime.run import Run
from agentslot.tool import Effect

log = logging.getLogger(__name__)


async def refusal(
    run: Run, call: ToolCall, effect: Effect, advice: Advice = NO_ADVICE
) -> ToolResult | None:
    """Why the call may not run, as its result; None if it may.

    A guard that fails, or gives no decision, denies. Reasons to ask, those of the preflight first,
    are joined into one request.
    """
    if advice.denial:
        return _failed(call, "preflight_denied", advice.denial)
    owner = run.owner
    state = owner.state
    action = ToolAction(call, effect, state.id, state.agent, state.workspace)
    reasons = list(advice.reasons)
    for guard in owner.components.guards:
        try:
            ask = partial(guard.evaluate, action)
            decision = _decided(await answer_of(owner, "policy guard", ask))
        except Exception:
            log.exception("a policy guard failed on call %s", call.id)
            _audit(run, call, ToolVerdict.ERROR)
            return _failed(call, "policy_error", "the policy could not be evaluated")
        if decision.effect is PolicyEffect.DENY:
            _audit(run, call, ToolVerdict.DENY)
            return _failed(call, "policy_denied", decision.reason)
        if decision.effect is PolicyEffect.REQUIRE_APPROVAL:
            reasons.append(decision.reason)
    if reasons:
        _audit(run, call, ToolVerdict.APPROVAL_REQUIRED)
        return await _unapproved(run, ApprovalRequest(action, "; ".join(reasons)))
    _audit(run, call, ToolVerdict.ALLOW)
    return None


async def _unapproved(run: Run, request: ApprovalRequest) -> ToolResult | None:
    call = request.action.call
    service = run.owner.components.approval
    if service is None:
        return _failed(
            call,
            "approval_required",
            f"it needs an approval ({request.reason}), and nobody can give one here",
        )
    try:
        run.awaits_approval = True
        ask = partial(service.decide, request)
        answer = _answered(await answer_of(run.owner, "approval service", ask, waits=True))
    except Exception:
        log.exception("the approval service failed on call %s", call.id)
        _audit(run, call, ToolVerdict.APPROVAL_ERROR)
        return _failed(call, "approval_error", "the approval could not be obtained")
    finally:
        run.awaits_approval = False
    if answer.approved:
        _audit(run, call, ToolVerdict.APPROVED, answer.actor)
        return None
    _audit(run, call, ToolVerdict.APPROVAL_DENIED, answer.actor)
    return _failed(call, "approval_denied", answer.reason or "a person denied it")


def _decided(decision: object) -> Decision:
    if isinstance(decision, Decision):
        return decision
    raise TypeError(f"a policy guard returned {decision!r}, which is no Decision")


def _answered(answer: object) -> ApprovalAnswer:
    """An answer that says yes or no; anything else could pass for a yes."""
    if isinstance(answer, ApprovalAnswer) and type(answer.approved) is bool:
        return answer
    raise TypeError(f"the approval service returned {answer!r}, which says neither True nor False")


def _audit(run: Run, call: ToolCall, verdict: ToolVerdict, actor: Actor | None = None) -> None:
    if run.owner.watch is not None:
        run.owner.watch.decided(call, verdict, actor)


def _failed(call: ToolCall, code: str, why: str) -> ToolResult:
    return ToolResult.failed(call.id, code, f"{call.name} was not run: {why}")
