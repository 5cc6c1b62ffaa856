"""Making the results of a batch durable: one commit, and with it the messages that wait to join.

No cancellation reaches the callers of these functions.
"""

from collections.abc import Callable, Sequence

from agentslot.session import AppendToolResult, Change, StepId, ToolResult
from agentslot.standardagent.runtime.run import Run


def _nothing(_: StepId) -> Sequence[Change]:
    return ()


def with_next_step(run: Run, results: Sequence[ToolResult], step_id: StepId) -> list[Change]:
    """The changes that end a batch: its results, and behind them the steers that wait to join."""
    changes: list[Change] = [AppendToolResult(result) for result in results]
    changes.extend(run.taking(run.steers(), step_id))
    return changes


async def commit_results(
    run: Run,
    results: Sequence[ToolResult],
    *,
    reserve: Callable[[StepId], Sequence[Change]] = _nothing,
) -> None:
    """Record the results in call order, take waiting steers in behind them, enter the next step.

    Args:
        run: the active Run.
        results: one result for each call of the batch.
        reserve: what else the commit records, given the next step.
    """
    owner = run.owner
    async with owner.lock:
        step_id = owner.components.ids.step()
        changes = with_next_step(run, results, step_id)
        changes.extend(reserve(step_id))
        await owner.commit_in_shield("tool-results", changes)
        run.enter_step(step_id)


async def commit_last_results(run: Run, results: Sequence[ToolResult]) -> None:
    """Record the results of a batch that its Run does not outlive: no step follows them."""
    owner = run.owner
    async with owner.lock:
        await owner.commit_in_shield("tool-results", [AppendToolResult(r) for r in results])
