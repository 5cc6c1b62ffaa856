"""Sitting in front of a terminal channel until the person leaves."""

from agentslot.interaction import CliChannel
from agentslot.interaction.cli import interrupts

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C ended."""


async def converse(channel: CliChannel) -> int:
    """Wait until the conversation is over, with Ctrl-C in its hands; returns the exit code.

    A person has seen what failed, so the code tells it only where nobody looks.
    """
    async with interrupts(channel.interrupt):
        await channel.finished()
    if channel.interrupted:
        return INTERRUPTED
    return 1 if channel.status is not None and not channel.interactive else 0
