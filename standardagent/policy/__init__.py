"""Whether a tool call may run: guards, approvals, and the policies that come with AgentSlot."""

from agentslot.standardagent.policy.contract import (
    APPROVAL_SERVICE,
    POLICY_GUARDS,
    ApprovalAnswer,
    ApprovalRequest,
    ApprovalService,
    Decision,
    PolicyEffect,
    PolicyGuard,
    ToolAction,
)
from agentslot.standardagent.policy.desk import APPROVAL_DESK, ApprovalDesk, ApprovalDeskModule
from agentslot.standardagent.policy.explain import (
    Explanation,
    GuardVerdict,
    Verdict,
    explain,
    explain_call,
)
from agentslot.standardagent.policy.loopguard import LoopGuard, LoopGuardModule
from agentslot.standardagent.policy.rulebook import Rule, Rulebook
from agentslot.standardagent.policy.rules import EffectPolicy, PolicyModule, Preset, ToolRules

__all__ = [
    "APPROVAL_DESK",
    "APPROVAL_SERVICE",
    "POLICY_GUARDS",
    "ApprovalAnswer",
    "ApprovalDesk",
    "ApprovalDeskModule",
    "ApprovalRequest",
    "ApprovalService",
    "Decision",
    "EffectPolicy",
    "Explanation",
    "GuardVerdict",
    "LoopGuard",
    "LoopGuardModule",
    "PolicyEffect",
    "PolicyGuard",
    "PolicyModule",
    "Preset",
    "Rule",
    "Rulebook",
    "ToolAction",
    "ToolRules",
    "Verdict",
    "explain",
    "explain_call",
]
