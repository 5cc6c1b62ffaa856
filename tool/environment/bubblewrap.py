"""Running commands in namespaces of their own, through bubblewrap (Linux, no daemon, no root)."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from agentslot.tool.environment.contract import Boundary, Launch
from agentslot.tool.errors import SandboxError

_EMPTY = "/tmp"  # noqa: S108 - a folder of its own in the sandbox, empty at the start
_SYSTEM = ("/usr", "/opt")
_MERGED = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")  # links into /usr, or folders
_SETTINGS = (
    "alternatives", "ca-certificates", "group", "hosts", "ld.so.cache", "ld.so.conf",
    "ld.so.conf.d", "localtime", "mime.types", "nsswitch.conf", "passwd", "protocols",
    "resolv.conf", "services", "ssl",
)  # fmt: skip
_NAMESPACES = (
    "--unshare-user-try", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try",
)  # fmt: skip


class BubblewrapEnvironment:
    """A view of the machine with the system read-only, the folder writable and nothing else.

    `/tmp` and the home folder are empty and forgotten with the command.
    """

    def __init__(
        self, *, network: bool = False, readable: Iterable[str | Path] = (), program: str = "bwrap"
    ) -> None:
        """Set up; nothing runs yet.

        Args:
            network: leave the network reachable.
            readable: more files and folders to show, read-only: a tool chain below a home folder.
            program: bubblewrap itself.
        """
        self._network = network
        self._readable = [str(Path(path).absolute()) for path in readable]
        self._program = program

    @property
    def confines(self) -> frozenset[Boundary]:
        """All there is, but the network if that was left open."""
        return frozenset(Boundary) - ({Boundary.NETWORK} if self._network else set())

    def launch(
        self, arguments: Sequence[str], folder: Path, variables: Mapping[str, str]
    ) -> Launch:
        """Run the command behind bubblewrap.

        Raises:
            SandboxError: bubblewrap is not installed.
        """
        program = shutil.which(self._program)
        if program is None:
            raise SandboxError(self._program, "it is not installed; install bubblewrap")
        wrapped = [program, *self._view(folder), "--", *arguments]
        return Launch(wrapped, {**variables, "HOME": _EMPTY}, folder)

    def _view(self, folder: Path) -> Iterator[str]:
        yield from ("--die-with-parent", "--new-session", *_NAMESPACES)
        if not self._network:
            yield "--unshare-net"
        for path in _SYSTEM:
            yield from ("--ro-bind-try", path, path)
        for path in _MERGED:
            if os.path.islink(path):
                yield from ("--symlink", os.readlink(path), path)
            else:
                yield from ("--ro-bind-try", path, path)
        for name in _SETTINGS:
            yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
        yield from ("--proc", "/proc", "--dev", "/dev", "--tmpfs", _EMPTY)
        for path in self._readable:
            yield from ("--ro-bind", path, path)
        yield from ("--bind", str(folder), str(folder), "--chdir", str(folder))
