"""Running commands in containers, through the client of an engine such as docker or podman."""

import os
import secrets
import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from agentslot._text import several
from agentslot.tool.environment.contract import Boundary, Launch
from agentslot.tool.errors import SandboxError

_CONFINED = (
    "--init", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--pids-limit", "512",
    "--read-only", "--tmpfs", "/tmp",  # noqa: S108 - its own, empty at the start
)  # fmt: skip


class ContainerEnvironment:
    """A fresh container for each command, with the folder mounted under its own path."""

    def __init__(
        self,
        image: str,
        *,
        network: bool = False,
        variables: Collection[str] = (),
        program: str = "docker",
    ) -> None:
        """Set up; nothing runs yet.

        Args:
            image: the image; it must be there, none is fetched.
            network: leave the network reachable.
            variables: names of the variables that go along into the container; the others are
                the image's.
            program: the client of the engine.
        """
        self._image = image
        self._network = network
        self._variables = frozenset(several("variables", variables))
        self._program = program

    @property
    def confines(self) -> frozenset[Boundary]:
        """All there is, but the network if that was left open."""
        return frozenset(Boundary) - ({Boundary.NETWORK} if self._network else set())

    def launch(
        self, arguments: Sequence[str], folder: Path, variables: Mapping[str, str]
    ) -> Launch:
        """Run the command in a new container, which is removed afterwards.

        Raises:
            SandboxError: there is no client of the engine.
        """
        program = shutil.which(self._program)
        if program is None:
            raise SandboxError(self._program, "it is not installed; install a container engine")
        name = f"agentslot-{secrets.token_hex(8)}"
        options = ["run", "--rm", "--pull", "never", "--name", name, *_CONFINED]
        options += ["--user", f"{os.getuid()}:{os.getgid()}"]
        options += [] if self._network else ["--network", "none"]
        options += ["--volume", f"{folder}:{folder}", "--workdir", str(folder)]
        for variable in sorted(self._variables & variables.keys()):
            options += ["--env", variable]
        # The client does not pass SIGKILL on.
        stop = (program, "rm", "--force", name)
        return Launch([program, *options, self._image, *arguments], variables, folder, stop)
