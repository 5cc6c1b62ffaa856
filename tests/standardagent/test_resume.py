"""What a killed process leaves behind, and how the next one goes on.

A crash is a copy of the session folder at that moment: exactly what a kill leaves on the disk.
"""

import shutil
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import anyio
import pytest

from agentslot import Module
from agentslot.interaction import AnswerApproval, ForkSession, InProcessChannel
from agentslot.session import (
    FileStoreModule,
    ForkMode,
    Message,
    RunStatus,
    ToolResult,
    ToolStatus,
)
from agentslot.session import filescan as scanning
from agentslot.standardagent import AgentConfig, ApprovalDeskModule, PolicyModule, Preset
from agentslot.tool import Effect, Tool, function_tool
from tests.standardagent.agents import (
    Agent,
    Answer,
    Gate,
    ScriptedModel,
    agent,
    answer,
    call,
    calls,
    kinds,
    scripted_application,
)


@asynccontextmanager
async def resumed(
    folder: Path,
    session_id: str,
    script: Sequence[Answer],
    tools: Sequence[Tool] = (),
    modules: Sequence[Module] = (),
) -> AsyncGenerator[Any]:
    """The same agent in the next process, with the Session resumed."""
    model, channel, gate = ScriptedModel(script), InProcessChannel(), Gate()
    application = scripted_application(
        model,
        channel,
        tools=[*tools, gate.tool],
        modules=modules,
        store=lambda: FileStoreModule(folder),
    )
    with anyio.fail_after(20):
        async with application.start():
            session = await channel.resume_session(session_id)
            yield Agent(channel, session, model, gate)


def crash(folder: Path) -> Path:
    """The disk as a kill at this moment would leave it."""
    image = folder.with_name(folder.name + "-after-crash")
    shutil.copytree(folder, image)
    return image


async def test_a_call_whose_process_was_killed_is_never_run_again(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    script = [calls(call("gate"))]
    async with agent(script, gated=True, store=lambda: FileStoreModule(folder)) as session:
        await session.send("go")
        await session.gate.entered()
        image, session_id = crash(folder), session.id
    async with resumed(image, session_id, [answer("I will look")]) as session:
        view = await session.view()
        assert view.active_run is None
        assert kinds(view.recent_history)[-2:] == [
            "tool_result:outcome_unknown",
            "run:interrupted",
        ]
        result = await session.send_and_wait("go on")
        inputs = session.executor.requests[0].inputs
        assert session.gate.runs == 0
    assert result.text == "I will look"
    results = [i for i in inputs if isinstance(i, ToolResult)]
    assert [r.status for r in results] == [ToolStatus.OUTCOME_UNKNOWN]


async def test_a_call_that_waited_for_approval_is_asked_for_again_and_runs_once(
    tmp_path: Path,
) -> None:
    folder, ran = tmp_path / "sessions", list[str]()

    @function_tool(effect=Effect.WRITE)
    async def write(path: str) -> str:
        """Write a file."""
        ran.append(path)
        return "written"

    modules = [PolicyModule(Preset.ASK_FOR_WRITES), ApprovalDeskModule()]
    async with agent(
        [calls(call("write", path="a"))],
        tools=[write],
        modules=modules,
        store=lambda: FileStoreModule(folder),
    ) as session:
        stream = await session.access.subscribe(session.id)
        await session.send("go")
        event = await stream.receive()
        while event.kind != "approval_requested":
            event = await stream.receive()
        image, session_id = crash(folder), session.id
    modules = [PolicyModule(Preset.ASK_FOR_WRITES), ApprovalDeskModule()]
    async with resumed(image, session_id, [answer("done")], [write], modules) as session:
        view = await session.view()
        while not view.approvals:
            await anyio.lowlevel.checkpoint()
            view = await session.view()
        assert [a.digest for a in view.approvals] == [event.digest]
        await session.access.answer_approval(
            AnswerApproval(session.id, event.digest, approved=True)
        )
        await session.when_idle()
        view = await session.view()
    assert ran == ["a"]
    assert kinds(view.recent_history)[-1] == "run:completed"


@pytest.mark.parametrize("keeps", [True, False])
async def test_a_call_that_waits_for_approval_outlasts_a_stop_if_it_is_to(
    keeps: bool, tmp_path: Path
) -> None:
    folder, ran = tmp_path / "sessions", list[str]()

    @function_tool(effect=Effect.WRITE)
    async def write(path: str) -> str:
        """Write a file."""
        ran.append(path)
        return "written"

    @function_tool(effect=Effect.READ)
    async def read() -> str:
        """Read a file."""
        ran.append("read")
        return "nothing"

    tools: list[Tool] = [write, read]
    config = AgentConfig(tool_keys=("write", "read"), keep_waiting_approvals=keeps)
    script = [calls(call("read"), call("write", path="a"), call("unknown")), answer("done")]
    desk, store = ApprovalDeskModule, lambda: FileStoreModule(folder)
    asks = [PolicyModule(Preset.ASK_FOR_WRITES), desk()]
    async with agent(script, tools=tools, modules=asks, config=config, store=store) as session:
        stream = await session.access.subscribe(session.id)
        await session.send("go")
        await session.send("and then?")
        while (event := await stream.receive()).kind != "approval_requested":
            pass
        session_id = session.id
    asks = [PolicyModule(Preset.ASK_FOR_WRITES), desk()]
    async with resumed(folder, session_id, script[1:], tools, asks) as session:
        view = await session.view()
        if keeps:
            while not (view := await session.view()).approvals:
                await anyio.lowlevel.checkpoint()
            assert [each.digest for each in view.approvals] == [event.digest]
            assert ran == []
            await session.approve(event.digest)
            await session.when_idle()
            view = await session.view()
            assert ran == ["read", "a"]
            results = [fact.payload for fact in view.recent_history if fact.kind == "tool_result"]
            assert [r.status for r in results] == ["succeeded", "succeeded", "failed"]
        else:
            assert kinds(view.recent_history)[-1] == "run:canceled"
            assert ran == []


@pytest.mark.parametrize("closes", [True, False])
async def test_a_call_that_waits_for_approval_outlasts_neither_a_cancel_nor_a_close(
    closes: bool,
) -> None:
    @function_tool(effect=Effect.WRITE)
    async def write() -> str:
        """Write a file."""
        raise AssertionError("nobody has approved it")

    config = AgentConfig(tool_keys=("write",), keep_waiting_approvals=True)
    asks = [PolicyModule(Preset.ASK_FOR_WRITES), ApprovalDeskModule()]
    script = [calls(call("write")), answer("done")]
    async with agent(script, tools=[write], modules=asks, config=config) as session:
        stream = await session.access.subscribe(session.id)
        await session.send("go")
        while (await stream.receive()).kind != "approval_requested":
            pass
        await (session.close() if closes else session.cancel())
        if closes:
            await session.access.resume_session(session.id)
        await session.when_idle()
        assert kinds((await session.view()).recent_history)[-1] == "run:canceled"


async def test_a_run_killed_while_the_model_answers_is_interrupted_and_can_go_on(
    tmp_path: Path,
) -> None:
    folder, hold = tmp_path / "sessions", anyio.Event()
    script = [answer("never finished", hold=hold)]
    async with agent(script, store=lambda: FileStoreModule(folder)) as session:
        await session.send("go")
        await session.executor.streaming.wait()
        image, session_id = crash(folder), session.id
    async with resumed(image, session_id, [answer("again")]) as session:
        view = await session.view()
        assert kinds(view.recent_history)[-2:] == [
            "model_attempt:outcome_unknown",
            "run:interrupted",
        ]
        result = await session.send_and_wait("once more")
    assert result.status is RunStatus.COMPLETED


async def test_what_was_said_is_there_after_a_restart(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    async with agent([answer("Hello.")], store=lambda: FileStoreModule(folder)) as session:
        await session.send_and_wait("Hi")
        session_id = session.id
    async with resumed(folder, session_id, [answer("Still here.")]) as session:
        result = await session.send_and_wait("And now?")
        request = session.executor.requests[0]
    assert result.text == "Still here."
    assert len(request.inputs) == 3


async def test_stopping_the_application_in_mid_tool_leaves_a_canceled_run(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    script = [calls(call("gate"))]
    async with agent(script, gated=True, store=lambda: FileStoreModule(folder)) as session:
        await session.send("go")
        await session.gate.entered()
        session_id = session.id
    async with resumed(folder, session_id, [answer("ok")]) as session:
        view = await session.view()
    assert kinds(view.recent_history)[-2:] == ["tool_result:failed", "run:canceled"]


async def test_resuming_twice_in_one_process_is_the_same_session(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    async with agent([answer("Hello.")], store=lambda: FileStoreModule(folder)) as session:
        await session.send_and_wait("Hi")
        again = await session.access.resume_session(session.id)
        assert again.revision == await session.access.revision(session.id)


async def test_a_long_session_goes_on_with_facts_that_are_read_when_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "PAGE_LINES", 3)
    monkeypatch.setattr(scanning, "PAGES_IN_TAIL", 1)
    answers = [answer(f"answer {number}") for number in range(5)]
    async with agent(answers, store=lambda: FileStoreModule(tmp_path)) as session:
        for number in range(5):
            await session.send_and_wait(f"question {number}")
        whole, session_id = await session.view(), session.id
        older = await session.access.history(session_id, before_sequence=20, step_limit=2)
    async with resumed(tmp_path, session_id, [answer("still here")]) as session:
        assert (await session.view()).recent_history == whole.recent_history
        page = await session.access.history(session_id, before_sequence=20, step_limit=2)
        assert (page.facts, page.has_more) == (older.facts, older.has_more)
        result = await session.send_and_wait("go on")
        (sent,) = session.executor.requests
        request = ForkSession(session_id, ForkMode.FULL_HISTORY, whole.agent, whole.workspace)
        fork = await session.access.fork_session(request)
        copied = await session.access.view(fork.session_id)
    assert result.text == "still here"
    said = [each.text for each in sent.inputs if isinstance(each, Message)]
    assert said == [*chain(*((f"question {n}", f"answer {n}") for n in range(5))), "go on"]
    assert len(copied.recent_history) == len(whole.recent_history) + 6
