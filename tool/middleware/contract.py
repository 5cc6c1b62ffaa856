"""The contract of tool middleware: work around one execution of one recorded call."""

from typing import Protocol

from agentslot import Chain
from agentslot.session import ToolDefinition, ToolResult
from agentslot.tool.contract import Effect, ToolInvocation


class ToolProceed(Protocol):
    """What is left of an execution behind a middleware: the next one, and at last the tool.

    It takes no arguments: what runs is the call that policy has seen and that is recorded, and no
    other. It is good once, and only until the middleware returns.
    """

    @property
    def definition(self) -> ToolDefinition:
        """The tool as the model sees it."""
        ...

    @property
    def effect(self) -> Effect:
        """The worst that the tool can do."""
        ...

    async def __call__(self) -> ToolResult:
        """Execute what is left. A tool that fails gives a failed result, no exception.

        Raises:
            ToolMiddlewareError: it has been called before, or the middleware has returned.
        """
        ...


class ToolMiddleware(Protocol):
    """Wraps every execution of a tool; the first of the chain is the outermost.

    Policy has decided by then, and the call is recorded as begun: it is not run again, whatever
    happens here.
    """

    async def invoke(self, invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
        """Let the tool run and return its result or another one, or answer without going on.

        An exception, or anything but a result of this very call, becomes a failed result with code
        `tool_middleware_failed`; its text is kept from the model. When cancelled, clean up and
        let the cancellation pass.
        """
        ...


TOOL_MIDDLEWARE = Chain[ToolMiddleware]("tool.middleware")
