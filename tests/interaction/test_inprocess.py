"""The in-process channel: a program's own handle on a Session."""

import anyio
import pytest

from agentslot.interaction import (
    ChannelAlreadyBound,
    ChannelNotBound,
    ChannelSession,
    Content,
    Event,
    GatewayAccess,
    InProcessChannel,
    MessageReceipt,
    RunFinished,
    TextChunk,
)
from agentslot.session import (
    AttachmentPart,
    ClassifiedError,
    MessageInput,
    Repair,
    RevisionConflictError,
    RunStatus,
    SessionId,
    TextPart,
)
from tests.interaction.fake_gateway import FakeGateway, fake_gateway
from tests.interaction.fake_session import FakeRun, RunFailed, echo


def bound(gateway: GatewayAccess) -> InProcessChannel:
    channel = InProcessChannel()
    channel.bind(gateway)
    return channel


async def opened(gateway: FakeGateway) -> ChannelSession:
    return await bound(gateway).create_session(agent="bot", workspace="default")


def test_a_channel_without_an_application_says_what_to_do() -> None:
    with pytest.raises(ChannelNotBound, match="gateway_channel") as caught:
        _ = InProcessChannel().access
    assert caught.value.code == "application_not_started"


async def test_a_channel_belongs_to_one_application() -> None:
    async with fake_gateway() as gateway:
        channel = bound(gateway)
        with pytest.raises(ChannelAlreadyBound):
            channel.bind(gateway)
        assert channel.access is gateway


async def test_send_and_wait_returns_the_answer() -> None:
    async with fake_gateway() as gateway:
        session = await opened(gateway)
        result = await session.send_and_wait("hello")
        assert result.status is RunStatus.COMPLETED
        assert result.text == "echo: hello"
        assert session.revision == result.revision


async def test_content_may_be_text_a_part_several_parts_or_an_input() -> None:
    async with fake_gateway() as gateway:
        session = await opened(gateway)
        part = TextPart("hi")
        picture = AttachmentPart("a1", "image/png")
        contents: list[Content] = ["hi", part, [part, picture], MessageInput((part,))]
        for content in contents:
            await session.send_and_wait(content)
        assert [request.input.parts for request in gateway.sent] == [
            (part,),
            (part,),
            (part, picture),
            (part,),
        ]


async def test_the_client_message_id_is_passed_on() -> None:
    async with fake_gateway() as gateway:
        session = await opened(gateway)
        await session.send_and_wait("hi", client_message_id="mine-1")
        assert gateway.sent[0].client_message_id == "mine-1"


async def test_one_message_after_the_other_needs_no_thought_about_revisions() -> None:
    async with fake_gateway() as gateway:
        session = await opened(gateway)
        for text in ("one", "two", "three"):
            assert (await session.send_and_wait(text)).text == f"echo: {text}"
        assert None not in [request.expected_revision for request in gateway.sent]


async def test_a_change_by_somebody_else_is_a_conflict_and_is_not_sent_again() -> None:
    async with fake_gateway() as gateway:
        session = await opened(gateway)
        current = gateway.foreign_change(session.id)
        with pytest.raises(RevisionConflictError) as caught:
            await session.send_and_wait("hello")
        assert caught.value.current_revision == current
        assert len(gateway.sent) == 1
        with pytest.raises(RevisionConflictError):
            await session.send("a conflict is no look at the Session")
        await session.view()
        assert (await session.send_and_wait("hello")).text == "echo: hello"


async def test_a_change_while_the_session_was_idle_again_is_a_conflict_too() -> None:
    async with fake_gateway() as gateway:
        session = await opened(gateway)
        await session.send("hello")
        await session.when_idle()
        gateway.foreign_change(session.id)
        with pytest.raises(RevisionConflictError):
            await session.send("again")


async def test_its_own_run_is_no_conflict_for_the_next_message() -> None:
    go_on = anyio.Event()

    async def wait(run: FakeRun) -> None:
        await run.say("one ")
        await go_on.wait()
        await run.say("two")

    async with fake_gateway(wait) as gateway:
        session = await opened(gateway)
        first = await session.send("first")
        gateway.foreign_change(session.id)  # such as a tool call of that Run
        second = await session.send("second")
        assert (first.run_id is None, second.run_id is None) == (False, True)
        go_on.set()
        await session.when_idle()
        assert [fact.kind for fact in (await session.view()).recent_history].count("run") == 4


async def test_giving_up_the_wait_leaves_the_run_alone_and_the_handle_usable() -> None:
    go_on = anyio.Event()

    async def wait(run: FakeRun) -> None:
        await go_on.wait()
        await run.say("done")

    async with fake_gateway(wait) as gateway:
        session = await opened(gateway)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.send_and_wait, "hello")
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
        assert "cancel" not in gateway.calls
        go_on.set()
        assert (await session.send_and_wait("and now?")).text == "done"


async def test_steer_and_cancel_act_on_what_runs_now() -> None:
    async def forever(run: FakeRun) -> None:
        run.chunk("m", "…")
        await anyio.sleep_forever()

    async with fake_gateway(forever) as gateway:
        session = await opened(gateway)
        async with anyio.create_task_group() as tasks:

            async def wait() -> None:
                result = await session.send_and_wait("work")
                assert result.status is RunStatus.CANCELED
                assert result.termination is not None
                assert result.termination.code == "canceled"

            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            gateway.foreign_change(session.id)
            await session.steer("faster")
            await session.cancel()
        assert gateway.calls[-1] == "cancel"


async def test_steering_without_a_run_is_refused() -> None:
    async with fake_gateway() as gateway:
        session = await opened(gateway)
        with pytest.raises(ClassifiedError) as caught:
            await session.steer("hello?")
        assert caught.value.code == "no_active_run"


async def test_a_resumed_session_tells_what_was_mended() -> None:
    async with fake_gateway() as gateway:
        mended = (Repair(12, "the last record was torn and is dropped"),)
        gateway.stored[SessionId("old")] = mended
        session = await bound(gateway).resume_session("old")
        assert (session.id, session.revision, session.repairs) == ("old", 7, mended)
        assert (await session.send_and_wait("hi")).text == "echo: hi"


async def test_a_session_resumed_while_its_run_goes_on_takes_the_next_message() -> None:
    go_on = anyio.Event()

    async def wait(run: FakeRun) -> None:
        await go_on.wait()
        await run.say(run.prompt)

    async with fake_gateway(wait) as gateway:
        session = await opened(gateway)
        await session.send("one")
        other = await bound(gateway).resume_session(session.id)
        gateway.foreign_change(session.id)  # such as a tool call of that Run
        await other.send("two")
        go_on.set()
        await other.when_idle()


async def test_two_handles_on_one_session_see_each_other_as_a_conflict() -> None:
    async with fake_gateway() as gateway:
        mine = await opened(gateway)
        yours = await bound(gateway).resume_session(mine.id)
        await mine.send_and_wait("hello")
        with pytest.raises(RevisionConflictError):
            await yours.send("hello")


async def test_sessions_are_listed_and_forked() -> None:
    async with fake_gateway() as gateway:
        channel = bound(gateway)
        session = await channel.create_session(agent="bot", workspace="default")
        await session.send_and_wait("hello")
        fork = await channel.fork_session(session.id, agent="bot", workspace="default")
        page = await channel.list_sessions("bot", "default")
        assert [row.id for row in page.sessions] == [fork.id, session.id]
        assert len((await fork.history()).facts) == len((await session.history()).facts)


async def test_events_tell_the_run_as_it_goes() -> None:
    async with fake_gateway() as gateway:
        session = await opened(gateway)
        async with session.events() as events:
            await session.send("hello")
            heard: list[Event] = []
            async for event in events:
                heard.append(event)
                if isinstance(event, RunFinished):
                    break
        assert [event.text for event in heard if isinstance(event, TextChunk)] == [
            "echo: ",
            "hello",
        ]


async def test_leaving_an_event_loop_early_leaves_nothing_behind() -> None:
    async with fake_gateway() as gateway:
        session = await opened(gateway)

        async def first_event() -> str:
            async for event in session.events():
                return event.kind
            raise AssertionError("the stream ended")

        received: list[str] = []
        async with anyio.create_task_group() as tasks:

            async def listen() -> None:
                received.append(await first_event())

            tasks.start_soon(listen)
            await anyio.wait_all_tasks_blocked()
            await session.send("hello")
        assert received == ["revision"]
        await session.when_idle()
        with anyio.move_on_after(0) as timeout:  # a wait that is given up is clean as well
            await first_event()
        assert timeout.cancelled_caught
        assert (await session.send_and_wait("again")).text == "echo: again"


async def test_the_events_end_with_the_session() -> None:
    async with fake_gateway() as gateway:
        session = await opened(gateway)
        async with session.events() as events:
            await session.send_and_wait("hello")
            assert await session.close() == session.revision
            assert [event.kind async for event in events][-1] == "run_finished"
            with pytest.raises(anyio.EndOfStream):
                await events.receive()


async def test_listening_from_a_view_that_is_outdated_is_a_conflict() -> None:
    async with fake_gateway() as gateway:
        session = await opened(gateway)
        seen = (await session.view()).revision
        gateway.foreign_change(session.id)
        with pytest.raises(RevisionConflictError):
            async with session.events(after_revision=seen):
                pass


async def test_approvals_are_answered_by_digest() -> None:
    answers: list[tuple[bool, str]] = []

    async def ask(run: FakeRun) -> None:
        for path in ("a", "b"):
            answer = await run.ask(run.call("file_write", {"path": path}), "it writes")
            answers.append((answer.approved, answer.reason))
        await echo(run)

    async with fake_gateway(ask) as gateway:
        session = await opened(gateway)
        async with session.events() as events:
            await session.send("go")
            asked = 0
            async for event in events:
                if event.kind == "approval_requested":
                    asked += 1
                    if asked == 1:
                        await session.approve(event.digest)
                    else:
                        await session.deny(event.digest, "not this one")
                elif event.kind == "run_finished":
                    break
        assert answers == [(True, ""), (False, "not this one")]
        with pytest.raises(ClassifiedError, match="approval_not_found"):
            await session.approve("sha256:gone")


async def test_a_queued_message_is_run_on_demand() -> None:
    async def fail_once(run: FakeRun) -> None:
        if run.prompt == "one":
            await started.wait()
            raise RunFailed("boom", "boom")
        await echo(run)

    started = anyio.Event()
    async with fake_gateway(fail_once) as gateway:
        session = await opened(gateway)
        await session.send("one")
        queued: MessageReceipt = await session.send("two")
        assert queued.run_id is None
        started.set()
        await session.when_idle()
        receipt = await session.run_pending()
        await session.when_idle()
        assert receipt.run_id in {fact.run_id for fact in (await session.view()).recent_history}
