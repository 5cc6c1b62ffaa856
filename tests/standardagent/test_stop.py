"""Stopping an application while Sessions are being closed."""

import anyio

from agentslot import Module
from agentslot.interaction import ChannelSession, InProcessChannel
from agentslot.session import SESSION_STORE, MemoryStore
from agentslot.tool import function_tool
from tests.standardagent.agents import ScriptedModel, call, calls, kinds, scripted_application


async def test_a_session_that_is_closed_while_the_application_stops_disturbs_no_other() -> None:
    closing, stopping, closed = anyio.Event(), anyio.Event(), anyio.Event()

    async def wait_for(cut_short: anyio.Event, end: anyio.Event) -> str:
        try:
            await anyio.sleep_forever()
        finally:
            cut_short.set()
            with anyio.CancelScope(shield=True):
                await end.wait()
        return "unreachable"

    @function_tool
    async def first() -> str:
        """Is stopped first, and ends when another Session has been closed."""
        return await wait_for(stopping, closed)

    @function_tool
    async def second() -> str:
        """Is closed, and ends when the application stops."""
        return await wait_for(closing, stopping)

    @function_tool
    async def third() -> str:
        """Is stopped last."""
        return await wait_for(anyio.Event(), closed)

    model, channel, store = ScriptedModel([]), InProcessChannel(), MemoryStore()
    stored = Module("store", SESSION_STORE.set(store))
    tools = [first, second, third]
    application = scripted_application(model, channel, tools=tools, store=lambda: stored)
    sessions = list[ChannelSession]()
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            async with application.start():
                for tool in tools:
                    model.script(calls(call(tool.definition.name)))
                    session = await channel.create_session(agent="tester", workspace="default")
                    sessions.append(session)
                    await session.send("go")

                async def close() -> None:
                    await sessions[1].close()
                    closed.set()

                tasks.start_soon(close)
                await closing.wait()
        ended = [(await store.load(session.id)).state for session in sessions]
    assert [kinds(state.history)[-1] for state in ended] == ["run:canceled"] * 3
