"""What subscribers hear while a Run goes on."""

import anyio
import pytest

from agentslot.interaction import (
    ApprovalRequested,
    Event,
    EventStream,
    EventStreamOverflow,
    Origin,
    RunFinished,
    SendMessage,
    TextChunk,
)
from agentslot.session import (
    AttemptId,
    MessageId,
    MessageInput,
    RevisionConflictError,
    RunId,
    RunStatus,
    SessionId,
    StepId,
    ToolCall,
    ToolCallId,
)
from agentslot.standardagent.runtime.hub import SUBSCRIBER_BUFFER, EventHub
from agentslot.tool import ToolInvocation, function_tool
from tests.standardagent.agents import agent, answer, call, calls


async def last_event(stream: EventStream) -> None:
    while True:
        await stream.receive()


async def test_text_tools_and_the_end_are_heard_in_order() -> None:
    @function_tool
    async def work(invocation: ToolInvocation) -> str:
        """Work."""
        invocation.report("half way")
        return "done"

    async with agent([calls(call("work")), answer("Hello.")], tools=[work]) as session:
        stream = await session.access.subscribe(session.id)
        await session.send_and_wait("hi")
        await stream.aclose()
        stream = await session.access.subscribe(session.id)
        heard: list[Event] = []
        async with anyio.create_task_group() as tasks:

            async def listen() -> None:
                async for event in stream:
                    if event.kind != "revision":
                        heard.append(event)
                    if event.kind == "run_finished":
                        return

            tasks.start_soon(listen)
            session.executor.script(calls(call("work")), answer("Hello."))
            await session.send_and_wait("again")
    assert [e.kind for e in heard] == [
        "tool_started",
        "tool_progress",
        "tool_finished",
        "text",
        "run_finished",
    ]
    assert len({e.origin.run_id for e in heard}) == 1
    assert [e.sequence for e in heard] == sorted(e.sequence for e in heard)


async def test_chunks_carry_the_id_of_the_message_that_becomes_durable() -> None:
    async with agent([answer("Hello.")]) as session:
        stream = await session.access.subscribe(session.id)
        result = await session.send_and_wait("hi")
        events: list[Event] = []
        while not events or events[-1].kind != "run_finished":
            events.append(await stream.receive())
    chunk = next(e for e in events if e.kind == "text")
    assert chunk.message_id == result.messages[-1].id


async def test_every_commit_is_one_revision_event_and_none_is_missed() -> None:
    async with agent([answer("Hello.")]) as session:
        access = session.access
        before = await access.revision(session.id)
        stream = await access.subscribe(session.id, after_revision=before)
        await session.send_and_wait("hi")
        after = await access.revision(session.id)
        revisions: list[int] = []
        while not revisions or revisions[-1] != after:
            event = await stream.receive()
            if event.kind == "revision":
                revisions.append(event.revision)
    assert revisions == list(range(before + 1, after + 1))


async def test_subscribing_with_a_stale_revision_is_a_conflict() -> None:
    async with agent([answer("x")]) as session:
        access = session.access
        stale = await access.revision(session.id)
        await session.send_and_wait("hi")
        with pytest.raises(RevisionConflictError):
            await access.subscribe(session.id, after_revision=stale)


async def test_a_slow_subscriber_loses_previews_before_it_is_cut_off() -> None:
    @function_tool
    async def chatter(invocation: ToolInvocation) -> str:
        """Report much."""
        for n in range(SUBSCRIBER_BUFFER + 500):
            invocation.report(str(n))
        return "done"

    async with agent([calls(call("chatter")), answer("ok")], tools=[chatter]) as session:
        access = session.access
        stream = await access.subscribe(session.id)
        await session.send_and_wait("hi")
        latest = await access.revision(session.id)
        seen: list[int] = []
        while not seen or seen[-1] != latest:
            event = await stream.receive()
            if event.kind == "revision":
                seen.append(event.revision)
    assert seen == sorted(seen)


async def test_a_subscriber_that_missed_a_commit_is_told_so() -> None:
    script = [answer("x") for _ in range(SUBSCRIBER_BUFFER // 3)]
    async with agent(script) as session:
        access = session.access
        stream = await access.subscribe(session.id)
        for _ in script:
            await access.send_and_wait(SendMessage(session.id, MessageInput.of("hi")))
        with pytest.raises(EventStreamOverflow):
            await last_event(stream)


async def test_leaving_a_stream_early_disturbs_nothing() -> None:
    async with agent([answer("one"), answer("two")]) as session:
        stream = await session.access.subscribe(session.id)
        await session.send("hi")
        async for _ in stream:
            break
        await stream.aclose()
        await session.when_idle()
        assert (await session.send_and_wait("again")).text == "two"


HERE, LAST = Origin(SessionId("s")), SUBSCRIBER_BUFFER + 1
ASKED = ToolCall(ToolCallId("c"), "", MessageId("m"), RunId("r"), StepId("t"), "bash", "{}")


@pytest.mark.parametrize(
    "awaited",
    [
        ApprovalRequested(HERE, LAST, ASKED, "it writes", "sha256:1"),
        RunFinished(HERE, LAST, RunStatus.COMPLETED),
    ],
)
async def test_what_a_reader_waits_for_takes_the_place_of_a_preview_when_the_buffer_is_full(
    awaited: Event,
) -> None:
    hub = EventHub(SessionId("s"))
    stream = hub.subscribe()
    for _ in range(SUBSCRIBER_BUFFER):
        hub.publish(TextChunk(HERE, hub.next_sequence(), MessageId("m"), AttemptId("a"), "text"))
    hub.publish(awaited)
    hub.close()
    heard = [event async for event in stream]
    assert len(heard) == SUBSCRIBER_BUFFER
    assert heard[-1] == awaited


async def test_a_tool_that_is_interrupted_is_heard_to_finish() -> None:
    async with agent([calls(call("gate")), answer("ok")], gated=True) as session:
        stream = await session.access.subscribe(session.id)
        await session.send("go")
        await session.gate.entered()
        await session.cancel()
        await session.when_idle()
        heard: list[Event] = []
        while not heard or heard[-1].kind != "run_finished":
            heard.append(await stream.receive())
    assert [e.kind for e in heard if e.kind != "revision"] == [
        "tool_started",
        "tool_finished",
        "run_finished",
    ]
