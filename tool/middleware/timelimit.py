"""A limit on how long a tool may take."""

from collections.abc import Mapping

import anyio

from agentslot.session import ToolResult
from agentslot.tool.contract import ToolInvocation
from agentslot.tool.middleware.contract import ToolProceed


class TimeLimit:
    """A ToolMiddleware that ends calls that take too long, whoever wrote the tool."""

    def __init__(self, seconds: float, *, by_tool: Mapping[str, float] | None = None) -> None:
        """Limit every call.

        Args:
            seconds: how long a call may take.
            by_tool: other limits, by the name of the tool.

        Raises:
            ValueError: a limit is not positive.
        """
        self._seconds = seconds
        self._by_tool = dict(by_tool or {})
        for limit in (seconds, *self._by_tool.values()):
            if not limit > 0:
                raise ValueError(f"a time limit must be positive, not {limit:g} seconds")

    async def invoke(self, invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
        """Go on, and cut it short when the time is up."""
        call = invocation.call
        seconds = self._by_tool.get(call.name, self._seconds)
        with anyio.move_on_after(seconds):
            return await proceed()
        return ToolResult.failed(
            call.id,
            "timeout",
            f"{call.name} was stopped after {seconds:g} seconds; a part of its work may be done",
        )
