"""Tools that the model is not shown before it has looked for them."""

from agentslot.tool.contract import Tool
from agentslot.tool.standin import StandIn


class DeferredTool(StandIn):
    """Another tool, declared deferred.

    Attributes:
        deferred: always true.
    """

    deferred = True


def is_deferred(tool: Tool) -> bool:
    """Whether a tool is declared deferred; a tool that says nothing of it is not."""
    return getattr(tool, "deferred", False) is True
