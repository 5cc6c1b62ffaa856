"""Where commands run, and what confines them there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from agentslot import Many


class Boundary(StrEnum):
    """One thing that a command cannot do.

    `writes`: change a file outside its folder. `reads`: read the files of people outside its
    folder (what belongs to the system stays readable). `network`: reach another machine, or a
    server on this one. `processes`: see or signal processes that it did not start.
    """

    WRITES = "writes"
    READS = "reads"
    NETWORK = "network"
    PROCESSES = "processes"


@dataclass(frozen=True, slots=True)
class Launch:
    """A command as the operating system is asked to run it.

    Attributes:
        arguments: the program and its arguments.
        variables: all of its environment.
        folder: its working directory.
        stop: a command that ends it where a signal to its process group does not reach it.
    """

    arguments: Sequence[str]
    variables: Mapping[str, str]
    folder: Path
    stop: Sequence[str] | None = None


class ExecutionEnvironment(Protocol):
    """A place in which commands run."""

    @property
    def confines(self) -> frozenset[Boundary]:
        """What it promises; `verify` tries to break each promise."""
        ...

    def launch(
        self, arguments: Sequence[str], folder: Path, variables: Mapping[str, str]
    ) -> Launch:
        """Say how to run a command here; called in a worker thread.

        Args:
            arguments: the program and its arguments.
            folder: an absolute path; the command starts there, and may change what is in it.
            variables: all of its environment.

        Raises:
            SandboxError: the environment cannot be used on this machine.
        """
        ...


ENVIRONMENTS = Many[ExecutionEnvironment]("execution.environment")
