"""Asking what would be decided about a call, without making it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from agentslot import Assembly
from agentslot._json import JsonValue, dumps
from agentslot.session import (
    AgentId,
    MessageId,
    RunId,
    SessionId,
    StepId,
    ToolCall,
    ToolCallId,
    WorkspaceId,
)
from agentslot.standardagent.policy.contract import (
    POLICY_GUARDS,
    Decision,
    PolicyEffect,
    PolicyGuard,
    ToolAction,
)
from agentslot.tool import TOOLS


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision and what led to it, such as `rule 2 of 5`."""

    decision: Decision
    because: str


@runtime_checkable
class ExplainingGuard(Protocol):
    """A guard that can say which of its rules decides."""

    def explain(self, action: ToolAction) -> Verdict:
        """The verdict; `evaluate` gives the same decision."""
        ...


@dataclass(frozen=True, slots=True)
class GuardVerdict:
    """What one guard of the chain says."""

    guard: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Explanation:
    """What would happen to a call.

    Attributes:
        effect: `deny` if a guard denies, else `require_approval` if one asks, else `allow`.
        verdicts: what each guard says, up to the first that denies.
    """

    tool: str
    effect: PolicyEffect
    verdicts: Sequence[GuardVerdict]

    def __str__(self) -> str:
        lines = [f"{self.tool}: {self.effect}"]
        for said in self.verdicts:
            decision = said.verdict.decision
            why = f": {decision.reason}" if decision.reason else ""
            lines.append(f"  {said.guard} ({said.verdict.because}): {decision.effect}{why}")
        return "\n".join(lines)


async def explain(guards: Sequence[PolicyGuard], action: ToolAction) -> Explanation:
    """Go through the guards as the Runtime does. A guard that fails denies.

    Args:
        guards: the chain, in order.
        action: the call.
    """
    verdicts: list[GuardVerdict] = []
    effect = PolicyEffect.ALLOW
    for guard in guards:
        verdict = await _verdict(guard, action)
        verdicts.append(GuardVerdict(type(guard).__name__, verdict))
        if verdict.decision.effect is PolicyEffect.DENY:
            effect = PolicyEffect.DENY
            break
        if verdict.decision.effect is PolicyEffect.REQUIRE_APPROVAL:
            effect = PolicyEffect.REQUIRE_APPROVAL
    return Explanation(action.call.name, effect, verdicts)


async def explain_call(
    assembly: Assembly,
    tool: str,
    arguments: Mapping[str, JsonValue],
    *,
    agent: str = "dry-run",
    workspace: str = "default",
) -> Explanation:
    """What the policy of an application would say to a call; nothing is run, nobody is asked.

    Args:
        assembly: the built application.
        tool: name of a tool in it.
        arguments: the arguments of the call.
        agent: the agent that would call.
        workspace: where it would work.

    Raises:
        KeyError: there is no such tool.
    """
    call = ToolCall(
        ToolCallId("dry-run"),
        "",
        MessageId("dry-run"),
        RunId("dry-run"),
        StepId("dry-run"),
        tool,
        dumps(dict(arguments)),
    )
    effect = assembly[TOOLS][tool].effect
    action = ToolAction(call, effect, SessionId("dry-run"), AgentId(agent), WorkspaceId(workspace))
    return await explain(assembly.get(POLICY_GUARDS) or (), action)


async def _verdict(guard: PolicyGuard, action: ToolAction) -> Verdict:
    try:
        if isinstance(guard, ExplainingGuard):
            return guard.explain(action)
        return Verdict(await guard.evaluate(action), "evaluated")
    except Exception as error:  # noqa: BLE001 - whatever a guard raises denies the call
        reason = f"the guard failed with {type(error).__name__}"
        return Verdict(Decision(PolicyEffect.DENY, reason), "error")
