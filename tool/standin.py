"""A tool that stands for another one."""

from collections.abc import Mapping

from agentslot._json import JsonValue
from agentslot.session import ToolDefinition, ToolResult
from agentslot.tool.contract import Effect, Tool, ToolInvocation, argument_check


class StandIn:
    """Says of itself what another tool says, and does what it does; made to be derived from."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool

    @property
    def definition(self) -> ToolDefinition:
        """As the model sees it."""
        return self._tool.definition

    @property
    def parallel_safe(self) -> bool:
        """Whether it may run beside other calls."""
        return self._tool.parallel_safe

    @property
    def effect(self) -> Effect:
        """The worst it can do."""
        return self._tool.effect

    def check_arguments(self, arguments: Mapping[str, JsonValue], written: str) -> None:
        """Refuse what the tool refuses; see ArgumentCheck."""
        check = argument_check(self._tool)
        if check is not None:
            check(arguments, written)

    async def invoke(self, invocation: ToolInvocation) -> ToolResult:
        """Execute the call."""
        return await self._tool.invoke(invocation)
