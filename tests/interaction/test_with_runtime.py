"""The channels in front of the real Gateway and Runtime."""

import gc
import subprocess
import sys
import weakref
from textwrap import dedent

import anyio
import pytest

from agentslot.interaction import CliChannel, InProcessChannel, gateway_channel
from agentslot.interaction.cli import Screen
from agentslot.session import RevisionConflictError
from tests.command.process import environment
from tests.interaction.terminal import Person
from tests.standardagent.agents import (
    ScriptedModel,
    agent,
    answer,
    call,
    calls,
    scripted_application,
)


async def test_text_and_tools_are_heard_as_they_happen() -> None:
    async with agent([calls(call("gate")), answer("I passed.")], gated=True) as session:
        session.gate.open()
        heard: list[str] = []
        async with session.events() as events:
            await session.send("go")
            async for event in events:
                if event.kind != "revision":
                    heard.append(event.kind)
                if event.kind == "run_finished":
                    break
    assert heard == ["tool_started", "tool_finished", "text", "run_finished"]


async def test_a_conflict_reaches_the_caller_and_a_run_of_ones_own_is_none() -> None:
    async with agent([answer("one"), answer("two"), answer("three")]) as session:
        channel = InProcessChannel()
        channel.bind(session.access)
        other = await channel.resume_session(session.id)
        await session.send("go")
        await session.when_idle()
        with pytest.raises(RevisionConflictError):
            await other.send("and me?")
        await other.view()
        await other.send("and me?")
        await other.send("and then?")
        await other.when_idle()


async def test_a_stream_that_nobody_reads_any_more_is_not_kept() -> None:
    async with agent([answer("one")]) as session:
        stream = await session.access.subscribe(session.id)
        await session.send_and_wait("go")
        dropped = weakref.ref(stream)
        del stream
        gc.collect()
        assert dropped() is None


LEAVES_EARLY = dedent(
    """
    import sys
    import anyio
    from tests.standardagent.agents import agent, answer

    async def first_event(session):
        async for event in session.events():
            break

    async def main():
        with anyio.move_on_after(5) as given_up:
            async with agent([answer("one"), answer("two")]) as session:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(first_event, session)
                    await anyio.wait_all_tasks_blocked()
                    await session.send("go")
                await session.when_idle()
                with anyio.move_on_after(0.01):
                    await first_event(session)
                print((await session.send_and_wait("again")).text)
        assert not given_up.cancelled_caught

    anyio.run(main, backend=sys.argv[1])
    """
)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_leaving_early_gives_no_warning_and_leaves_the_session_usable(backend: str) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", LEAVES_EARLY, backend],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=150,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "two\n", "")


async def test_the_terminal_channel_is_mounted_like_any_other() -> None:
    person = Person()
    channel = CliChannel(
        agent="tester",
        workspace="default",
        lines=person.lines,
        interactive=True,
        screen=Screen(person.screen),
    )
    application = scripted_application(
        ScriptedModel([answer("Hello yourself.")]),
        InProcessChannel(),
        modules=[gateway_channel("cli", channel)],
    )
    async with application.start():
        await person.types("hello")
        await person.sees("Hello yourself.\n> ")
        await person.types("/quit")
        with anyio.fail_after(20):
            await channel.finished()
    person.leaves()
    person.lines.close()
