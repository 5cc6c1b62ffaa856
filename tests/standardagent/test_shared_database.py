"""Two applications on one database: what happens to a Session that both have open."""

from dataclasses import replace
from functools import partial

import pytest

from agentslot import Module
from agentslot.interaction import SendMessage
from agentslot.session import (
    SESSION_STORE,
    ClassifiedError,
    Commit,
    CommitRequest,
    Delivery,
    Enqueue,
    ErrorKind,
    Loaded,
    MemoryStore,
    Message,
    MessageId,
    MessageInput,
    PostgresStoreModule,
    QueueItem,
    RevisionConflictError,
    Role,
    SessionId,
    TextPart,
)
from agentslot.session.clock import utc_now
from agentslot.standardagent import AGENT_LOOP, Outcome, RunHandle, StandardLoop
from agentslot.tool import function_tool
from tests.session.conftest import postgres, postgres_server
from tests.standardagent.agents import agent, answer, call, calls

__all__ = ["postgres", "postgres_server"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class OvertakenOnce(MemoryStore):
    """Loses a commit on its way, while another application writes."""

    overtaken = False

    async def commit(self, request: CommitRequest) -> Commit:
        if not self.overtaken:
            return await super().commit(request)
        self.overtaken = False
        theirs = Message(MessageId("theirs"), Role.USER, (TextPart("theirs"),), utc_now())
        change = Enqueue(QueueItem(theirs, Delivery.HELD))
        await super().commit(replace(request, idempotency_key="theirs", changes=(change,)))
        raise ClassifiedError(ErrorKind.UNAVAILABLE, "not_durable", "the connection broke")


async def test_the_commit_of_another_application_is_not_taken_for_one_that_was_lost() -> None:
    """The message used to be acknowledged, and was nowhere."""
    stored = OvertakenOnce()
    store = partial(Module, "store", SESSION_STORE.set(stored))
    async with agent([answer("never")], store=store) as session:
        stored.overtaken = True
        with pytest.raises(ClassifiedError, match="the connection broke"):
            await session.send("lost")
        await session.access.resume_session(session.id)
        view = await session.view()
    assert [item.message.text for item in view.queue] == ["theirs"]
    assert view.recent_history == ()


async def test_who_lost_a_session_in_a_run_does_not_interrupt_whoever_has_it() -> None:
    """The loser used to recover the Session, and so to end the Run of the winner."""
    stored = OvertakenOnce()

    @function_tool
    async def overtake() -> str:
        """Let the other application write."""
        stored.overtaken = True
        return "done"

    store = partial(Module, "store", SESSION_STORE.set(stored))
    script = [calls(call("overtake")), answer("never")]
    async with agent(script, tools=[overtake], store=store) as session:
        with pytest.raises(ClassifiedError) as caught:
            await session.send_and_wait("go")
        assert (caught.value.kind, caught.value.code) == ("unavailable", "runtime_closed")
        state = (await stored.load(session.id)).state
    assert state.active_run is not None
    assert [item.message.text for item in state.queue] == ["theirs"]


class OvertakenUnseen(OvertakenOnce):
    """Cannot be asked either, right after that."""

    deaf = False

    async def commit(self, request: CommitRequest) -> Commit:
        self.deaf = self.overtaken
        return await super().commit(request)

    async def load(self, session_id: SessionId) -> Loaded:
        if self.deaf:
            self.deaf = False
            raise ClassifiedError(ErrorKind.UNAVAILABLE, "unreadable", "the connection broke")
        return await super().load(session_id)


async def test_who_lost_the_end_of_a_run_leaves_the_session_to_whoever_has_it() -> None:
    stored = OvertakenUnseen()

    class Loop(StandardLoop):
        async def run(self, run: RunHandle) -> Outcome:
            outcome = await super().run(run)
            stored.overtaken = True
            return outcome

    store = partial(Module, "store", SESSION_STORE.set(stored))
    loop = Module("loop", AGENT_LOOP.set(Loop()))
    async with agent([answer("one")], store=store, modules=[loop]) as session:
        with pytest.raises(ClassifiedError, match="runtime_closed"):
            await session.send_and_wait("go")
        state = (await stored.load(session.id)).state
    assert state.active_run is not None
    assert [item.message.text for item in state.queue] == ["theirs"]


async def test_a_session_that_another_application_moved_on_can_be_resumed_where_it_is_now(
    postgres: str,
) -> None:
    """It used to stay at its old revision for ever: each command a conflict, each view outdated."""
    store = partial(PostgresStoreModule, postgres)
    async with (
        agent([answer("one")], store=store) as ours,
        agent([answer("two")], store=store) as b,
    ):
        theirs, name = b.access, ours.id
        opened = await theirs.resume_session(name)
        await ours.send_and_wait("first")
        current = await ours.access.revision(name)
        late = SendMessage(name, MessageInput.of("late"), opened.revision)
        with pytest.raises(RevisionConflictError) as lost:
            await theirs.send(late)
        assert lost.value.current_revision == current
        with pytest.raises(ClassifiedError, match="resume it first"):
            await theirs.view(name)
        assert (await theirs.resume_session(name)).revision == current
        await theirs.send(SendMessage(name, MessageInput.of("second"), current))
        await theirs.when_idle(name)
        said = [
            f.payload.text
            for f in (await theirs.view(name)).recent_history
            if isinstance(f.payload, Message)
        ]
    assert said == ["first", "one", "second", "two"]
