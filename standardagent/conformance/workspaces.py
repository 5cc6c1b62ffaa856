"""The referee of `workspace.manager/v1`: each scope has a boundary of its own, or none."""

from collections.abc import Callable
from functools import partial
from pathlib import PurePath

from agentslot._conformance import Suite, check, demand
from agentslot.session import (
    AgentId,
    ClassifiedError,
    ErrorKind,
    WorkspaceBoundary,
    WorkspaceId,
    WorkspaceManager,
    WorkspaceScope,
)
from agentslot.standardagent.conformance.asking import (
    expect_end_when_cancelled,
    expect_no_blocking,
)

Managing = tuple[WorkspaceManager, WorkspaceScope]
"""A manager, and a scope that it knows."""

MakeManaging = Callable[[], Managing]


@check
async def the_boundary_of_a_scope_is_the_same_each_time(make: MakeManaging) -> None:
    """And it says whose it is: tools refuse that of another scope."""
    manager, scope = make()
    boundary = await manager.resolve(scope)
    demand(boundary.scope == scope, f"asked for {scope}, it gave the boundary of {boundary.scope}")
    demand(await manager.resolve(scope) == boundary, "asked again, it gave another one")


@check
async def another_scope_has_another_boundary_or_none(make: MakeManaging) -> None:
    """There is no default: what one agent may touch is no other's."""
    manager, scope = make()
    boundary = await manager.resolve(scope)
    for other in (
        WorkspaceScope(AgentId("nobody-knows-me"), scope.workspace),
        WorkspaceScope(scope.agent, WorkspaceId("nobody-knows-me")),
    ):
        found = await _found(manager, other)
        if found is not None:
            demand(found.scope == other, f"asked for {other}, it gave that of {found.scope}")
            demand(found != boundary, f"{other} and {scope} share a boundary")


async def _found(manager: WorkspaceManager, scope: WorkspaceScope) -> WorkspaceBoundary | None:
    """The boundary; None if it is refused as it should be."""
    try:
        return await manager.resolve(scope)
    except ClassifiedError as refusal:
        kinds = ErrorKind.NOT_FOUND, ErrorKind.UNAVAILABLE
        demand(refusal.kind in kinds, f"a scope that is unknown is refused as {refusal.kind}")
        return None


@check
async def a_boundary_shows_no_place(make: MakeManaging) -> None:
    """It is passed around: only what works in it looks behind it."""
    manager, scope = make()
    boundary = await manager.resolve(scope)
    for name in (each for each in dir(boundary) if not each.startswith("_")):
        shown = isinstance(getattr(boundary, name), PurePath)
        demand(not shown, f"its attribute {name!r} is a path")


@check
async def it_does_not_keep_the_event_loop(make: MakeManaging) -> None:
    """Whether a folder is there is found out in a thread."""
    manager, scope = make()
    await expect_no_blocking(partial(manager.resolve, scope))


@check
async def a_question_that_is_cancelled_ends(make: MakeManaging) -> None:
    """The cancellation of whoever opens a Session is let pass."""
    manager, scope = make()
    await expect_end_when_cancelled(partial(manager.resolve, scope))


WORKSPACE_MANAGER_SUITE: Suite[MakeManaging] = Suite(
    "workspace.manager/v1",
    (
        the_boundary_of_a_scope_is_the_same_each_time,
        another_scope_has_another_boundary_or_none,
        a_boundary_shows_no_place,
        it_does_not_keep_the_event_loop,
        a_question_that_is_cancelled_ends,
    ),
)
