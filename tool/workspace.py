"""Where a call works: the folder of its Session's workspace, never one that was merely at hand."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from agentslot.session import (
    ClassifiedError,
    ToolResult,
    WorkspaceScope,
    local_folder,
    require_boundary,
)
from agentslot.tool.contract import ToolInvocation
from agentslot.tool.errors import ToolFailedError
from agentslot.tool.functiontool import FunctionTool
from agentslot.tool.standin import StandIn

_NOWHERE = "/dev/null"  # the definitions are needed before there is a folder


def workspace_folder(invocation: ToolInvocation) -> Path:
    """The folder of this machine that the call's Session works in.

    Raises:
        ToolFailedError: `workspace_mismatch` if the Session has no workspace or the boundary is
            another one's, `workspace_not_local` if it lies on no folder of this machine.
    """
    scope = WorkspaceScope(invocation.agent, invocation.workspace)
    boundary = invocation.boundary
    try:
        require_boundary(boundary, scope)
        assert boundary is not None
        return local_folder(boundary)
    except ClassifiedError as error:
        raise ToolFailedError(error.code, error.message) from error


class PerWorkspace:
    """Tools whose state, such as a root folder and its locks, each workspace has to itself.

    Their definitions are derived once; only the objects that they are methods of are made anew.

    Args:
        make: makes these objects for a folder, each with a method `tools`; it must not block.
    """

    def __init__(self, make: Callable[[Path], Sequence[Any]]) -> None:  # any class with tools()
        self._make = make
        self._owners: dict[Path, Sequence[object]] = {}

    def tools(self) -> list["WorkspaceTool"]:
        """The tools; each call works in the folder of its own workspace."""
        templates = self._make(Path(_NOWHERE))
        return [
            WorkspaceTool(tool, partial(self._owner, index))
            for index, template in enumerate(templates)
            for tool in template.tools()
        ]

    def _owner(self, index: int, folder: Path) -> object:
        owners = self._owners.get(folder)
        if owners is None:
            owners = self._owners[folder] = self._make(folder)
        return owners[index]


class WorkspaceTool(StandIn):
    """A method as a tool, of whichever object belongs to the workspace of a call."""

    def __init__(self, tool: FunctionTool[..., object], owner: Callable[[Path], object]) -> None:
        super().__init__(tool)
        self._method = tool
        self._owner = owner

    async def invoke(self, invocation: ToolInvocation) -> ToolResult:
        """Execute the call in its workspace."""
        try:
            folder = workspace_folder(invocation)
        except ToolFailedError as error:
            return ToolResult.failed(invocation.call.id, error.code, error.message)
        return await self._method.method_of(self._owner(folder)).invoke(invocation)
