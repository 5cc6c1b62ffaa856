"""What an agent can do: the tool contract and the tools that come with AgentSlot."""

if __name__ == "tool":
    raise ImportError("import agentslot.tool instead of tool: the folder is a part of agentslot")

from agentslot.session import (
    ArtifactMetadata,
    ToolCall,
    ToolDefinition,
    ToolError,
    ToolResult,
    ToolStatus,
)
from agentslot.tool.contract import TOOLS, Effect, Tool, ToolInvocation

__all__ = [
    "TOOLS",
    "ArtifactMetadata",
    "Effect",
    "Tool",
    "ToolCall",
    "ToolDefinition",
    "ToolError",
    "ToolInvocation",
    "ToolResult",
    "ToolStatus",
]
