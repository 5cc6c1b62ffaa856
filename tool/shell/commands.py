"""Running commands for a model: in one folder, with a result that says how to go on."""

import os
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
import anyio.to_thread

from agentslot.session import ToolResult
from agentslot.tool.contract import ToolInvocation
from agentslot.tool.environment.contract import ExecutionEnvironment, Launch
from agentslot.tool.environment.local import LocalEnvironment
from agentslot.tool.environment.run import run_in
from agentslot.tool.errors import SandboxError, ToolFailedError
from agentslot.tool.fit import fit
from agentslot.tool.process.group import is_orphaned, stop_group
from agentslot.tool.process.output import DEFAULT_CAPACITY
from agentslot.tool.process.run import Finished, Outcome
from agentslot.tool.process.spill import Spill
from agentslot.tool.process.variables import reduced_environment
from agentslot.tool.shell.jobs import Job, Jobs
from agentslot.tool.workspace import workspace_folder

MORE_BYTES = 40_000
"""Bytes to read on with, as the line in brackets proposes."""


class Commands:
    """Runs commands in one folder, or each in that of its workspace.

    Attributes:
        folder: where every command starts; None for the folder of the Session's workspace.
        place: where they run.
        jobs: those that later calls can ask for.
        in_use: whether a started application owns what they leave running.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None,
        *,
        environment: Mapping[str, str] | None,
        timeout_seconds: float | None,
    ) -> None:
        self.folder = None if folder is None else Path(folder).absolute()
        self.place: ExecutionEnvironment = LocalEnvironment()
        self.jobs = Jobs()
        self.in_use = False
        self._environment = environment
        self._timeout_seconds = timeout_seconds
        self._background: set[int] = set()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Commands can be started in the background; at the end all that runs is ended."""
        async with self.jobs.running():
            try:
                yield
            finally:
                await self.aclose()

    async def run(
        self,
        arguments: Sequence[str],
        command: str,
        invocation: ToolInvocation,
        timeout_seconds: float | None,
        *,
        has_reader: bool = True,
    ) -> ToolResult:
        """Run a command to its end.

        Args:
            arguments: the program and its arguments.
            command: how the model wrote it.
            invocation: the call.
            timeout_seconds: limit of this call.
            has_reader: whether `process_read` is there to read what is left out.
        """
        timeout = timeout_seconds or self._timeout_seconds
        spill = self.jobs.new_spill()
        with _failures(arguments[0]):
            finished = await run_in(
                await self._launch(arguments, invocation), timeout_seconds=timeout, spill=spill
            )
        await anyio.to_thread.run_sync(self._forget_ended)
        if finished.background_group is not None:
            self._background.add(finished.background_group)
        text = self._text(finished, spill, command, invocation, has_reader=has_reader)
        if finished.outcome is not Outcome.TIMEOUT:
            return ToolResult.succeeded(invocation.call.id, text)
        message = (
            f"the command did not end within {timeout:g} seconds and was stopped with all its "
            "children; pass a larger timeout_seconds, or leave it running in the background"
            + ("" if has_reader else " with its output in a file")
        )
        return ToolResult.failed(invocation.call.id, "timeout", message, text)

    async def start(
        self, arguments: Sequence[str], command: str, invocation: ToolInvocation
    ) -> ToolResult:
        """Start a command and leave it running."""
        with _failures(arguments[0]):
            launch = await self._launch(arguments, invocation)
            job = await self.jobs.start(invocation.session_id, command, launch)
        text = (
            f"[process {job.number} started; its output: process_read with process={job.number}; "
            f"its end: process_stop]"
        )
        return ToolResult.succeeded(invocation.call.id, text)

    async def aclose(self) -> None:
        """End what commands left running, and delete what they wrote too much."""
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._forget_ended)
            async with anyio.create_task_group() as tasks:
                for group in self._background:
                    tasks.start_soon(stop_group, group)
            await self.jobs.aclose()
        self._background.clear()

    async def _launch(self, arguments: Sequence[str], invocation: ToolInvocation) -> Launch:
        folder = self.folder or workspace_folder(invocation)
        variables = self._environment
        if variables is None:
            variables = reduced_environment(os.environ)
        return await anyio.to_thread.run_sync(self.place.launch, arguments, folder, variables)

    def _text(
        self,
        finished: Finished,
        spill: Spill,
        command: str,
        invocation: ToolInvocation,
        *,
        has_reader: bool,
    ) -> str:
        job: Job | None = None

        def where(start: int) -> str:
            nonlocal job
            job = job or self.jobs.keep(invocation.session_id, command, spill, finished)
            if has_reader:
                return f"read on with process_read: process={job.number}, start={start}"
            if spill.path is None:
                return ""
            return f"read on with: tail -c +{start + 1} {spill.path} | head -c {MORE_BYTES}"

        def render(size: int) -> str:
            shown = finished.output.text(size, where).rstrip("\n")
            return "\n".join(filter(None, [shown, _note(finished)]))

        text = fit(render, DEFAULT_CAPACITY, invocation.max_inline_output_bytes)
        if job is None:
            spill.remove()
        return text

    def _forget_ended(self) -> None:
        self._background = {group for group in self._background if is_orphaned(group)}


@contextmanager
def _failures(program: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        message = f"{program!r} could not be started: {error.strerror}"
        place = str(error.filename or program)
        if place != program:  # the folder is entered before the program is looked for
            message = (
                f"the folder {place!r}, where commands start, cannot be used: {error.strerror}"
            )
        raise ToolFailedError("execution_failed", message) from error
    except ValueError as error:  # a NUL, which no argument can hold
        message = "a command cannot hold a NUL character"
        raise ToolFailedError("invalid_arguments", message) from error
    except SandboxError as error:
        raise ToolFailedError("sandbox_unavailable", str(error)) from error


def _note(finished: Finished) -> str:
    if finished.outcome is Outcome.TIMEOUT:
        return "[stopped: time limit reached]"
    ended = f"[exit code {finished.exit_code}]"
    if finished.signal is not None:
        ended = f"[ended by {finished.signal}, exit code {finished.exit_code}]"
    if finished.background_group is None:
        return ended
    group = finished.background_group
    return f"{ended}\n[still running in the background; to stop it: kill -- -{group}]"
