"""Where the path of a call leads: seen from the root folders of the file tools."""

import os
import posixpath
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from agentslot._json import JsonValue
from agentslot.standardagent.policy.contract import PolicyEffect, ToolAction
from agentslot.tool.files import path_filter, plain_path

Folder = str | PurePath
Roots = Folder | Sequence[Folder] | Mapping[tuple[str, str], Folder]
"""One root folder, several, or those of workspaces by agent and workspace."""

CaseMatters = Callable[[Path], bool]


@dataclass(frozen=True, slots=True)
class Place:
    """A path from a root folder.

    Attributes:
        any_case: whether the disk there takes upper and lower case for each other.
    """

    path: str
    any_case: bool


class _Root:
    """A folder, in the spellings in which the file tools take it; in none if it is not known."""

    def __init__(self, folder: Folder | None, case_matters: CaseMatters) -> None:
        path = Path(folder or ".").absolute()
        spellings = os.path.normpath(path), os.path.realpath(path)
        self._folders = () if folder is None else tuple(dict.fromkeys(spellings))
        self.any_case = not case_matters(path)

    def below(self, path: str) -> str | None:
        """The path from here; None if it leads elsewhere."""
        if path.startswith("/"):
            for folder in self._folders:
                if f"{path}/".startswith(f"{folder.rstrip('/')}/"):
                    return path[len(folder) :].lstrip("/") or "."
            return None
        return None if path == ".." or path.startswith("../") else path


class RootFolders:
    """The folders that paths are relative to.

    Args:
        roots: the folders; without any an absolute path leads nowhere.
        case_matters: whether a disk tells upper from lower case in a folder; asked once for each.
    """

    def __init__(self, roots: Roots | None, case_matters: CaseMatters) -> None:
        self._by_scope: dict[tuple[str, str], list[_Root]] | None = None
        self._everywhere: list[_Root] = []
        if isinstance(roots, Mapping):
            folders = roots.items()
            self._by_scope = {scope: [_Root(each, case_matters)] for scope, each in folders}
        elif roots is None or isinstance(roots, (str, PurePath)):
            self._everywhere = [_Root(roots, case_matters)]
        else:
            self._everywhere = [_Root(each, case_matters) for each in roots]

    def places(self, action: ToolAction, text: str) -> list[Place]:
        """Where a path leads; in more than one of several roots if it may be meant for any."""
        path = posixpath.normpath(plain_path(text))
        roots = self._everywhere
        if self._by_scope is not None:
            roots = self._by_scope.get((action.agent, action.workspace), [])
        found = ((root.below(path), root.any_case) for root in roots)
        return [Place(below, any_case) for below, any_case in found if below is not None]


def holds(then: PolicyEffect, fits: Sequence[bool]) -> bool:
    """Whether a rule holds for what a call names, given which of its readings fit.

    What cannot be placed, or is uncertain, is never allowed and always denied.
    """
    if then is PolicyEffect.ALLOW:
        return bool(fits) and all(fits)
    return not fits or any(fits)


class PathCondition:
    """Whether the argument `path` leads to a place that fits one of some patterns."""

    def __init__(self, patterns: Collection[str], roots: RootFolders, then: PolicyEffect) -> None:
        self._exact = [path_filter(each) for each in patterns]
        self._in_any_case = [path_filter(each, any_case=True) for each in patterns]
        self._roots = roots
        self._then = then

    def __call__(self, action: ToolAction, arguments: Mapping[str, JsonValue]) -> bool:
        """Whether it does, as the disk there compares names."""
        return self._holds(action, arguments, lambda place: place.any_case)

    def exactly(self, action: ToolAction, arguments: Mapping[str, JsonValue]) -> bool:
        """Whether it does, letter by letter."""
        return self._holds(action, arguments, lambda _: False)

    def _holds(
        self,
        action: ToolAction,
        arguments: Mapping[str, JsonValue],
        in_any_case: Callable[[Place], bool],
    ) -> bool:
        if "path" not in arguments:
            return False
        text = arguments["path"]
        places = self._roots.places(action, text) if isinstance(text, str) else []
        fits = [
            any(
                matches(place.path)
                for matches in (self._in_any_case if in_any_case(place) else self._exact)
            )
            for place in places
        ]
        return holds(self._then, fits)
