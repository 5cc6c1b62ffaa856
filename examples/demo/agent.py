"""The agent of the demonstration: a process that repairs the project, or goes on repairing it.

Started again after it was killed it finds its Session, and goes on in it.
"""

import sys

import anyio

from agentslot import Application
from agentslot.interaction import (
    ChannelSession,
    InProcessChannel,
    RunResult,
    SessionView,
    gateway_channel,
)
from agentslot.interaction.cli import Follower, LiveView, Screen
from agentslot.session import RunStatus, ToolCall, ToolResult, ToolStatus
from agentslot.standardagent import PolicyModule, Preset
from examples.reference import NAME, coding_agent, workspace

TASK = "The tests of this project fail. Find out why, repair it, and run the tests again."
GO_ON = "You were cut off in the middle of your work. Please go on."


def application(channel: InProcessChannel | None = None) -> Application:
    """The reference agent with two parts exchanged: nobody is asked, and a program talks to it."""
    return coding_agent(
        PolicyModule(Preset.TRUSTED),
        gateway_channel("demo", channel or InProcessChannel()),
    )


async def work() -> int:
    """Do the task, or what is left of it; returns the exit code."""
    channel, screen = InProcessChannel(), Screen(sys.stdout)
    scope = {"agent": NAME, "workspace": str(workspace())}
    async with application(channel).start():
        earlier = (await channel.list_sessions(**scope, limit=1)).sessions
        if earlier:
            session = await channel.resume_session(earlier[0].id)
            screen.note(f"session {session.id}, resumed at revision {session.revision}", "dim")
            _show_cut_off(await session.view(), screen)
            result = await _ask(session, GO_ON, screen)
        else:
            session = await channel.create_session(**scope)
            screen.note(f"session {session.id}, new", "dim")
            result = await _ask(session, TASK, screen)
    return 0 if result.status is RunStatus.COMPLETED else 1


async def _ask(session: ChannelSession, message: str, screen: Screen) -> RunResult:
    """Send a message and show what the agent says and does until it has finished."""
    screen.note(f"> {message}", "bold")
    live = LiveView(screen)

    def show_nothing(view: SessionView) -> None:
        """Live text may have been lost; `settle` shows what is durable."""

    follower = Follower(session, live.show, show_nothing)
    async with anyio.create_task_group() as tasks:
        await tasks.start(follower.run)
        result = await session.send_and_wait(message)
        await follower.caught_up(result.revision)
        tasks.cancel_scope.cancel()
    live.settle(result.messages)
    live.run_ended(result.status, result.termination)
    return result


def _show_cut_off(view: SessionView, screen: Screen) -> None:
    """Name the calls whose outcome nobody knows."""
    payloads = [fact.payload for fact in view.recent_history]
    calls = {payload.id: payload for payload in payloads if isinstance(payload, ToolCall)}
    for payload in payloads:
        if isinstance(payload, ToolResult) and payload.status is ToolStatus.OUTCOME_UNKNOWN:
            call = calls[payload.call_id]
            screen.note(f"? {call.name} {call.arguments}", "yellow")
            screen.note(
                "  outcome unknown: it may have taken effect. It is not run again.", "yellow"
            )


def main() -> int:
    """Run the agent; Ctrl-C stops it in good order."""
    try:
        return anyio.run(work)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
