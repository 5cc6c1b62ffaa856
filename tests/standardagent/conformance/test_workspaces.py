"""The referee of workspace managers."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agentslot.session import (
    AgentId,
    ClassifiedError,
    ErrorKind,
    LocalWorkspaces,
    WorkspaceId,
    WorkspaceScope,
)
from agentslot.standardagent.conformance import WORKSPACE_MANAGER_SUITE, asking
from tests.standardagent.conformance.judging import broken_rules
from tests.standardagent.conformance.wrong import Work, stubborn

MINE = WorkspaceScope(AgentId("me"), WorkspaceId("here"))


async def test_our_manager_conforms(tmp_path: Path) -> None:
    await WORKSPACE_MANAGER_SUITE.check(lambda: (LocalWorkspaces({("me", "here"): tmp_path}), MINE))


@dataclass(frozen=True)
class Boundary:
    scope: WorkspaceScope


@dataclass(frozen=True)
class Open:
    scope: WorkspaceScope
    folder: Path = Path("/home/me")


class Manager:
    def __init__(self, work: Work) -> None:
        self.resolve: Any = work


async def makes_any(scope: WorkspaceScope) -> Any:
    return Boundary(scope)


async def test_a_manager_that_makes_places_for_all_conforms() -> None:
    await WORKSPACE_MANAGER_SUITE.check(lambda: (Manager(makes_any), MINE))


async def makes_new_ones(scope: WorkspaceScope) -> Any:
    class Another(Boundary):
        pass

    return Another(scope)


async def has_a_default(scope: WorkspaceScope) -> Any:
    return Boundary(MINE)


class SameForAll(Boundary):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameForAll)

    def __hash__(self) -> int:
        return 0


async def shares(scope: WorkspaceScope) -> Any:
    return SameForAll(scope)


async def forbids(scope: WorkspaceScope) -> Any:
    if scope != MINE:
        raise ClassifiedError(ErrorKind.FORBIDDEN, "not_yours", "it is not yours")
    return Boundary(scope)


async def is_open(scope: WorkspaceScope) -> Any:
    return Open(scope)


async def blocks(scope: WorkspaceScope) -> Any:
    enough = time.perf_counter() + 0.001
    while time.perf_counter() < enough:
        pass
    return Boundary(scope)


OTHERS = "another_scope_has_another_boundary_or_none"


@pytest.mark.parametrize(
    ("work", "rule", "said"),
    [
        (makes_new_ones, "the_boundary_of_a_scope_is_the_same_each_time", "it gave another one"),
        (has_a_default, OTHERS, "nobody-knows-me"),
        (shares, OTHERS, "share a boundary"),
        (forbids, OTHERS, "a scope that is unknown is refused as forbidden"),
        (is_open, "a_boundary_shows_no_place", "its attribute 'folder' is a path"),
        (blocks, "it_does_not_keep_the_event_loop", "it keeps the event loop"),
        (stubborn(makes_any), "a_question_that_is_cancelled_ends", "goes on"),
    ],
)
async def test_a_broken_manager_fails_the_check_that_is_for_it(
    work: Work, rule: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if rule == "a_question_that_is_cancelled_ends":
        monkeypatch.setattr(asking, "CANCEL_SECONDS", 0.0)
    if work is blocks:
        monkeypatch.setattr(asking, "STEP_SECONDS", 0.0005)
    found = await broken_rules(WORKSPACE_MANAGER_SUITE, lambda: (Manager(work), MINE))
    assert list(found) == [rule]
    assert said in found[rule]
