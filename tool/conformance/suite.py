"""The checks of the contract, and how to run them all."""

from agentslot._conformance import run_check
from agentslot.tool.conformance.calls import Check, Trial
from agentslot.tool.conformance.declaration import DECLARATION_CHECKS
from agentslot.tool.conformance.invoking import INVOCATION_CHECKS
from agentslot.tool.contract import Tool

CONTRACT = "tool/v1"

CHECKS: tuple[Check, ...] = (*DECLARATION_CHECKS, *INVOCATION_CHECKS)
"""All checks, each a function of a tool and a trial."""


async def check_tool(tool: Tool, trial: Trial) -> None:
    """Run all checks.

    Args:
        tool: the tool.
        trial: a call that succeeds.

    Raises:
        ConformanceFailure: the first check that fails, and what was wrong.
    """
    for check in CHECKS:
        await run_check("the tool", check, tool, trial)
