"""Walking the files below a folder, in the order of their paths, as git would list them.

Links are neither followed nor reported, nor are pipes, devices and sockets. Ignored and hidden
entries are left out, and ignored folders are not entered. A folder with a `.git` of its own is
another repository: the rules from outside stop there, and its own do not reach out. Unlike git, a
walk leaves out what is tracked although a rule ignores it.
"""

import os
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from agentslot.tool.files.ignore import IgnoreLayer, ignored_names

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_RULES = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAX_RULES_BYTES = 1024 * 1024

Layers = tuple[IgnoreLayer, ...]


class Siblings(NamedTuple):
    """Regular files of one folder that follow each other in the order of paths, or one folder.

    Attributes:
        folder: path of the folder they lie in, from the start of the walk: empty, or ends in `/`.
        names: their names in it.
        is_folder: whether this is a folder, whose content follows.
    """

    folder: str
    names: list[str]
    is_folder: bool


@dataclass(frozen=True, slots=True)
class Start:
    """Where a walk begins, and the rules that hold there.

    Attributes:
        descriptor: the open folder; it stays with the caller.
        base: its path from the top of its repository: empty, or ends in `/`.
        layers: rules of the folders above it, the deepest last.
        everywhere: rules that hold in every repository, such as the user's own.
    """

    descriptor: int
    base: str = ""
    layers: Layers = ()
    everywhere: Layers = ()


@dataclass(slots=True)
class _Folder:
    """A folder on the way; its entries wait in reverse order."""

    descriptor: int
    path: str  # from the start of the walk
    layers: Layers
    waiting: list[Siblings]


def start_at(descriptor: int, folder: Path, root: Path, everywhere: Layers) -> Start:
    """Collect the rules above `folder`: up to the top of its repository, or else up to `root`."""
    if os.path.lexists(folder / ".git"):
        return Start(descriptor, everywhere=everywhere)
    above = folder.parents
    top = next((parent for parent in above if os.path.lexists(parent / ".git")), None)
    layers = everywhere if top is None else everywhere + _layer(top / ".git/info/exclude", "")
    top = top or root
    base = ""
    for parent in reversed(above):
        if parent.is_relative_to(top):
            base = "".join(f"{part}/" for part in parent.relative_to(top).parts)
            layers += _layer(parent / ".gitignore", base)
    base = "".join(f"{part}/" for part in folder.relative_to(top).parts)
    return Start(descriptor, base, layers, everywhere)


def walk(start: Start, *, hidden: bool = False, max_depth: int | None = None) -> Iterator[Siblings]:
    """Yield files and folders; a folder comes before what lies in it.

    Whole runs of files are yielded at once, since a step for each would cost more than all else.

    Args:
        start: the folder and its rules.
        hidden: whether to report and enter entries whose name starts with a dot; `.git` never is.
        max_depth: 1 for the entries of the folder itself, 2 for those of its folders, too.
    """
    read = _Reader(start, hidden)
    stack = [read.folder(os.dup(start.descriptor), "", start.layers)]
    try:
        while stack:
            folder = stack[-1]
            if not folder.waiting:
                os.close(stack.pop().descriptor)
                continue
            siblings = folder.waiting.pop()
            yield siblings
            if siblings.is_folder and (max_depth is None or len(stack) < max_depth):
                (name,) = siblings.names
                with suppress(OSError):  # gone, swapped for a link, or not ours to read
                    below = os.open(name, _FOLDER, dir_fd=folder.descriptor)
                    stack.append(read.folder(below, f"{folder.path}{name}/", folder.layers))
    finally:
        for folder in stack:
            os.close(folder.descriptor)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Lists folders, and leaves out what is ignored and hidden."""

    start: Start
    hidden: bool

    def folder(self, descriptor: int, path: str, layers: Layers) -> _Folder:
        """List an open folder and add its own rules; its descriptor is closed if that fails."""
        try:
            files, folders = _entries(descriptor)
            base = self.start.base + path
            is_repository = _take_away(".git", files) or _take_away(".git", folders)
            if is_repository:
                own = _layer(".git/info/exclude", base, descriptor)
                layers = tuple(layer.at(base) for layer in self.start.everywhere) + own
            if ".gitignore" in files:
                layers += _layer(".gitignore", base, descriptor)
            files = self._shown(files, base, layers, is_folder=False)
            folders = self._shown(folders, base, layers, is_folder=True)
        except BaseException:
            os.close(descriptor)
            raise
        return _Folder(descriptor, path, layers, _runs(path, files, folders))

    def _shown(self, names: list[str], base: str, layers: Layers, *, is_folder: bool) -> list[str]:
        """The names that are reported, sorted."""
        names.sort()
        if not self.hidden:  # no character stands between the dot and the slash
            del names[bisect_left(names, ".") : bisect_left(names, "/")]
        if not layers or not names:
            return names
        ignored = ignored_names(layers, base, names, is_folder=is_folder)
        return [name for name in names if name not in ignored] if ignored else names


def _take_away(name: str, names: list[str]) -> bool:
    """Remove a name; whether it was there."""
    if name not in names:
        return False
    names.remove(name)
    return True


def _entries(descriptor: int) -> tuple[list[str], list[str]]:
    """Names of the regular files and of the folders in an open folder."""
    with os.scandir(descriptor) as scanned:
        entries = list(scanned)
    files = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    if len(files) == len(entries):
        return files, []
    return files, [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]


def _runs(path: str, files: list[str], folders: list[str]) -> list[Siblings]:
    """Sorted files and folders merged, the last first."""
    runs: list[Siblings] = []
    end = len(files)
    for folder in reversed(folders):
        start = bisect_left(files, folder, hi=end)
        if start < end:
            runs.append(Siblings(path, files[start:end], is_folder=False))
        runs.append(Siblings(path, [folder], is_folder=True))
        end = start
    if end:
        runs.append(Siblings(path, files[:end], is_folder=False))
    return runs


def _layer(path: str | Path, base: str, folder: int | None = None) -> Layers:
    """The rules in a file, if it is a regular file that can be read."""
    with suppress(OSError):
        descriptor = os.open(path, _RULES, dir_fd=folder)
        with open(descriptor, "rb") as file:
            if S_ISREG(os.fstat(descriptor).st_mode):
                layer = IgnoreLayer(base, file.read(_MAX_RULES_BYTES))
                return (layer,) if layer else ()
    return ()
