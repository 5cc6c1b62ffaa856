"""Making the results of a batch durable: one commit, and with it the messages that wait to join."""

from collections.abc import Sequence

from agentslot.session import AppendToolResult, Change, ToolResult
from agentslot.standardagent.runtime.run import Run


async def commit_results(run: Run, results: Sequence[ToolResult]) -> None:
    """Record the results in call order, take waiting steers in behind them, enter the next step.

    No cancellation reaches the caller.
    """
    owner = run.owner
    async with owner.lock:
        step_id = owner.components.ids.step()
        changes: list[Change] = [AppendToolResult(result) for result in results]
        changes.extend(run.taking(run.steers(), step_id))
        await owner.commit_in_shield("tool-results", changes)
        run.enter_step(step_id)
