"""Tool result hooks: what the model should know beside the results of a batch."""

from dataclasses import dataclass
from typing import Protocol

from agentslot import Chain
from agentslot.session import (
    AgentId,
    ExtensionDescriptor,
    InvocationId,
    MessageInput,
    RunId,
    SessionId,
    StepId,
    ToolCallId,
    ToolResult,
    WorkspaceId,
)
from agentslot.standardagent.hook.scope import ToolResultScope


@dataclass(frozen=True, slots=True)
class ToolResultView:
    """A call that has run, and its result, which is durable already.

    Attributes:
        prepared_revision: revision of the commit that holds the result and records the question.
        next_step_id: the step whose request a context would join.
        arguments: the JSON text of the arguments as the model wrote it.
    """

    invocation_id: InvocationId
    session_id: SessionId
    agent: AgentId
    workspace: WorkspaceId
    prepared_revision: int
    run_id: RunId
    step_id: StepId
    next_step_id: StepId
    tool_call_id: ToolCallId
    tool: str
    arguments: str
    result: ToolResult


@dataclass(frozen=True, slots=True)
class ToolResultHookResult:
    """User messages for the next request; the result itself cannot be changed."""

    context: tuple[MessageInput, ...] = ()
    reason: str = ""


class ToolResultHook(Protocol):
    """One link of the chain that looks at each definite result of a tool that ran."""

    def descriptor(self) -> ExtensionDescriptor:
        """Which hook this is; asked once, at build time."""
        ...

    def scope(self) -> ToolResultScope:
        """Which results it is asked about; asked once, at build time."""
        ...

    async def evaluate(self, view: ToolResultView, /) -> ToolResultHookResult:
        """Add context. After a failure no context of the batch is used and the Run is interrupted.

        Raises:
            InvocationFailure: it cannot answer, for a reason that may be recorded.
        """
        ...


TOOL_RESULT_HOOKS = Chain[ToolResultHook]("hook.tool_result")
