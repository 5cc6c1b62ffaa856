"""The `bash` tool."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import anyio
import anyio.to_thread
from pydantic import Field

from agentslot.session import ToolResult
from agentslot.tool.contract import Effect, ToolInvocation
from agentslot.tool.errors import ToolFailedError
from agentslot.tool.fit import fit
from agentslot.tool.function_tool import FunctionTool, function_tool
from agentslot.tool.shell.environment import reduced_environment
from agentslot.tool.shell.group import is_orphaned, stop_group
from agentslot.tool.shell.process import DEFAULT_CAPACITY, Finished, Outcome, run_process

DESCRIPTION = """\
Run a command line with bash in the root folder. Output of both streams comes back in the order of \
writing, followed by the exit code; of long output the middle is left out. There is no terminal \
and standard input is empty, so commands must not ask questions. Each call starts in the root \
folder with a fresh shell: `cd` and variables do not carry over. A process left in the background \
keeps running, but its output is not kept: redirect it to a file.\
"""


class Shell:
    """Runs command lines in one folder.

    Attributes:
        folder: where every command starts. Commands are not confined to it.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        environment: Mapping[str, str] | None = None,
        timeout_seconds: float | None = None,
    ) -> None:
        """Set up a shell; nothing runs yet.

        Args:
            folder: an existing folder.
            environment: all variables of the commands; by default those of this process without
                what looks like a secret, read at each call.
            timeout_seconds: limit of calls that name none.
        """
        self.folder = Path(folder).absolute()
        self._environment = environment
        self._timeout_seconds = timeout_seconds
        self._background: set[int] = set()

    def tool(self) -> FunctionTool[..., object]:
        """Return the `bash` tool of this shell."""
        declare = function_tool(name="bash", description=DESCRIPTION, effect=Effect.IRREVERSIBLE)
        return declare(self._run)

    async def _run(
        self,
        command: str,
        invocation: ToolInvocation,
        timeout_seconds: Annotated[float, Field(gt=0)] | None = None,
    ) -> ToolResult:
        """Run one command line.

        Args:
            command: the command line; several lines are fine.
            invocation: the call.
            timeout_seconds: stop the command and all its children after so many seconds.
        """
        if "\0" in command:
            raise ToolFailedError("invalid_arguments", "a command line cannot hold a NUL character")
        timeout = timeout_seconds or self._timeout_seconds
        finished = await self._finish(command, timeout)
        note = _note(finished)
        text = fit(
            lambda size: "\n".join(filter(None, [finished.output.text(size).rstrip("\n"), note])),
            DEFAULT_CAPACITY,
            invocation.max_inline_output_bytes,
        )
        if finished.outcome is not Outcome.TIMEOUT:
            return ToolResult.succeeded(invocation.call.id, text)
        message = (
            f"the command did not end within {timeout:g} seconds and was stopped with all its "
            "children; pass a larger timeout_seconds, or leave it running in the background with "
            "its output in a file"
        )
        return ToolResult.failed(invocation.call.id, "timeout", message, text)

    async def _finish(self, command: str, timeout_seconds: float | None) -> Finished:
        environment = self._environment
        try:
            finished = await run_process(
                [*await anyio.to_thread.run_sync(shell_arguments), command],
                folder=self.folder,
                environment=reduced_environment(os.environ) if environment is None else environment,
                timeout_seconds=timeout_seconds,
            )
        except OSError as error:
            message = f"bash could not be started: {error.strerror}"
            raise ToolFailedError("execution_failed", message) from error
        await anyio.to_thread.run_sync(self._forget_ended)
        if finished.background_group is not None:
            self._background.add(finished.background_group)
        return finished

    def _forget_ended(self) -> None:
        self._background = {group for group in self._background if is_orphaned(group)}

    async def aclose(self) -> None:
        """End what commands left running in the background."""
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._forget_ended)
            async with anyio.create_task_group() as tasks:
                for group in self._background:
                    tasks.start_soon(stop_group, group)
        self._background.clear()


def shell_arguments() -> list[str]:
    """Program and options to run a command line: bash without start-up files, else sh.

    Raises:
        ToolFailedError: `execution_failed` if there is neither.
    """
    bash = "/bin/bash" if os.access("/bin/bash", os.X_OK) else shutil.which("bash")
    if bash is not None:
        return [bash, "--noprofile", "--norc", "-c"]
    sh = shutil.which("sh")
    if sh is None:
        raise ToolFailedError("execution_failed", "neither bash nor sh is installed here")
    return [sh, "-c"]


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
