"""Running an engine as a child process with something to read."""

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import anyio.to_thread

from agentslot.tool.process.run import Finished, run_process
from agentslot.tool.process.variables import reduced_environment

CAPACITY = 8 * 1024 * 1024
"""Most bytes that an engine may answer."""


async def run_on(
    arguments: Sequence[str], folder: Path, task: bytes = b"", *descriptors: int
) -> Finished:
    """Run a program in `folder` with `task` on its standard input.

    Args:
        arguments: the program and its arguments.
        folder: its working directory.
        task: what it reads.
        descriptors: those that stay open in it.

    Raises:
        OSError: the program or the folder cannot be used.
    """
    with await anyio.to_thread.run_sync(_spooled, task) as stdin:
        return await run_process(
            arguments,
            folder=folder,
            environment=reduced_environment(os.environ),
            capacity=CAPACITY,
            stdin=stdin,
            pass_fds=descriptors,
        )


def _spooled(task: bytes) -> IO[bytes]:
    """An unnamed file that holds `task` and is read from its start."""
    file = TemporaryFile()  # noqa: SIM115 - the caller closes it
    file.write(task)
    file.seek(0)
    return file
