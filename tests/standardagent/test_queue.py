"""Messages that arrive while a Run is active: queued, steering, held."""

import anyio
import pytest

from agentslot.interaction import QueuedCommand, SendMessage, SessionCommand
from agentslot.session import (
    ClassifiedError,
    Delivery,
    Message,
    MessageInput,
    RevisionConflictError,
    RunStatus,
    ToolResult,
)
from tests.standardagent.agents import agent, answer, call, calls, kinds


async def test_a_steer_joins_the_run_behind_the_results_of_the_batch() -> None:
    async with agent([calls(call("gate")), answer("ok")], gated=True) as session:
        await session.send("go")
        await session.gate.entered()
        await session.steer("also do X")
        session.gate.open()
        await session.when_idle()
        inputs = list(session.executor.requests[1].inputs)
    assert isinstance(inputs[-2], ToolResult)
    assert isinstance(inputs[-1], Message)
    assert inputs[-1].text == "also do X"


async def test_a_steer_at_the_natural_end_keeps_the_run_going() -> None:
    hold = anyio.Event()
    async with agent([answer("first", hold=hold), answer("second")]) as session:
        await session.send("go")
        await session.executor.streaming.wait()
        await session.steer("and then?")
        hold.set()
        await session.when_idle()
        texts = [i.text for i in session.executor.requests[1].inputs if isinstance(i, Message)]
        view = await session.view()
    assert texts == ["go", "first", "and then?"]
    assert len({f.run_id for f in view.recent_history}) == 1


async def test_steering_an_idle_session_is_a_conflict() -> None:
    async with agent([]) as session:
        with pytest.raises(ClassifiedError) as caught:
            await session.steer("hello?")
    assert caught.value.code == "no_active_run"


async def test_a_steer_that_a_cancelled_run_never_took_is_held_until_somebody_releases_it() -> None:
    async with agent([calls(call("gate")), answer("ok")], gated=True) as session:
        await session.send("go")
        await session.gate.entered()
        await session.steer("wait for me")
        await session.cancel()
        await session.when_idle()
        (item,) = (await session.view()).queue
        assert (item.message.text, item.delivery) == ("wait for me", Delivery.HELD)
        command = QueuedCommand(session.id, item.message.id)
        await session.access.reclassify_queued(command, Delivery.NORMAL)
        await session.access.run_pending(SessionCommand(session.id))
        await session.when_idle()
        view = await session.view()
    assert view.queue == ()
    assert kinds(view.recent_history)[-1] == "run:completed"


async def test_a_queued_message_can_be_edited_reclassified_and_deleted() -> None:
    async with agent([calls(call("gate")), answer("ok"), answer("x")], gated=True) as session:
        access = session.access
        await session.send("go")
        await session.gate.entered()
        receipt = await access.send(SendMessage(session.id, MessageInput.of("later")))
        command = QueuedCommand(session.id, receipt.message_id)
        await access.edit_queued(command, MessageInput.of("much later"))
        await access.reclassify_queued(command, Delivery.HELD)
        view = await session.view()
        assert [(i.message.text, i.delivery) for i in view.queue] == [("much later", "held")]
        await access.delete_queued(command)
        session.gate.open()
        await session.when_idle()
        assert (await session.view()).queue == ()


async def test_whoever_holds_a_session_edits_holds_and_drops_what_waits_in_it() -> None:
    async with agent([calls(call("gate")), answer("ok"), answer("late")], gated=True) as session:
        await session.send("go")
        await session.gate.entered()
        first, second = await session.send("later"), await session.send("never mind")
        await session.edit_queued(first.message_id, "much later")
        await session.delete_queued(second.message_id)
        await session.reclassify_queued(first.message_id, Delivery.HELD)
        view = await session.view()
        assert [(i.message.text, i.delivery) for i in view.queue] == [("much later", "held")]
        session.gate.open()
        await session.when_idle()
        revision = await session.reclassify_queued(first.message_id, Delivery.NORMAL)
        assert revision == session.revision
        await session.run_pending()
        await session.when_idle()
        assert session.executor.requests[-1].inputs[-1].text == "much later"
        with pytest.raises(ClassifiedError) as caught:
            await session.edit_queued(first.message_id, "too late")
        assert caught.value.code == "queue_item_not_found"
        assert (await session.view()).queue == ()


async def test_a_queue_that_somebody_else_has_changed_is_a_conflict() -> None:
    async with agent([calls(call("gate")), answer("ok")], gated=True) as session:
        await session.send("go")
        await session.gate.entered()
        waiting = await session.send("later")
        await session.reclassify_queued(waiting.message_id, Delivery.HELD)
        session.gate.open()
        await session.when_idle()
        theirs = QueuedCommand(session.id, waiting.message_id)
        await session.access.edit_queued(theirs, MessageInput.of("sooner"))
        with pytest.raises(RevisionConflictError):
            await session.delete_queued(waiting.message_id)
        assert [item.message.text for item in (await session.view()).queue] == ["sooner"]


async def test_a_held_message_starts_nothing_until_it_is_run() -> None:
    async with agent([calls(call("gate")), answer("ok"), answer("late")], gated=True) as session:
        access = session.access
        await session.send("go")
        await session.gate.entered()
        receipt = await access.send(SendMessage(session.id, MessageInput.of("later")))
        command = QueuedCommand(session.id, receipt.message_id)
        await access.reclassify_queued(command, Delivery.HELD)
        session.gate.open()
        await session.when_idle()
        with pytest.raises(ClassifiedError) as caught:
            await access.run_pending(SessionCommand(session.id))
        assert caught.value.code == "no_pending_work"
        await access.reclassify_queued(command, Delivery.NORMAL)
        await access.run_pending(SessionCommand(session.id))
        await session.when_idle()
        assert len(session.executor.requests) == 3


async def test_a_stale_revision_is_refused_and_nothing_is_written() -> None:
    async with agent([answer("one"), answer("two")]) as session:
        access = session.access
        stale = await access.revision(session.id)
        await session.send_and_wait("hi")
        current = await access.revision(session.id)
        with pytest.raises(RevisionConflictError) as caught:
            await access.send(SendMessage(session.id, MessageInput.of("again"), stale))
        assert caught.value.current_revision == current
        assert await access.revision(session.id) == current
        result = await access.send_and_wait(
            SendMessage(session.id, MessageInput.of("again"), current)
        )
    assert result.status is RunStatus.COMPLETED
