"""Modules that put tools into the slot `tool`, each under its name."""

import os
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import cast

import anyio

from agentslot import Contribution, InvalidModule, Module, Requirement, Resolver
from agentslot.session import WORKSPACE_MANAGER
from agentslot.tool.contract import TOOLS, Tool
from agentslot.tool.deferred import DeferredTool
from agentslot.tool.environment import ENVIRONMENTS, ExecutionEnvironment, verify
from agentslot.tool.errors import ToolRootError
from agentslot.tool.files import Browser, ChangeLog, FileRoot, FileTools
from agentslot.tool.functiontool import function_tool
from agentslot.tool.search import Searcher, find_ripgrep
from agentslot.tool.shell import Shell
from agentslot.tool.shell.commands import Commands
from agentslot.tool.workspace import PerWorkspace


class ToolsModule(Module):
    """Tools of your own: what `@function_tool` made, bare functions, any object that is a Tool."""

    def __init__(
        self,
        *tools: Tool | Callable[..., object],
        deferred: bool = False,
        module_id: str = "tool.functions",
    ) -> None:
        """Declare the tools.

        Args:
            tools: functions are made into tools as by `@function_tool`.
            deferred: show them to the model only once it has found them with `tool_search`; for
                catalogues that are too large to stand in every request.
            module_id: tells several of these modules in one application apart.

        Raises:
            ToolDeclarationError: a function cannot be made into a tool.
            TypeError: something is neither a tool nor a function, or is the class of a tool.
        """
        made = [_as_tool(tool) for tool in tools]
        shown = [DeferredTool(tool) for tool in made] if deferred else made
        super().__init__(module_id, *_contributions(shown))


class FilesModule(Module):
    """The tools for the files below one folder: read, write, edit, list, find and search.

    Its start fails with ToolRootError if the folder is not there. Without a folder each Session
    works in its own workspace, and the application needs a workspace manager.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        *,
        changes: str | os.PathLike[str] | None = None,
        module_id: str = "tool.files",
    ) -> None:
        """Declare the tools.

        Args:
            root: bounds what they reach; by default the Session's workspace does.
            changes: folder outside of the root in which each change is recorded first, so that
                `agentslot sessions undo` can take it back.
            module_id: id of this module.
        """
        log = None if changes is None else ChangeLog(changes)
        ripgrep = find_ripgrep()

        def below(folder: Path) -> tuple[FileTools, Browser, Searcher]:
            place = FileRoot(folder)
            browser = Browser(place)
            return FileTools(place, changes=log), browser, Searcher(browser, ripgrep=ripgrep)

        self._root = None if root is None else Path(root).absolute()
        tools: Iterable[Tool]
        if self._root is None:
            tools = PerWorkspace(below).tools()
        else:
            tools = [tool for owner in below(self._root) for tool in owner.tools()]
        super().__init__(module_id, *_contributions(tools), requires=_workspace(self._root))

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Check that the folder is there."""
        await _require_folder(self.id, self._root)
        yield


class BashModule(Module):
    """The tool `bash`. It runs with the rights of this process; no folder confines it.

    Its start fails with ToolRootError if the folder is not there. When the application stops,
    what commands left running in the background is ended.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        timeout_seconds: float | None = None,
        module_id: str = "tool.bash",
    ) -> None:
        """Declare the tool.

        Args:
            root: folder in which every command starts; by default the Session's workspace, for
                which the application needs a workspace manager.
            environment: all variables of the commands; by default those of this process without
                what looks like a secret.
            timeout_seconds: limit of calls that name none; by default there is none.
            module_id: id of this module.
        """
        self._shell = Shell(root, environment=environment, timeout_seconds=timeout_seconds)
        super().__init__(
            module_id,
            *_contributions([self._shell.tool()]),
            requires=_workspace(self._shell.folder),
        )

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Check that the folder is there; afterwards end what commands left running."""
        await _require_folder(self.id, self._shell.folder)
        with _alone(self, self._shell.commands):
            try:
                yield
            finally:
                await self._shell.aclose()


class ShellModule(Module):
    """The tools `bash`, `run_command`, `powershell`, and `process_…` for what they leave running.

    Without a sandbox they run with the rights of this process; no folder confines them. With one,
    the start tries to break it, and fails with SandboxError if that works or if it is not there:
    nothing is ever run outside instead. The start also fails with ToolRootError if the folder is
    not there. When the application stops, all that runs is ended.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        *,
        sandbox: str | None = None,
        environment: Mapping[str, str] | None = None,
        timeout_seconds: float | None = None,
        module_id: str = "tool.shell",
    ) -> None:
        """Declare the tools.

        Args:
            root: folder in which every command starts; by default the Session's workspace, for
                which the application needs a workspace manager.
            sandbox: key in the slot `execution.environment` of the place where commands run.
            environment: all variables of the commands; by default those of this process without
                what looks like a secret.
            timeout_seconds: limit of calls that name none; by default there is none.
            module_id: id of this module.
        """
        shell = Shell(root, environment=environment, timeout_seconds=timeout_seconds)
        self._commands = shell.commands
        self._sandbox = sandbox

        def placed(tool: Tool, resolver: Resolver) -> Tool:
            if sandbox is not None:
                shell.commands.place = resolver.key(ENVIRONMENTS, sandbox)
            return tool

        super().__init__(
            module_id,
            *(
                TOOLS.add_with(tool.definition.name, partial(placed, tool))
                for tool in shell.tools()
            ),
            requires=[
                *_workspace(self._commands.folder),
                *([] if sandbox is None else [ENVIRONMENTS.key(sandbox)]),
            ],
        )

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Check the folder and the sandbox; afterwards end all that runs."""
        await _require_folder(self.id, self._commands.folder)
        if self._sandbox is not None:
            await self._verify()
        with _alone(self, self._commands):
            async with self._commands.running():
                yield

    async def _verify(self) -> None:
        place, folder = self._commands.place, self._commands.folder
        if folder is not None:
            await verify(place, folder)
            return
        async with anyio.TemporaryDirectory(prefix="agentslot-") as one_of_many:
            await verify(place, Path(one_of_many))


class SandboxModule(Module):
    """A place for commands to run in, under a key that ShellModule names."""

    def __init__(
        self, key: str, environment: ExecutionEnvironment, *, module_id: str | None = None
    ) -> None:
        """Declare it, for example `SandboxModule("bubblewrap", BubblewrapEnvironment())`."""
        super().__init__(module_id or f"sandbox.{key}", ENVIRONMENTS.add(key, environment))


def _contributions(tools: Iterable[Tool]) -> list[Contribution]:
    return [TOOLS.add(tool.definition.name, tool) for tool in tools]


def _as_tool(tool: Tool | Callable[..., object]) -> Tool:
    if hasattr(tool, "definition"):
        if isinstance(tool, type):
            raise TypeError(f"{tool.__name__} is a class; pass a tool of it: {tool.__name__}(…)")
        return cast("Tool", tool)
    if not callable(tool):
        raise TypeError(
            f"{type(tool).__name__} is neither a tool nor a function; ToolsModule takes them one by"
            " one: ToolsModule(add, *others)"
        )
    return function_tool(tool)


def _workspace(folder: Path | None) -> tuple[Requirement, ...]:
    """What tools without a folder of their own need."""
    return (WORKSPACE_MANAGER.required(),) if folder is None else ()


@contextmanager
def _alone(module: Module, commands: Commands) -> Generator[None]:
    """Keep applications from sharing commands: the first to stop would end those of the others."""
    if commands.in_use:
        raise InvalidModule(
            f"the commands of {type(module).__name__} run in another application that is started",
            fix=f"make a {type(module).__name__} for each application",
            module=module.id,
            where=module.where,
        )
    commands.in_use = True
    try:
        yield
    finally:
        commands.in_use = False


async def _require_folder(module_id: str, folder: Path | None) -> None:
    if folder is not None and not await anyio.Path(folder).is_dir():
        raise ToolRootError(module_id, folder)
