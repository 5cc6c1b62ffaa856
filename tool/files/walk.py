"""Walking the files below a folder, in the order of their paths, as git would list them.

Links are neither followed nor reported, nor are pipes, devices and sockets. Ignored and hidden
entries are left out, and ignored folders are not entered. A folder with a `.git` of its own is
another repository: the rules from outside stop there, and its own do not reach out. Unlike git, a
walk leaves out what is tracked although a rule ignores it.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from agentslot.tool.files.ignore import IgnoreLayer, is_ignored

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_RULES = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAX_RULES_BYTES = 1024 * 1024

Layers = tuple[IgnoreLayer, ...]


class Entry(NamedTuple):
    """A regular file or a folder that a walk has met.

    Attributes:
        folder: descriptor of the folder it lies in, open until the next entry is asked for.
        name: its name in that folder.
        path: its path from the start of the walk.
        is_folder: whether it is a folder.
    """

    folder: int
    name: str
    path: str
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
    base: str
    layers: Layers
    waiting: list[tuple[str, bool]]


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


def walk(start: Start, *, hidden: bool = False, max_depth: int | None = None) -> Iterator[Entry]:
    """Yield files and folders; a folder comes before what lies in it.

    Args:
        start: the folder and its rules.
        hidden: whether to report and enter entries whose name starts with a dot; `.git` never is.
        max_depth: 1 for the entries of the folder itself, 2 for those of its folders, too.
    """
    skip = len(start.base)
    stack = [_read_folder(os.dup(start.descriptor), start.base, start.layers, start.everywhere)]
    try:
        while stack:
            folder = stack[-1]
            if not folder.waiting:
                os.close(stack.pop().descriptor)
                continue
            name, is_folder = folder.waiting.pop()
            if name[0] == "." and (not hidden or name == ".git"):
                continue
            path = folder.base + name
            if folder.layers and is_ignored(folder.layers, path, name, is_folder=is_folder):
                continue
            yield Entry(folder.descriptor, name, path[skip:], is_folder)
            if is_folder and (max_depth is None or len(stack) < max_depth):
                with suppress(OSError):  # gone, swapped for a link, or not ours to read
                    below = os.open(name, _FOLDER, dir_fd=folder.descriptor)
                    stack.append(_read_folder(below, f"{path}/", folder.layers, start.everywhere))
    finally:
        for folder in stack:
            os.close(folder.descriptor)


def _read_folder(descriptor: int, base: str, layers: Layers, everywhere: Layers) -> _Folder:
    """List a folder and add its own rules; its descriptor is closed if that fails."""
    try:
        with os.scandir(descriptor) as entries:
            waiting = [
                (entry.name, is_folder)
                for entry in entries
                if (is_folder := entry.is_dir(follow_symlinks=False))
                or entry.is_file(follow_symlinks=False)
            ]
        has_rules = (".gitignore", False) in waiting
        if (".git", True) in waiting or (".git", False) in waiting:
            own = _layer(".git/info/exclude", base, descriptor)
            layers = tuple(layer.at(base) for layer in everywhere) + own
        if has_rules:
            layers += _layer(".gitignore", base, descriptor)
    except BaseException:
        os.close(descriptor)
        raise
    waiting.sort(reverse=True)
    return _Folder(descriptor, base, layers, waiting)


def _layer(path: str | Path, base: str, folder: int | None = None) -> Layers:
    """The rules in a file, if it is a regular file that can be read."""
    with suppress(OSError):
        descriptor = os.open(path, _RULES, dir_fd=folder)
        with open(descriptor, "rb") as file:
            if S_ISREG(os.fstat(descriptor).st_mode):
                layer = IgnoreLayer(base, file.read(_MAX_RULES_BYTES))
                return (layer,) if layer else ()
    return ()
