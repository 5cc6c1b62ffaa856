"""Sitting in front of a terminal channel until the person leaves."""

import os
import threading
from argparse import Namespace
from collections.abc import Callable, Generator
from contextlib import contextmanager

from agentslot.interaction import CliChannel
from agentslot.interaction.cli import interrupts
from agentslot.standardagent.command.failure import UsageError

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C ended."""

_STOP_SECONDS = 2.0


def refuse_empty(options: Namespace, *names: str) -> None:
    """Refuse options that are given, but name nothing.

    Raises:
        UsageError: one does.
    """
    for name in names:
        given: str | None = getattr(options, name)
        if given is not None and not given.strip():
            raise UsageError(f"--{name} is empty: give a name, or leave it out")


@contextmanager
def leaving() -> Generator[Callable[[], None]]:
    """Around an application: yields what makes the rest of the block end soon.

    A person who has pressed Ctrl-C twice does not wait for a tool that cleans up for ever: if the
    application has not stopped two seconds later, the process ends. Every commit is on the disk by
    then, and what ran is reported as unknown when the Session is resumed.
    """
    timer = threading.Timer(_STOP_SECONDS, os._exit, (INTERRUPTED,))
    timer.daemon = True
    try:
        yield timer.start
    finally:
        timer.cancel()


async def converse(channel: CliChannel, leave: Callable[[], None]) -> int:
    """Wait until the conversation is over, with Ctrl-C in its hands; returns the exit code.

    A person has seen what failed, so the code tells it only where nobody looks.
    """
    async with interrupts(channel.interrupt):
        await channel.finished()
    if channel.interrupted:
        leave()
        return INTERRUPTED
    return 1 if channel.status is not None and not channel.interactive else 0
