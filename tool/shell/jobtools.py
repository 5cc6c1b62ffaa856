"""The tools `process_list`, `process_read` and `process_stop`."""

from typing import Annotated

import anyio
from pydantic import Field

from agentslot.tool.contract import Effect, ToolInvocation
from agentslot.tool.fit import fit
from agentslot.tool.functiontool import FunctionTool
from agentslot.tool.process.output import DEFAULT_CAPACITY, readable, whole_lines
from agentslot.tool.shell.jobs import Job, Jobs

_SHOWN_COMMAND = 200


class JobTools:
    """Looks after the commands of a shell that run in the background or wrote much."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    def tools(self) -> tuple[FunctionTool[..., object], ...]:
        """Return the three tools."""
        return (
            FunctionTool(self._list, name="process_list", parallel_safe=True, effect=Effect.READ),
            FunctionTool(self._read, name="process_read", parallel_safe=True, effect=Effect.READ),
            FunctionTool(self._stop, name="process_stop", effect=Effect.WRITE),
        )

    async def _list(self, invocation: ToolInvocation) -> str:
        """List the processes that were started in the background, and commands with long output.

        Args:
            invocation: The call.
        """
        jobs = self._jobs.of(invocation.session_id)
        lines = [
            f"{job.number}: {job.state}, {job.spill.total} bytes of output: "
            f"{_first_line(job.command)}"
            for job in jobs
        ]
        return "\n".join([*lines, f"[{len(jobs)} in all]"])

    async def _read(
        self,
        process: int,
        invocation: ToolInvocation,
        start: Annotated[int, Field(ge=0)] | None = None,
        wait_seconds: Annotated[float, Field(ge=0, le=60)] = 0,
    ) -> str:
        """Read the output of a background process, or of a command whose output was too long.

        The last line of the result, in brackets, tells whether it still runs and how to read on.

        Args:
            process: Number of the process.
            invocation: The call.
            start: Byte of the output to start at; by default what was written last.
            wait_seconds: Wait so long for output beyond start, or for the end of the process.
        """
        job = self._jobs.get(invocation.session_id, process)
        spill = job.spill
        with anyio.move_on_after(wait_seconds):
            while not job.ended.is_set() and (start is None or spill.total <= start):
                await spill.grew.wait()
                if start is None:
                    break
        begin = max(0, spill.total - DEFAULT_CAPACITY) if start is None else start
        content = await spill.read(begin, DEFAULT_CAPACITY)
        limit = invocation.max_inline_output_bytes
        return fit(lambda size: _show(job, begin, content[:size]), DEFAULT_CAPACITY, limit)

    async def _stop(self, process: int, invocation: ToolInvocation) -> str:
        """End a background process with all its children.

        Args:
            process: Number of the process.
            invocation: The call.
        """
        job = self._jobs.get(invocation.session_id, process)
        job.scope.cancel()
        await job.ended.wait()
        return f"process {job.number} {job.state}"


def _show(job: Job, start: int, content: bytes) -> str:
    is_last = start + len(content) >= job.spill.total and job.ended.is_set()
    if not is_last:
        content = whole_lines(content)
    end = start + len(content)
    note = f"process {job.number} {job.state}; bytes {start} to {end} of {job.spill.total}"
    if content and not is_last:
        note += f"; continue with start={end}"
    return "\n".join(filter(None, [readable(content).rstrip("\n"), f"[{note}]"]))


def _first_line(command: str) -> str:
    line = command.strip().partition("\n")[0]
    return line if len(line) <= _SHOWN_COMMAND else f"{line[:_SHOWN_COMMAND]}…"
