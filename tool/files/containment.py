"""Reaching files below one root folder, and never anything outside it.

A path is walked one component at a time from a descriptor of the root. Folders are opened with
O_NOFOLLOW, so a folder that is swapped for a link between two steps makes the step fail instead
of leading away; nothing is checked by name first and opened by name later. Links are read and
followed by the walk itself, which counts how deep it stands: `..` above the root, or a link that
leads there, is refused. A file is then opened, replaced or created relative to the descriptor of
its folder.

This confines the file tools. It does not confine a shell.
"""

import os
import stat
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from unicodedata import normalize
from urllib.parse import unquote

from agentslot.tool.errors import ToolFailedError
from agentslot.tool.files.failure import reported
from agentslot.tool.files.lock import PathLocks
from agentslot.tool.files.spelling import entry_meant

MAX_LINKS = 40
"""Symbolic links followed in one path before it counts as a loop."""

# O_PATH needs no permission to read the folder, only to pass through it.
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_LISTED = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Location:
    """Where a file is or would be: a name in an open folder below the root.

    Attributes:
        folder: descriptor of the folder, open while the location is in use.
        name: entry in that folder, no link when it was looked at; `.` for the root itself.
        path: the path from the root without links, `/` between the components.
    """

    folder: int
    name: str
    path: str

    def open(self) -> int:
        """Descriptor of the regular file here, for reading.

        Raises:
            ToolFailedError: nothing is here, or no regular file (opening a pipe could hang).
            OSError: the entry was swapped for a link in this moment, or may not be read.
        """
        self._require_regular(os.stat(self.name, dir_fd=self.folder, follow_symlinks=False))
        descriptor = os.open(self.name, _FILE, dir_fd=self.folder)
        try:
            self._require_regular(os.fstat(descriptor))
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def open_folder(self) -> int:
        """Descriptor of the folder here, for listing.

        Raises:
            OSError: nothing is here, or no folder.
        """
        return os.open(self.name, _LISTED, dir_fd=self.folder)

    def is_file(self) -> bool:
        """Whether a regular file is here."""
        try:
            status = os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return stat.S_ISREG(status.st_mode)

    def status(self) -> os.stat_result | None:
        """Status of the regular file here; None if nothing is here.

        Raises:
            ToolFailedError: something else than a regular file is here.
        """
        try:
            status = os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        self._require_regular(status)
        return status

    def similar(self) -> list[str]:
        """Names in the folder that look like this one, in upper or lower case."""
        descriptor = os.open(".", _LISTED, dir_fd=self.folder)
        try:
            names = {name.casefold(): name for name in os.listdir(descriptor)}
        finally:
            os.close(descriptor)
        return [names[alike] for alike in get_close_matches(self.name.casefold(), names)]

    def _require_regular(self, status: os.stat_result) -> None:
        if stat.S_ISREG(status.st_mode):
            return
        if stat.S_ISDIR(status.st_mode):
            raise ToolFailedError("is_a_folder", f"{self.path!r} is a folder; name a file in it")
        raise ToolFailedError(
            "not_regular", f"{self.path!r} is no regular file (a pipe, device or socket)"
        )


class FileRoot:
    """A folder that bounds what the file tools can reach."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()
        self._locks = PathLocks()

    @property
    def real(self) -> Path:
        """The root without links, as it is now."""
        return Path(os.path.realpath(self.path))

    @contextmanager
    def locate(self, path: str, *, create_folders: bool = False) -> Generator[Location]:
        """Find `path` and hold its folder open; the last component need not exist.

        Args:
            path: relative to the root, or absolute below it; `~` and `file://` are understood.
            create_folders: make the folders on the way that do not exist.

        Raises:
            ToolFailedError: `path_not_allowed` if it leads outside the root, `link_loop`,
                `not_found`, `not_a_folder`, `permission_denied`, or what else the system refused.
        """
        with reported(path):
            walk = _Walk(self.path, create_folders)
            try:
                name = walk.to(path)
                yield Location(walk.folder, name, "/".join([*walk.names, name]))
            finally:
                walk.close()

    @contextmanager
    def locate_exclusively(self, path: str, *, create_folders: bool = False) -> Generator[Location]:
        """As `locate`, while no other thread holds the same file, whatever its spelling."""
        with (
            self.locate(path, create_folders=create_folders) as location,
            self._locks.hold(_regardless_of_case(location.path)),
        ):
            yield location


class _Walk:
    """Descriptors of the folders from the root down to where the walk stands."""

    def __init__(self, root: Path, create: bool) -> None:
        real = Path(os.path.realpath(root))
        try:
            self._open = [os.open(real, _FOLDER)]
        except OSError as error:
            message = f"the root folder cannot be opened: {error.strerror}"
            raise ToolFailedError("root_unavailable", message) from error
        self._spellings = (real.parts, root.parts)
        self._create = create
        self._links = 0
        self.names: list[str] = []

    @property
    def folder(self) -> int:
        return self._open[-1]

    def to(self, path: str) -> str:
        """Walk to the folder of the last component and return that component."""
        if not path or "\0" in path:
            raise ToolFailedError("invalid_path", "path must be a non-empty text without NUL")
        waiting = deque(self._components(plain_path(path), path))
        while waiting:
            part = waiting.popleft()
            if part in {"", "."}:
                continue
            if part == "..":
                self._leave(path)
                continue
            part = entry_meant(self.folder, part)
            if (target := self._link_target(part, path)) is not None:
                waiting.extendleft(reversed(self._components(target, path)))
            elif all(rest in {"", "."} for rest in waiting):
                return part
            else:
                self._enter(part)
        return "."

    def close(self) -> None:
        for descriptor in self._open:
            os.close(descriptor)

    def _components(self, path: str, asked: str) -> list[str]:
        """Components to walk from here; an absolute path starts at the root again."""
        if not path.startswith("/"):
            return path.split("/")
        parts = ("/", *filter(None, path.split("/")))
        for spelling in self._spellings:
            if parts[: len(spelling)] == spelling:
                while self.names:
                    self._leave(asked)
                return list(parts[len(spelling) :])
        raise _outside(asked)

    def _link_target(self, name: str, asked: str) -> str | None:
        try:
            target = os.readlink(name, dir_fd=self.folder)
        except OSError:  # no link, or nothing there: the next step reports what matters
            return None
        self._links += 1
        if self._links > MAX_LINKS:
            raise ToolFailedError("link_loop", f"{asked!r} leads through too many symbolic links")
        return target

    def _enter(self, name: str) -> None:
        try:
            descriptor = os.open(name, _FOLDER, dir_fd=self.folder)
        except FileNotFoundError:
            if not self._create:
                raise
            with suppress(FileExistsError):  # another call made it in this moment
                os.mkdir(name, dir_fd=self.folder)
            descriptor = os.open(name, _FOLDER, dir_fd=self.folder)
        self._open.append(descriptor)
        self.names.append(name)

    def _leave(self, asked: str) -> None:
        if not self.names:
            raise _outside(asked)
        self.names.pop()
        os.close(self._open.pop())


def plain_path(path: str) -> str:
    """The path that a model meant by `~/…` or a file URL."""
    if path.startswith("file://"):
        return unquote(path.removeprefix("file://").removeprefix("localhost"))
    return os.path.expanduser(path) if path.startswith("~") else path


def _regardless_of_case(path: str) -> str:
    """One text for all spellings that some disk takes for the same file.

    Where the disk tells them apart, two files wait for each other now and then for nothing.
    """
    return normalize("NFC", normalize("NFC", path).casefold())


def _outside(path: str) -> ToolFailedError:
    return ToolFailedError(
        "path_not_allowed",
        f"{path!r} leads outside the root folder; give a path relative to the root",
    )
