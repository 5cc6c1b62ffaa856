"""The agent of the demonstration: a process that repairs the project, or goes on repairing it.

Started again after it was killed it finds its Session, and goes on in it.
"""

import json
import sys

import anyio

from agentslot import Application
from agentslot.interaction import (
    ChannelSession,
    Event,
    InProcessChannel,
    SessionView,
    ToolFinished,
    gateway_channel,
)
from agentslot.interaction.cli import Follower, LiveView, Screen
from agentslot.interaction.cli.activity import call_line
from agentslot.session import RunStatus, ToolCall, ToolResult, ToolStatus, safe_line
from agentslot.standardagent import PolicyModule, Preset
from examples.reference import NAME, coding_agent, workspace

TASK = "The tests of this project fail. Find out why, repair it, and run the tests again."
GO_ON = "You were cut off in the middle of your work. Please go on."

CUT_OFF = "Outcome unknown: cut off while it ran. This call never runs again; the model decides."
MAX_LINE_BYTES = 100


def application(channel: InProcessChannel | None = None) -> Application:
    """The reference agent with two parts exchanged: nobody is asked, and a program talks to it."""
    return coding_agent(
        PolicyModule(Preset.TRUSTED),
        gateway_channel("demo", channel or InProcessChannel()),
    )


async def work() -> int:
    """Do the task, or what is left of it; returns the exit code."""
    channel, screen = InProcessChannel(), Screen(sys.stdout)
    folder = str(workspace())
    completed = False
    async with application(channel).start():
        earlier = (await channel.list_sessions(NAME, folder, limit=1)).sessions
        if earlier:
            session = await channel.resume_session(earlier[0].id)
            screen.note(f"session {session.id}, resumed at revision {session.revision}", "dim")
            _show_cut_off(await session.view(), screen)
            completed = await ask(session, GO_ON, screen)
        else:
            session = await channel.create_session(agent=NAME, workspace=folder)
            screen.note(f"session {session.id}, new", "dim")
            completed = await ask(session, TASK, screen)
    return 0 if completed else 1


async def ask(session: ChannelSession, message: str, screen: Screen) -> bool:
    """Send a message, show what the agent says and does; returns whether it completed that."""
    screen.note(f"> {message}", "bold")
    live = LiveView(screen)

    def show(event: Event) -> None:
        live.show(event)
        if isinstance(event, ToolFinished) and event.call.name == "bash":
            screen.note(_last_lines(event.result), "dim")

    def show_nothing(view: SessionView) -> None:
        """What got lost of the live text is shown at the end."""

    follower = Follower(session, show, show_nothing)
    completed = False
    async with anyio.create_task_group() as tasks:
        await tasks.start(follower.run)
        result = await session.send_and_wait(message)
        await follower.caught_up(result.revision)
        live.settle(result.messages)
        live.run_ended(result.status, result.termination)
        completed = result.status is RunStatus.COMPLETED
        tasks.cancel_scope.cancel()
    return completed


def _last_lines(result: ToolResult, count: int = 3) -> str:
    """The end of what a command printed, each line set in."""
    printed = str(json.loads(result.output or '""'))
    lines = [line for line in printed.splitlines() if line.strip()]
    return "\n".join(f"    {safe_line(line, MAX_LINE_BYTES)}" for line in lines[-count:])


def _show_cut_off(view: SessionView, screen: Screen) -> None:
    """Name the calls whose outcome nobody knows."""
    payloads = [fact.payload for fact in view.recent_history]
    calls = {payload.id: payload for payload in payloads if isinstance(payload, ToolCall)}
    for payload in payloads:
        if isinstance(payload, ToolResult) and payload.status is ToolStatus.OUTCOME_UNKNOWN:
            screen.note(f"? {call_line(calls[payload.call_id])}", "yellow")
            screen.note(f"  {CUT_OFF}", "yellow")


def main() -> int:
    """Run the agent; Ctrl-C stops it in good order."""
    try:
        return anyio.run(work)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
