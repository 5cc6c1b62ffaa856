"""Tools that the model is not shown before it has looked for them."""

from agentslot.session import ToolDefinition, ToolResult
from agentslot.tool.contract import Effect, Tool, ToolInvocation


class DeferredTool:
    """Another tool, declared deferred.

    Attributes:
        deferred: always true.
    """

    deferred = True

    def __init__(self, tool: Tool) -> None:
        self._tool = tool

    @property
    def definition(self) -> ToolDefinition:
        """As the model sees it, once it has found it."""
        return self._tool.definition

    @property
    def parallel_safe(self) -> bool:
        """Whether it may run beside other calls."""
        return self._tool.parallel_safe

    @property
    def effect(self) -> Effect:
        """The worst it can do."""
        return self._tool.effect

    async def invoke(self, invocation: ToolInvocation) -> ToolResult:
        """Execute the call."""
        return await self._tool.invoke(invocation)


def is_deferred(tool: Tool) -> bool:
    """Whether a tool is declared deferred; a tool that says nothing of it is not."""
    return getattr(tool, "deferred", False) is True
