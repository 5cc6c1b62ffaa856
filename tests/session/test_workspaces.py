"""Workspaces: boundaries that show whose they are and nothing else."""

from pathlib import Path

import pytest

from agentslot import Application
from agentslot.session import (
    WORKSPACE_MANAGER,
    AgentId,
    ClassifiedError,
    LocalWorkspaces,
    LocalWorkspacesModule,
    WorkspaceId,
    WorkspaceScope,
    local_folder,
    require_boundary,
)


def scope(agent: str, workspace: str = "default") -> WorkspaceScope:
    return WorkspaceScope(AgentId(agent), WorkspaceId(workspace))


async def test_a_scope_has_one_boundary_that_shows_no_path(tmp_path: Path) -> None:
    manager = LocalWorkspaces({("writer", "default"): tmp_path})
    boundary = await manager.resolve(scope("writer"))
    assert await manager.resolve(scope("writer")) is boundary
    assert str(tmp_path) not in repr(boundary)
    assert local_folder(boundary) == tmp_path


@pytest.mark.parametrize(("agent", "workspace"), [("reader", "default"), ("writer", "other")])
async def test_an_unbound_scope_is_not_found_and_gets_no_default(
    tmp_path: Path, agent: str, workspace: str
) -> None:
    manager = LocalWorkspaces({("writer", "default"): tmp_path})
    with pytest.raises(ClassifiedError, match="workspace_not_found"):
        await manager.resolve(scope(agent, workspace))


async def test_a_folder_that_went_away_is_unavailable(tmp_path: Path) -> None:
    manager = LocalWorkspaces({("writer", "default"): tmp_path / "gone"})
    with pytest.raises(ClassifiedError, match="workspace_unavailable"):
        await manager.resolve(scope("writer"))


@pytest.mark.parametrize("folder", ["relative", "/tmp/../etc"])
def test_a_folder_must_be_plain_and_absolute(folder: str) -> None:
    with pytest.raises(ValueError, match="absolute path"):
        LocalWorkspaces({("writer", "default"): folder})


def test_two_scopes_share_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="bound twice"):
        LocalWorkspaces({("a", "default"): tmp_path, ("b", "default"): tmp_path})


async def test_a_boundary_serves_its_own_scope_alone(tmp_path: Path) -> None:
    boundary = await LocalWorkspaces({("a", "default"): tmp_path}).resolve(scope("a"))
    require_boundary(boundary, scope("a"))
    for given in (boundary, None):
        with pytest.raises(ClassifiedError, match="workspace_mismatch"):
            require_boundary(given, scope("b"))


def test_the_module_fills_the_slot(tmp_path: Path) -> None:
    module = LocalWorkspacesModule({("a", "default"): tmp_path})
    assert Application("workspaces", [module]).build()[WORKSPACE_MANAGER] is not None
