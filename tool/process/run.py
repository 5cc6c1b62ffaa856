"""Running one command: its own process group, one pipe, bounded output, an end for certain."""

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from subprocess import DEVNULL, STDOUT
from typing import IO

import anyio
from anyio.abc import Process

from agentslot.tool.process.group import stop_group, survives
from agentslot.tool.process.output import DEFAULT_CAPACITY, RollingOutput
from agentslot.tool.process.spill import Spill

QUIET_SECONDS = 0.25
"""After the end of the command, how long its pipe must be silent to be left."""
DRAIN_SECONDS = 1.0
"""After the end of the command, how long its pipe is read at most."""

_END_SECONDS = 8.0  # only a process stuck in the kernel takes so long to end
_SIGNALS = {number.value: number.name for number in signal.Signals}
_CHUNK = 64 * 1024


class Outcome(StrEnum):
    """How a command ended."""

    OK = "ok"
    EXIT = "exit"
    SIGNAL = "signal"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that has ended.

    Attributes:
        outcome: how it ended; a time-out wins over the signal that it caused.
        exit_code: its status; 128 and the number of the signal that ended it.
        signal: name of that signal, such as `SIGKILL`.
        output: what it and its children wrote to both streams, in the order of writing.
        background_group: the process group, if processes of it were left running.
    """

    outcome: Outcome
    exit_code: int
    signal: str | None
    output: RollingOutput
    background_group: int | None


async def run_process(
    arguments: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    timeout_seconds: float | None = None,
    capacity: int = DEFAULT_CAPACITY,
    stdin: int | IO[bytes] = DEVNULL,
    pass_fds: Sequence[int] = (),
    spill: Spill | None = None,
    on_start: Callable[[], None] | None = None,
) -> Finished:
    """Run a command to its end.

    It has no terminal, and an empty standard input unless one is given. When it ends, children that
    it left in the background may still hold the pipe: they are left alone, their output is read
    until it pauses or one second has passed, and then the pipe is closed. On time-out or
    cancellation the whole process group is ended, by SIGTERM and then SIGKILL.

    Args:
        arguments: the program and its arguments.
        folder: its working directory.
        environment: all of its environment.
        timeout_seconds: time for the command itself; None for no limit.
        capacity: bytes of output that are kept.
        stdin: an open file to read from.
        pass_fds: descriptors that stay open in the command, under the same numbers.
        spill: takes all output, beside what is kept in memory.
        on_start: called once the command runs.

    Raises:
        OSError: the program or the folder cannot be used.
    """
    reader, writer = os.pipe()
    try:
        os.set_blocking(reader, False)
        try:
            process = await _start(arguments, folder, environment, stdin, writer, pass_fds)
        finally:
            os.close(writer)
        if on_start is not None:
            on_start()
        output = _Output(RollingOutput(capacity), spill)
        timed_out = await _run_in_time(process, reader, output, timeout_seconds)
    finally:
        os.close(reader)
        if spill is not None:
            spill.close()
    outcome, exit_code, name = outcome_of(process.returncode, timed_out=timed_out)
    left = not timed_out and await survives(process.pid)
    return Finished(outcome, exit_code, name, output.rolling, process.pid if left else None)


async def _start(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    stdin: int | IO[bytes],
    output: int,
    pass_fds: Sequence[int],
) -> Process:
    """Start a process group. It cannot be cut short here: only its leader would be killed then."""
    with anyio.CancelScope(shield=True):
        return await anyio.open_process(
            arguments,
            stdin=stdin,
            stdout=output,
            stderr=STDOUT,
            cwd=folder,
            env=environment,
            start_new_session=True,
            pass_fds=pass_fds,
        )
    raise AssertionError("unreachable: a shielded scope swallows nothing")


class _Output:
    """Where output goes: into memory, and into a file if one is wanted."""

    def __init__(self, rolling: RollingOutput, spill: Spill | None) -> None:
        self.rolling = rolling
        self._spill = spill

    async def write(self, chunk: bytes) -> None:
        self.rolling.write(chunk)
        if self._spill is not None:
            await self._spill.write(chunk)


async def _run_in_time(
    process: Process, reader: int, output: _Output, timeout_seconds: float | None
) -> bool:
    """Read until the command has ended; end its group if that takes too long or is cancelled."""
    ended = False
    try:
        with anyio.move_on_after(timeout_seconds):
            await _collect(process, reader, output)
            ended = True
    finally:
        if not ended:
            with anyio.move_on_after(_END_SECONDS, shield=True):
                await stop_group(process.pid)
                await _collect(process, reader, output)
    return not ended


async def _collect(process: Process, reader: int, output: _Output) -> None:
    """Read the pipe to its end, or until it pauses after the end of the process."""
    ended_at: float | None = None

    def rearm() -> None:
        if ended_at is not None:
            pause.deadline = min(anyio.current_time() + QUIET_SECONDS, ended_at + DRAIN_SECONDS)

    async def watch() -> None:
        nonlocal ended_at
        await process.wait()
        ended_at = anyio.current_time()
        rearm()

    with anyio.CancelScope() as pause:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            while chunk := await _read(reader):
                await output.write(chunk)
                rearm()


async def _read(reader: int) -> bytes:
    """The next bytes of a pipe that does not block; empty at its end."""
    while True:
        await anyio.wait_readable(reader)
        try:
            return os.read(reader, _CHUNK)
        except BlockingIOError:
            continue


def outcome_of(returncode: int | None, *, timed_out: bool) -> tuple[Outcome, int, str | None]:
    """Outcome, exit code and signal name of an ended process; negative codes are signals."""
    number = returncode or 0
    name = _SIGNALS.get(-number, f"signal {-number}") if number < 0 else None
    exit_code = 128 - number if number < 0 else number
    if timed_out:
        return Outcome.TIMEOUT, exit_code, name
    if name is not None:
        return Outcome.SIGNAL, exit_code, name
    return (Outcome.EXIT if exit_code else Outcome.OK), exit_code, None
