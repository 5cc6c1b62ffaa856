"""What a tool is, and what it is told when it is invoked."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from agentslot import Many
from agentslot.session import (
    AgentId,
    RunId,
    SessionId,
    StepId,
    ToolCall,
    ToolDefinition,
    ToolResult,
    WorkspaceId,
)


class Effect(StrEnum):
    """The worst that a tool can do; policies decide by it.

    `pure`: nothing outside the call. `read`: looks at the world. `write`: changes what can be
    changed back. `irreversible`: sends, pays, deletes, runs arbitrary commands.
    """

    PURE = "pure"
    READ = "read"
    WRITE = "write"
    IRREVERSIBLE = "irreversible"


def _ignore(text: str) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class ToolInvocation:
    """One execution of one call.

    Attributes:
        call: the call; `call.arguments` is the raw JSON text, already valid for the tool's schema.
        max_inline_output_bytes: most bytes that `ToolResult.output` may have; keep larger content
            as an artifact, or cut it and say so.
        report: shows a line of progress to whoever watches; never blocks, never fails.
    """

    call: ToolCall
    session_id: SessionId
    agent: AgentId
    workspace: WorkspaceId
    max_inline_output_bytes: int = 65536
    report: Callable[[str], None] = field(default=_ignore, compare=False)

    @property
    def run_id(self) -> RunId:
        """The Run that the call belongs to."""
        return self.call.run_id

    @property
    def step_id(self) -> StepId:
        """The step that the call belongs to."""
        return self.call.step_id


class Tool(Protocol):
    """Something an agent can do. All but `invoke` is read once, when the application is built."""

    @property
    def definition(self) -> ToolDefinition:
        """How the model sees it; its name equals its key in the slot."""
        ...

    @property
    def parallel_safe(self) -> bool:
        """Whether it may run beside other calls of one batch."""
        ...

    @property
    def effect(self) -> Effect:
        """The worst it can do."""
        ...

    async def invoke(self, invocation: ToolInvocation) -> ToolResult:
        """Execute the call once.

        Expected failures are results (`ToolResult.failed`), not exceptions. An exception becomes a
        failed result with code `tool_internal`, its text is kept from the model. When cancelled,
        clean up and let the cancellation pass: the Runtime records it.
        """
        ...


TOOLS = Many[Tool]("tool")
