"""The standard agent: a fixed Runtime and Gateway around replaceable parts."""

if __name__ == "standardagent":
    raise ImportError(
        "import agentslot.standardagent instead of standardagent: the folder is a part of agentslot"
    )

from agentslot.standardagent.application import STANDARD_AGENT_PROFILE, new_application
from agentslot.standardagent.config import AgentConfig, ContextRetention
from agentslot.standardagent.loop import (
    AGENT_LOOP,
    Action,
    AgentLoop,
    LoopState,
    Outcome,
    RunHandle,
    StandardLoop,
    StandardLoopModule,
)
from agentslot.standardagent.policy import (
    APPROVAL_SERVICE,
    POLICY_GUARDS,
    ApprovalAnswer,
    ApprovalDesk,
    ApprovalDeskModule,
    ApprovalRequest,
    ApprovalService,
    Decision,
    EffectPolicy,
    PolicyEffect,
    PolicyGuard,
    PolicyModule,
    Preset,
    ToolAction,
    ToolRules,
)

__all__ = [
    "AGENT_LOOP",
    "APPROVAL_SERVICE",
    "POLICY_GUARDS",
    "STANDARD_AGENT_PROFILE",
    "Action",
    "AgentConfig",
    "AgentLoop",
    "ApprovalAnswer",
    "ApprovalDesk",
    "ApprovalDeskModule",
    "ApprovalRequest",
    "ApprovalService",
    "ContextRetention",
    "Decision",
    "EffectPolicy",
    "LoopState",
    "Outcome",
    "PolicyEffect",
    "PolicyGuard",
    "PolicyModule",
    "Preset",
    "RunHandle",
    "StandardLoop",
    "StandardLoopModule",
    "ToolAction",
    "ToolRules",
    "new_application",
]
