"""The shell tools `bash`, `run_command` and `powershell`."""

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import anyio.to_thread
from pydantic import Field

from agentslot.session import ToolResult
from agentslot.tool.contract import Effect, ToolInvocation
from agentslot.tool.errors import ToolFailedError
from agentslot.tool.functiontool import FunctionTool
from agentslot.tool.shell.commands import Commands
from agentslot.tool.shell.jobtools import JobTools

DESCRIPTION = """\
Run a command line with bash in the root folder. Output of both streams comes back in the order of \
writing, followed by the exit code; of long output the middle is left out. There is no terminal \
and standard input is empty, so commands must not ask questions. Each call starts in the root \
folder with a fresh shell: `cd` and variables do not carry over. A process left in the background \
keeps running, but its output is not kept: redirect it to a file.\
"""

Seconds = Annotated[float, Field(gt=0)]


class Shell:
    """Offers to run commands in one folder, or each in that of its workspace.

    Attributes:
        commands: runs them.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None,
        *,
        environment: Mapping[str, str] | None = None,
        timeout_seconds: float | None = None,
    ) -> None:
        """Set up a shell; nothing runs yet.

        Args:
            folder: an existing folder; None for the folder of the Session's workspace.
            environment: all variables of the commands; by default those of this process without
                what looks like a secret, read at each call.
            timeout_seconds: limit of calls that name none.
        """
        self.commands = Commands(folder, environment=environment, timeout_seconds=timeout_seconds)

    @property
    def folder(self) -> Path | None:
        """Where every command starts; None if that differs. Commands are not confined to it."""
        return self.commands.folder

    async def aclose(self) -> None:
        """End what commands left running in the background."""
        await self.commands.aclose()

    def tool(self) -> FunctionTool[..., object]:
        """Return the `bash` tool alone, without processes that later calls can ask for."""
        return FunctionTool(
            self._bash, name="bash", description=DESCRIPTION, effect=Effect.IRREVERSIBLE
        )

    def tools(self) -> tuple[FunctionTool[..., object], ...]:
        """Return `bash`, `run_command`, `powershell` and the tools for processes.

        The same everywhere: a tool whose program is missing says so when it is called.
        """
        effect = Effect.IRREVERSIBLE
        return (
            FunctionTool(self._bash_or_start, name="bash", effect=effect),
            FunctionTool(self._run_command, name="run_command", effect=effect),
            FunctionTool(self._powershell, name="powershell", effect=effect),
            *JobTools(self.commands.jobs).tools(),
        )

    async def _bash(
        self, command: str, invocation: ToolInvocation, timeout_seconds: Seconds | None = None
    ) -> ToolResult:
        """Run one command line.

        Args:
            command: the command line; several lines are fine.
            invocation: the call.
            timeout_seconds: stop the command and all its children after so many seconds.
        """
        arguments = [*await anyio.to_thread.run_sync(shell_arguments), command]
        return await self.commands.run(
            arguments, command, invocation, timeout_seconds, has_reader=False
        )

    async def _bash_or_start(
        self,
        command: str,
        invocation: ToolInvocation,
        timeout_seconds: Seconds | None = None,
        background: bool = False,
    ) -> ToolResult:
        """Run a command line with bash in the root folder.

        Output of both streams comes back in the order of writing, followed by the exit code; of
        long output the middle is left out, and the result says how to read it. There is no
        terminal and standard input is empty, so commands must not ask questions. Each call starts
        in the root folder with a fresh shell: `cd` and variables do not carry over.

        Args:
            command: The command line; several lines are fine.
            invocation: The call.
            timeout_seconds: Stop the command and all its children after so many seconds.
            background: Return at once and let it run, such as a server; see process_read.
        """
        arguments = [*await anyio.to_thread.run_sync(shell_arguments), command]
        if background:
            return await self.commands.start(arguments, command, invocation)
        return await self.commands.run(arguments, command, invocation, timeout_seconds)

    async def _run_command(
        self,
        argv: Annotated[list[str], Field(min_length=1)],
        invocation: ToolInvocation,
        timeout_seconds: Seconds | None = None,
        background: bool = False,
    ) -> ToolResult:
        """Run a program in the root folder without a shell: nothing in its arguments is expanded.

        Output comes back as from bash.

        Args:
            argv: The program and its arguments, one by one. A program with a slash in its name is
                looked for below the root folder, another one on the PATH.
            invocation: The call.
            timeout_seconds: Stop the program and all its children after so many seconds.
            background: Return at once and let it run, such as a server; see process_read.
        """
        command = shlex.join(argv)
        if background:
            return await self.commands.start(argv, command, invocation)
        return await self.commands.run(argv, command, invocation, timeout_seconds)

    async def _powershell(
        self, command: str, invocation: ToolInvocation, timeout_seconds: Seconds | None = None
    ) -> ToolResult:
        """Run a command line with PowerShell in the root folder, where PowerShell is installed.

        Args:
            command: The command line.
            invocation: The call.
            timeout_seconds: Stop the command and all its children after so many seconds.
        """
        arguments = [*await anyio.to_thread.run_sync(powershell_arguments), command]
        return await self.commands.run(arguments, command, invocation, timeout_seconds)


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


def powershell_arguments() -> list[str]:
    """Program and options to run a command line with PowerShell.

    Raises:
        ToolFailedError: `execution_failed` if it is not installed.
    """
    program = shutil.which("pwsh") or shutil.which("powershell")
    if program is None:
        raise ToolFailedError("execution_failed", "PowerShell is not installed here; use bash")
    return [program, "-NoLogo", "-NoProfile", "-NonInteractive", "-Command"]
