"""Running a launch to its end, wherever it runs."""

from collections.abc import Callable
from pathlib import Path

import anyio

from agentslot.tool.environment.contract import Launch
from agentslot.tool.process.run import Finished, Outcome, run_process
from agentslot.tool.process.spill import Spill

_STOP_SECONDS = 10.0


async def run_in(
    launch: Launch,
    *,
    timeout_seconds: float | None = None,
    spill: Spill | None = None,
    on_start: Callable[[], None] | None = None,
) -> Finished:
    """Run the command; end it for certain when its time is over or the caller is cancelled.

    The arguments and errors are those of `run_process`.
    """
    finished: Finished | None = None
    try:
        finished = await run_process(
            launch.arguments,
            folder=launch.folder,
            environment=launch.variables,
            timeout_seconds=timeout_seconds,
            spill=spill,
            on_start=on_start,
        )
        return finished
    finally:
        if launch.stop is not None and (finished is None or finished.outcome is Outcome.TIMEOUT):
            with anyio.CancelScope(shield=True):
                await run_process(
                    launch.stop,
                    folder=Path(launch.folder.anchor),  # the command may have removed its own
                    environment=launch.variables,
                    timeout_seconds=_STOP_SECONDS,
                )
