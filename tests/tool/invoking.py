"""Invoking a tool as the dispatcher does."""

import json

from agentslot.session import (
    AgentId,
    ArtifactStore,
    MessageId,
    RunId,
    SessionId,
    StepId,
    ToolCall,
    ToolCallId,
    ToolResult,
    WorkspaceId,
)
from agentslot.tool import Tool, ToolInvocation


def invocation(
    name: str, arguments: str, max_bytes: int = 65536, artifacts: ArtifactStore | None = None
) -> ToolInvocation:
    call = ToolCall(
        id=ToolCallId("call-1"),
        correlation_id="provider-1",
        message_id=MessageId("message-1"),
        run_id=RunId("run-1"),
        step_id=StepId("step-1"),
        name=name,
        arguments=arguments,
    )
    return ToolInvocation(
        call,
        SessionId("session-1"),
        AgentId("agent"),
        WorkspaceId("default"),
        max_bytes,
        artifacts=artifacts,
    )


async def invoke_text(tool: Tool, arguments: str, max_bytes: int = 65536) -> ToolResult:
    """Invoke with the argument text as a model wrote it."""
    return await tool.invoke(invocation(tool.definition.name, arguments, max_bytes))


async def invoke(tool: Tool, **arguments: object) -> ToolResult:
    return await invoke_text(tool, json.dumps(arguments))


def output(result: ToolResult) -> str:
    """The text that the model sees of a result."""
    assert result.output is not None, result.error
    text = json.loads(result.output)
    assert isinstance(text, str)
    return text
