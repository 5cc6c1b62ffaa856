"""What an agent can do: the tool contract and the tools that come with AgentSlot."""

if __name__ == "tool":
    raise ImportError("import agentslot.tool instead of tool: the folder is a part of agentslot")

from typing import TYPE_CHECKING

from agentslot._lazy import imports_when_used

if TYPE_CHECKING or not imports_when_used(__name__):
    from agentslot.session import (
        ArtifactMetadata,
        ToolCall,
        ToolDefinition,
        ToolError,
        ToolResult,
        ToolStatus,
    )
    from agentslot.tool.artifactread import artifact_read
    from agentslot.tool.attachments import Attachment
    from agentslot.tool.contract import (
        TOOLS,
        ArgumentCheck,
        Effect,
        Tool,
        ToolInvocation,
        argument_check,
        may_wait,
    )
    from agentslot.tool.deferred import DeferredTool, is_deferred
    from agentslot.tool.environment import (
        ENVIRONMENTS,
        Boundary,
        BubblewrapEnvironment,
        ContainerEnvironment,
        ExecutionEnvironment,
        LocalEnvironment,
    )
    from agentslot.tool.errors import (
        SandboxError,
        ToolDeclarationError,
        ToolFailedError,
        ToolMiddlewareError,
        ToolRootError,
    )
    from agentslot.tool.functiontool import FunctionTool, function_tool
    from agentslot.tool.history import SessionHistoryModule
    from agentslot.tool.middleware import TOOL_MIDDLEWARE, ToolMiddleware, ToolProceed
    from agentslot.tool.module import (
        BashModule,
        FilesModule,
        SandboxModule,
        ShellModule,
        ToolsModule,
    )
    from agentslot.tool.web.module import WebModule
    from agentslot.tool.workspace import workspace_folder

__all__ = [
    "ENVIRONMENTS",
    "TOOLS",
    "TOOL_MIDDLEWARE",
    "ArgumentCheck",
    "ArtifactMetadata",
    "Attachment",
    "BashModule",
    "Boundary",
    "BubblewrapEnvironment",
    "ContainerEnvironment",
    "DeferredTool",
    "Effect",
    "ExecutionEnvironment",
    "FilesModule",
    "FunctionTool",
    "LocalEnvironment",
    "SandboxError",
    "SandboxModule",
    "SessionHistoryModule",
    "ShellModule",
    "Tool",
    "ToolCall",
    "ToolDeclarationError",
    "ToolDefinition",
    "ToolError",
    "ToolFailedError",
    "ToolInvocation",
    "ToolMiddleware",
    "ToolMiddlewareError",
    "ToolProceed",
    "ToolResult",
    "ToolRootError",
    "ToolStatus",
    "ToolsModule",
    "WebModule",
    "argument_check",
    "artifact_read",
    "function_tool",
    "is_deferred",
    "may_wait",
    "workspace_folder",
]
