"""Process groups: whether one is alive, and its end."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.to_thread

GRACE_SECONDS = 1.0
"""Time between SIGTERM and SIGKILL."""

_KILLED_SECONDS = 4.0  # nobody survives SIGKILL, but a process waits for its disk before it ends
_POLL_SECONDS = 0.02
_PROCESSES = Path("/proc")


def is_alive(group: int) -> bool:
    """Whether a process of the group exists that is not merely waiting to be reaped.

    Nobody may reap an orphan: in a container the first process often does not care.
    """
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    if not _PROCESSES.is_dir():
        return True
    return any(_runs_in(group, status) for status in _PROCESSES.glob("[0-9]*/stat"))


def _runs_in(group: int, status: Path) -> bool:
    try:
        state, _parent, its_group = status.read_text().rpartition(")")[2].split()[:3]
    except (OSError, ValueError):  # it ended in this moment
        return False
    return its_group == str(group) and state != "Z"


def is_orphaned(group: int) -> bool:
    """Whether the group lives on without its leader, whose end we have seen.

    A process with the leader's number would be a stranger: the number was given out again.
    """
    try:
        os.kill(group, 0)
    except ProcessLookupError:
        return is_alive(group)
    except PermissionError:
        return False
    return False


async def survives(group: int) -> bool:
    """As `is_alive`; the table of processes is read in a worker thread."""
    return await anyio.to_thread.run_sync(is_alive, group)


async def stop_group(group: int) -> None:
    """Ask the processes of the group to end, then make them; returns when none is left.

    One that hangs in the kernel for longer than four seconds is left to end by itself.
    Run it in a shielded scope when it must not be interrupted. A process that left the group
    (`setsid`) is not reached.
    """
    _signal(group, signal.SIGTERM)
    with anyio.move_on_after(GRACE_SECONDS):
        await _gone(group)
        return
    _signal(group, signal.SIGKILL)
    with anyio.move_on_after(_KILLED_SECONDS):
        await _gone(group)


async def _gone(group: int) -> None:
    while await survives(group):  # noqa: ASYNC110 - no event tells when a foreign process ends
        await anyio.sleep(_POLL_SECONDS)


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
