"""Stopping an application while Sessions are being closed."""

import threading
from functools import partial
from pathlib import Path

import anyio
import anyio.from_thread
import pytest

from agentslot import Module
from agentslot.interaction import ChannelSession, InProcessChannel
from agentslot.session import (
    SESSION_STORE,
    ClassifiedError,
    FileStoreModule,
    History,
    MemoryStore,
)
from agentslot.session import filescan as scanning
from agentslot.standardagent import ApprovalDeskModule, PolicyModule, Preset
from agentslot.tool import function_tool
from tests.standardagent.agents import (
    ScriptedModel,
    agent,
    answer,
    call,
    calls,
    kinds,
    scripted_application,
)
from tests.standardagent.test_resume import crash


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
        async with anyio.create_task_group() as tasks, application.start():
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


async def test_a_session_that_is_being_opened_when_the_application_stops_stays_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "PAGE_LINES", 3)
    monkeypatch.setattr(scanning, "PAGES_IN_TAIL", 1)
    script = [*(answer(f"answer {number}") for number in range(5)), calls(call("write"))]
    ran = list[str]()

    @function_tool
    async def write() -> str:
        """Write."""
        ran.append("write")
        return "written"

    folder, asking = tmp_path / "sessions", [PolicyModule(Preset.ASK_FOR_WRITES)]
    asking.append(ApprovalDeskModule())
    store = partial(FileStoreModule, folder)
    async with agent(script, tools=[write], modules=asking, store=store) as session:
        for number in range(5):
            await session.send_and_wait(f"question {number}")
        async with session.events() as events:
            await session.send("go")
            while (await events.receive()).kind != "approval_requested":
                pass
        crashed = crash(folder)

    reached, held = anyio.Event(), threading.Event()

    def wanted_output(*_: object) -> None:
        """Read for as long as the test likes."""
        anyio.from_thread.run_sync(reached.set)
        held.wait(20)

    monkeypatch.setattr(History, "wanted_output", wanted_output)
    channel = InProcessChannel()
    store = partial(FileStoreModule, crashed)
    application = scripted_application(ScriptedModel([]), channel, tools=[write], store=store)
    problems = list[str]()

    async def resume() -> None:
        with pytest.raises(ClassifiedError) as caught:
            await channel.resume_session(session.id)
        problems.append(caught.value.code)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            async with application.start():
                tasks.start_soon(resume)
                await reached.wait()
            held.set()
    assert problems == ["application_stopped"]
    assert ran == []
