"""Referees."""

from agentslot.standardagent.conformance.agenthook import AGENT_HOOK_SUITE
from agentslot.standardagent.conformance.approval import (
    APPROVAL_SERVICE_SUITE,
    Approver,
    OpenApprover,
)
from agentslot.standardagent.conformance.hooks import (
    COMPLETION_GATE_SUITE,
    INPUT_GATE_SUITE,
    SESSION_LIFECYCLE_SUITE,
    TOOL_PREFLIGHT_SUITE,
    TOOL_RESULT_SUITE,
)
from agentslot.standardagent.conformance.loop import AGENT_LOOP_SUITE
from agentslot.standardagent.conformance.policy import POLICY_GUARD_SUITE

__all__ = [
    "AGENT_HOOK_SUITE",
    "AGENT_LOOP_SUITE",
    "APPROVAL_SERVICE_SUITE",
    "COMPLETION_GATE_SUITE",
    "INPUT_GATE_SUITE",
    "POLICY_GUARD_SUITE",
    "SESSION_LIFECYCLE_SUITE",
    "TOOL_PREFLIGHT_SUITE",
    "TOOL_RESULT_SUITE",
    "Approver",
    "OpenApprover",
]
