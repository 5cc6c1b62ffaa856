"""Hooks: typed places in the life of a Session where an application may look and decide."""

from typing import TYPE_CHECKING

from agentslot._lazy import imports_when_used

if TYPE_CHECKING or not imports_when_used(__name__):
    from agentslot.standardagent.hook.agenthook import AGENT_HOOKS, AgentHook, AgentHookView
    from agentslot.standardagent.hook.completiongate import (
        COMPLETION_GATES,
        CompletionGate,
        CompletionGateResult,
        CompletionGateView,
    )
    from agentslot.standardagent.hook.errors import InvalidHook
    from agentslot.standardagent.hook.failure import InvocationFailure
    from agentslot.standardagent.hook.inputgate import (
        INPUT_GATES,
        InputGate,
        InputGateResult,
        InputGateView,
        InputOperation,
    )
    from agentslot.standardagent.hook.installed import HOOK_SLOTS, Hooks, Link, install_hooks
    from agentslot.standardagent.hook.scope import ToolResultScope, ToolScope
    from agentslot.standardagent.hook.sessionlifecycle import (
        SESSION_LIFECYCLES,
        LifecycleScope,
        SessionLifecycle,
        SessionLifecycleResult,
        SessionLifecycleView,
    )
    from agentslot.standardagent.hook.toolpreflight import (
        TOOL_PREFLIGHTS,
        ToolPreflight,
        ToolPreflightResult,
        ToolPreflightView,
    )
    from agentslot.standardagent.hook.toolresult import (
        TOOL_RESULT_HOOKS,
        ToolResultHook,
        ToolResultHookResult,
        ToolResultView,
    )

__all__ = [
    "AGENT_HOOKS",
    "COMPLETION_GATES",
    "HOOK_SLOTS",
    "INPUT_GATES",
    "SESSION_LIFECYCLES",
    "TOOL_PREFLIGHTS",
    "TOOL_RESULT_HOOKS",
    "AgentHook",
    "AgentHookView",
    "CompletionGate",
    "CompletionGateResult",
    "CompletionGateView",
    "Hooks",
    "InputGate",
    "InputGateResult",
    "InputGateView",
    "InputOperation",
    "InvalidHook",
    "InvocationFailure",
    "LifecycleScope",
    "Link",
    "SessionLifecycle",
    "SessionLifecycleResult",
    "SessionLifecycleView",
    "ToolPreflight",
    "ToolPreflightResult",
    "ToolPreflightView",
    "ToolResultHook",
    "ToolResultHookResult",
    "ToolResultScope",
    "ToolResultView",
    "ToolScope",
    "install_hooks",
]
