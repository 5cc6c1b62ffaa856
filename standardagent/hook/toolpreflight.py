"""Tool preflight: advice on the calls of a batch before policy is asked and anything runs."""

from dataclasses import dataclass
from typing import Protocol

from agentslot import Chain
from agentslot.session import (
    AgentId,
    ExtensionDecision,
    ExtensionDescriptor,
    InvocationId,
    MessageId,
    RunId,
    SessionId,
    StepId,
    ToolCallId,
    WorkspaceId,
)
from agentslot.standardagent.hook.scope import ToolScope


@dataclass(frozen=True, slots=True)
class ToolPreflightView:
    """A tool call that is recorded and has not run.

    Attributes:
        prepared_revision: revision of the commit that records the question.
        arguments: the JSON text of the arguments as the model wrote it.
    """

    invocation_id: InvocationId
    session_id: SessionId
    agent: AgentId
    workspace: WorkspaceId
    prepared_revision: int
    run_id: RunId
    step_id: StepId
    message_id: MessageId
    tool_call_id: ToolCallId
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolPreflightResult:
    """Allow, deny, or ask a person. It is advice: guards and approval decide after it."""

    decision: ExtensionDecision
    reason: str = ""

    @classmethod
    def allow(cls, reason: str = "") -> "ToolPreflightResult":
        """Nothing speaks against the call; a guard may still deny it."""
        return cls(ExtensionDecision.ALLOW, reason)

    @classmethod
    def deny(cls, reason: str) -> "ToolPreflightResult":
        """Do not run the call; the model reads why."""
        return cls(ExtensionDecision.DENY, reason)

    @classmethod
    def require_approval(cls, reason: str) -> "ToolPreflightResult":
        """Run the call only if a person approves it."""
        return cls(ExtensionDecision.REQUIRE_APPROVAL, reason)


class ToolPreflight(Protocol):
    """One link of the chain that each call passes. Denial beats approval, approval beats leave."""

    def descriptor(self) -> ExtensionDescriptor:
        """Which hook this is; asked once, at build time."""
        ...

    def scope(self) -> ToolScope:
        """Which tools it is asked about; asked once, at build time."""
        ...

    async def evaluate(self, view: ToolPreflightView, /) -> ToolPreflightResult:
        """Advise on one call. After a failure no call of the batch runs and the Run is interrupted.

        Raises:
            InvocationFailure: it cannot be decided, for a reason that may be recorded.
        """
        ...


TOOL_PREFLIGHTS = Chain[ToolPreflight]("hook.tool_preflight")
