"""Workspaces: whose place an agent works in, without saying where it lies."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import anyio.to_thread

from agentslot import Module, One
from agentslot.session.errors import ClassifiedError, ErrorKind
from agentslot.session.identity import AgentId, WorkspaceId


@dataclass(frozen=True, slots=True)
class WorkspaceScope:
    """An agent in a workspace; different scopes never share a boundary."""

    agent: AgentId
    workspace: WorkspaceId


class WorkspaceBoundary(Protocol):
    """The right to work in one scope. It shows no path, address or credential."""

    @property
    def scope(self) -> WorkspaceScope:
        """Whose it is."""
        ...


class WorkspaceManager(Protocol):
    """Gives out boundaries."""

    async def resolve(self, scope: WorkspaceScope) -> WorkspaceBoundary:
        """The boundary of a scope; the same one each time.

        Raises:
            ClassifiedError: `not_found/workspace_not_found`, or
                `unavailable/workspace_unavailable` if it cannot be used now. There is no default.
        """
        ...


WORKSPACE_MANAGER = One[WorkspaceManager](
    "workspace.manager", filled_by="LocalWorkspacesModule(folders)"
)


def require_boundary(boundary: WorkspaceBoundary | None, scope: WorkspaceScope) -> None:
    """Refuse a boundary that is absent or belongs to another scope.

    Raises:
        ClassifiedError: `forbidden/workspace_mismatch`.
    """
    if boundary is None or boundary.scope != scope:
        message = f"the workspace {scope.workspace!r} of agent {scope.agent!r} was not given here"
        raise ClassifiedError(ErrorKind.FORBIDDEN, "workspace_mismatch", message)


class LocalBoundary:
    """A folder of this machine as a boundary; only `local_folder` says which."""

    __slots__ = ("_folder", "scope")

    def __init__(self, scope: WorkspaceScope, folder: Path) -> None:
        self.scope = scope
        self._folder = folder

    def __repr__(self) -> str:
        return f"LocalBoundary({self.scope!r})"

    @staticmethod
    def folder_of(boundary: "LocalBoundary") -> Path:
        """Look behind a boundary; not a part of what it shows of itself."""
        return boundary._folder


def local_folder(boundary: WorkspaceBoundary) -> Path:
    """The folder of a local boundary, for tools that work on this machine.

    Raises:
        ClassifiedError: `invalid_input/workspace_not_local`.
    """
    if not isinstance(boundary, LocalBoundary):
        message = f"{boundary!r} lies on no folder of this machine"
        raise ClassifiedError(ErrorKind.INVALID_INPUT, "workspace_not_local", message)
    return LocalBoundary.folder_of(boundary)


class LocalWorkspaces:
    """Folders of this machine, one for each scope."""

    def __init__(self, folders: Mapping[tuple[str, str], str | Path]) -> None:
        """Bind folders.

        Args:
            folders: an absolute, existing folder by agent and workspace.

        Raises:
            ValueError: a folder is not absolute, or two scopes share one.
        """
        self._boundaries: dict[WorkspaceScope, LocalBoundary] = {}
        used: set[Path] = set()
        for (agent, workspace), text in folders.items():
            folder = Path(text)
            if not folder.is_absolute() or ".." in folder.parts:
                raise ValueError(f"{str(text)!r} must be an absolute path without '..'")
            if folder in used:
                raise ValueError(f"{str(text)!r} is bound twice: scopes share no folder")
            used.add(folder)
            scope = WorkspaceScope(AgentId(agent), WorkspaceId(workspace))
            self._boundaries[scope] = LocalBoundary(scope, folder)

    async def resolve(self, scope: WorkspaceScope) -> WorkspaceBoundary:
        """The boundary of a scope, whose folder is there now."""
        boundary = self._boundaries.get(scope)
        if boundary is None:
            message = f"agent {scope.agent!r} has no workspace {scope.workspace!r}; bind a folder"
            raise ClassifiedError(ErrorKind.NOT_FOUND, "workspace_not_found", message)
        if not await anyio.to_thread.run_sync(local_folder(boundary).is_dir):
            message = f"the folder of workspace {scope.workspace!r} is not there now"
            raise ClassifiedError(ErrorKind.UNAVAILABLE, "workspace_unavailable", message)
        return boundary


class LocalWorkspacesModule(Module):
    """Workspaces that are folders of this machine."""

    def __init__(self, folders: Mapping[tuple[str, str], str | Path]) -> None:
        """Bind folders by agent and workspace, as LocalWorkspaces does."""
        super().__init__("workspace.local", WORKSPACE_MANAGER.set(LocalWorkspaces(folders)))
