"""Modules that put tools into the slot `tool`, each under its name."""

import os
import shutil
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import anyio

from agentslot import Contribution, Module
from agentslot.tool.contract import TOOLS, Tool
from agentslot.tool.errors import ToolRootError
from agentslot.tool.files import Browser, FileRoot, FileTools
from agentslot.tool.function_tool import function_tool
from agentslot.tool.search import Searcher
from agentslot.tool.shell import Shell


class ToolsModule(Module):
    """Tools of your own: what `@function_tool` made, bare functions, any object that is a Tool."""

    def __init__(
        self, *tools: Tool | Callable[..., object], module_id: str = "tool.functions"
    ) -> None:
        """Declare the tools.

        Args:
            tools: functions are made into tools as by `@function_tool`.
            module_id: tells several of these modules in one application apart.

        Raises:
            ToolDeclarationError: a function cannot be made into a tool.
        """
        super().__init__(module_id, *_contributions(tools))


class FilesModule(Module):
    """The tools for the files below one folder: read, write, edit, list, find and search.

    Its start fails with ToolRootError if the folder is not there.
    """

    def __init__(self, root: str | os.PathLike[str], *, module_id: str = "tool.files") -> None:
        """Declare the tools; `root` bounds what they reach."""
        self._root = FileRoot(root)
        browser = Browser(self._root)
        search = Searcher(browser, ripgrep=shutil.which("rg"))
        tools = [*FileTools(self._root).tools(), *browser.tools(), *search.tools()]
        super().__init__(module_id, *_contributions(tools))

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Check that the folder is there."""
        await _require_folder(self.id, self._root.path)
        yield


class BashModule(Module):
    """The tool `bash`. It runs with the rights of this process; no folder confines it.

    Its start fails with ToolRootError if the folder is not there. When the application stops,
    what commands left running in the background is ended.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        environment: Mapping[str, str] | None = None,
        timeout_seconds: float | None = None,
        module_id: str = "tool.bash",
    ) -> None:
        """Declare the tool.

        Args:
            root: folder in which every command starts.
            environment: all variables of the commands; by default those of this process without
                what looks like a secret.
            timeout_seconds: limit of calls that name none; by default there is none.
            module_id: id of this module.
        """
        self._shell = Shell(root, environment=environment, timeout_seconds=timeout_seconds)
        super().__init__(module_id, *_contributions([self._shell.tool()]))

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Check that the folder is there; afterwards end what commands left running."""
        await _require_folder(self.id, self._shell.folder)
        try:
            yield
        finally:
            await self._shell.aclose()


def _contributions(tools: Iterable[Tool | Callable[..., object]]) -> list[Contribution]:
    made = [_as_tool(tool) for tool in tools]
    return [TOOLS.add(tool.definition.name, tool) for tool in made]


def _as_tool(tool: Tool | Callable[..., object]) -> Tool:
    is_tool = hasattr(tool, "definition")
    return cast("Tool", tool) if is_tool else function_tool(cast("Callable[..., object]", tool))


async def _require_folder(module_id: str, folder: Path) -> None:
    if not await anyio.Path(folder).is_dir():
        raise ToolRootError(module_id, folder)
