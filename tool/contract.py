"""What a tool is, and what it is told when it is invoked."""

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Protocol

from agentslot import Many
from agentslot._json import JsonValue
from agentslot.session import (
    AgentId,
    ArtifactStore,
    RunId,
    SessionId,
    StepId,
    ToolCall,
    ToolDefinition,
    ToolResult,
    WorkspaceBoundary,
    WorkspaceId,
)
from agentslot.session.record import record
from agentslot.tool.arguments import parse_arguments


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


@record
class ToolInvocation:
    """One execution of one call.

    Attributes:
        call: the call; `call.arguments` is the JSON text exactly as the model wrote it.
        max_inline_output_bytes: most bytes that `ToolResult.output` may have; keep larger content
            as an artifact, or cut it and say so.
        report: shows a line of progress to whoever watches; never blocks, never fails.
        decoded: what `arguments` returns, where somebody has decoded it already.
        artifacts: where large or binary content is kept; None if the application has no store.
        boundary: the right to work in the Session's workspace; None if the application has no
            workspace manager. `workspace_folder` says where it lies on this machine.
    """

    call: ToolCall
    session_id: SessionId
    agent: AgentId
    workspace: WorkspaceId
    max_inline_output_bytes: int = 65536
    report: Callable[[str], None] = field(default=_ignore, compare=False)
    decoded: Mapping[str, JsonValue] | None = field(default=None, compare=False, repr=False)
    artifacts: ArtifactStore | None = field(default=None, compare=False)
    boundary: WorkspaceBoundary | None = field(default=None, compare=False)

    def arguments(self) -> Mapping[str, JsonValue]:
        """The arguments as one decoded object, read strictly; their types are yours to check.

        Raises:
            ToolFailedError: `invalid_arguments`: they are no JSON object. The Runtime has seen to
                that before it invokes a tool.
        """
        return parse_arguments(self.call.arguments) if self.decoded is None else self.decoded

    @property
    def run_id(self) -> RunId:
        """The Run that the call belongs to."""
        return self.call.run_id

    @property
    def step_id(self) -> StepId:
        """The step that the call belongs to."""
        return self.call.step_id


ArgumentCheck = Callable[[Mapping[str, JsonValue], str], object]
"""Refuses arguments that do not fit the schema of a tool, given decoded and as they were written.

It raises `ToolFailedError`, which the model reads, and does nothing else. No hook, guard or person
is asked about a call that is refused here, and no middleware and tool hears of it.
"""


class Tool(Protocol):
    """Something an agent can do. All but `invoke` is read once, when the application is built.

    A tool may also have a property `deferred`. If it is true, the model is not shown the tool
    before it has found it with `tool_search`. It may have a method `check_arguments`, see
    ArgumentCheck; tools made of functions have it. And it may have a property `waits`, false if
    `invoke` never waits for anything: such a call is over at once, and costs no task.
    """

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

    async def invoke(self, invocation: ToolInvocation, /) -> ToolResult:
        """Execute the call once.

        Expected failures are results (`ToolResult.failed`), not exceptions. An exception becomes a
        failed result with code `tool_internal`, its text is kept from the model. When cancelled,
        clean up and let the cancellation pass: the Runtime records it.
        """
        ...


def argument_check(tool: Tool) -> ArgumentCheck | None:
    """How a tool checks arguments; None if it leaves that to `invoke`."""
    check: ArgumentCheck | None = getattr(tool, "check_arguments", None)
    return check


def may_wait(tool: Tool) -> bool:
    """Whether a call of it may wait; a tool that says nothing of it may."""
    return getattr(tool, "waits", True) is not False


TOOLS = Many[Tool]("tool")
