"""Calls for trial, and what a check does with them."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from agentslot._json import JsonValue, dumps
from agentslot.session import (
    AgentId,
    ArtifactStore,
    MessageId,
    RunId,
    SessionId,
    StepId,
    ToolCall,
    ToolCallId,
    WorkspaceBoundary,
    WorkspaceId,
)
from agentslot.tool.contract import Tool, ToolInvocation


@dataclass(frozen=True, slots=True)
class Trial:
    """A call that a tool can carry out.

    Attributes:
        arguments: its arguments.
        succeeds: whether the result is a success; some tools can only be tried with a failure.
        max_inline_output_bytes: the size that its result must keep to.
        artifacts: a store, if the tool needs one.
        boundary: a workspace, if the tool needs one: that of agent `trial-agent` in
            `trial-workspace`.
    """

    arguments: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    succeeds: bool = True
    max_inline_output_bytes: int = 65536
    artifacts: ArtifactStore | None = None
    boundary: WorkspaceBoundary | None = None

    def of(
        self, tool: Tool, *, text: str | None = None, number: int = 1, max_bytes: int | None = None
    ) -> ToolInvocation:
        """An invocation of `tool`.

        Args:
            tool: the tool.
            text: other arguments, as a model wrote them.
            number: tells calls apart.
            max_bytes: another limit on the output.
        """
        call = ToolCall(
            ToolCallId(f"trial-{number}"),
            f"provider-{number}",
            MessageId("trial-message"),
            RunId("trial-run"),
            StepId("trial-step"),
            tool.definition.name,
            dumps(dict(self.arguments)) if text is None else text,
        )
        return ToolInvocation(
            call,
            SessionId("trial-session"),
            AgentId("trial-agent"),
            WorkspaceId("trial-workspace"),
            self.max_inline_output_bytes if max_bytes is None else max_bytes,
            artifacts=self.artifacts,
            boundary=self.boundary,
        )


Check: TypeAlias = Callable[[Tool, Trial], Awaitable[None]]
"""Raises a ConformanceFailure if the tool does not do what the contract says."""
