"""Several processes that do the same to a Session of their PostgreSQL database in one moment.

Each decides on what it has seen, then all of them wait for a lock that the test holds, so that they
commit at once.
"""

import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import anyio
import pytest

from agentslot.interaction import ChannelSession, SessionOpened
from agentslot.session import (
    ClassifiedError,
    Message,
    PostgresStore,
    PostgresStoreModule,
    RevisionConflictError,
    SessionId,
    SessionState,
    ToolStatus,
)
from agentslot.tool import function_tool
from tests.command.stored import commit, first_run
from tests.session.conftest import postgres, postgres_server
from tests.session.scenario import new_session
from tests.session.test_postgres import ask
from tests.session.test_postgres_limits import holding, until_they_wait_for_a_lock
from tests.standardagent.agents import agent, answer, kinds

__all__ = ["postgres", "postgres_server"]

LOCK = "SELECT id FROM agentslot.sessions FOR UPDATE"
ROOT = Path(__file__).parents[2]
HOW_MANY = 3


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def left_by_the_dead(dsn: str, commits: int) -> SessionId:
    """A Session whose owner died behind so many commits of a Run with one call."""
    async with PostgresStore(dsn) as store:
        state = await store.create(new_session("dead"))
        await commit(store, state, islice(first_run("Add it.", "Done."), commits))
    return SessionId("dead")


async def settled(dsn: str, session_id: SessionId) -> SessionState:
    """The Session when nobody has it open any more: whole, and left alone by another recovery."""
    sql = "SELECT array_agg(revision ORDER BY revision) FROM agentslot.commits WHERE session = $1"
    revisions = await ask(dsn, sql, session_id)
    async with PostgresStore(dsn) as store:
        state = (await store.load(session_id)).state
        assert revisions == list(range(2, state.revision + 1))
        assert (state.active_run, dict(state.journal)) == (None, {})
        assert (await store.recover(session_id)).state == state
    return state


@asynccontextmanager
async def applications(dsn: str, **more: Any) -> AsyncGenerator[list[Any]]:
    """Applications as they run in several processes, each with a store of its own."""
    store = partial(PostgresStoreModule, dsn)
    async with AsyncExitStack() as stack:
        script = [answer("First."), answer("Second.")]
        yield [
            await stack.enter_async_context(agent(script, store=store, **more))
            for _ in range(HOW_MANY)
        ]


async def outcome(outcomes: list[object], function: Callable[[], Awaitable[object]]) -> None:
    try:
        outcomes.append(await function())
    except ClassifiedError as error:
        outcomes.append(error)


async def at_once(
    dsn: str, functions: list[Callable[[], Awaitable[object]]]
) -> tuple[list[object], list[ClassifiedError]]:
    """Do all of it at once; what was done, and why the rest was not."""
    outcomes: list[object] = []
    async with anyio.create_task_group() as tasks, holding(dsn, LOCK):
        for function in functions:
            tasks.start_soon(outcome, outcomes, function)
        await until_they_wait_for_a_lock(dsn, len(functions))
    done = [each for each in outcomes if not isinstance(each, ClassifiedError)]
    return done, [each for each in outcomes if isinstance(each, ClassifiedError)]


async def rest(agents: list[Any], name: SessionId) -> None:
    """Wait for the Run of whoever has the Session."""
    for each in agents:
        with suppress(ClassifiedError):  # it has lost, and closed the Session
            await each.access.when_idle(name)


async def test_of_several_that_send_at_once_one_starts_a_run(postgres: str) -> None:
    async with applications(postgres) as agents:
        name = agents[0].id
        sessions = [ChannelSession(a.access, await a.access.resume_session(name)) for a in agents]
        sends = [partial(one.send, f"{number}") for number, one in enumerate(sessions)]
        done, refused = await at_once(postgres, list(sends))
        assert (len(done), len(refused)) == (1, HOW_MANY - 1)
        assert all(isinstance(error, RevisionConflictError) for error in refused)
        await rest(agents, name)
        assert sum(len(each.executor.requests) for each in agents) == 1
        later = ChannelSession(agents[0].access, await agents[0].access.resume_session(name))
        assert (await later.send_and_wait("Later.")).status == "completed"
    history = (await settled(postgres, name)).history
    said = [f.payload.text for f in history if isinstance(f.payload, Message)]
    assert (said[1], said[2], len(said)) == ("First.", "Later.", 4)


async def test_of_several_processes_that_open_a_dead_session_at_once_one_recovers_it(
    postgres: str,
) -> None:
    name = await left_by_the_dead(postgres, 4)
    command = [sys.executable, "-m", __name__, postgres, name]
    async with AsyncExitStack() as stack:
        async with holding(postgres, LOCK):
            processes = [
                await stack.enter_async_context(
                    await anyio.open_process(command, cwd=ROOT, stderr=subprocess.DEVNULL)
                )
                for _ in range(HOW_MANY)
            ]
            await until_they_wait_for_a_lock(postgres, HOW_MANY)
        said = [await _all_of(process) for process in processes]
    outcomes = [json.loads(text) for text in said]
    first = sorted(each["first"] for each in outcomes)
    assert first == ["conflict/revision_conflict"] * (HOW_MANY - 1) + ["opened at 6"]
    assert {each["then"] for each in outcomes} == {"opened at 6"}
    assert kinds((await settled(postgres, name)).history).count("tool_result:outcome_unknown") == 1


async def _all_of(process: anyio.abc.Process) -> bytes:
    assert process.stdout
    return b"".join([chunk async for chunk in process.stdout])


async def test_of_several_that_go_on_with_a_prepared_call_at_once_one_runs_it(
    postgres: str,
) -> None:
    """Each of them has opened the Session, which no commit stops them from."""
    ran: list[int] = []

    @function_tool
    async def add(a: int) -> str:
        """Add."""
        ran.append(a)
        return "3"

    name = await left_by_the_dead(postgres, 3)
    async with applications(postgres, tools=[add]) as agents:
        async with holding(postgres, LOCK):
            for each in agents:
                await each.access.resume_session(name)
            await until_they_wait_for_a_lock(postgres, HOW_MANY)
        await rest(agents, name)
        again = ChannelSession(agents[0].access, await agents[0].access.resume_session(name))
        assert (await again.send_and_wait("Go on.")).status == "completed"
    assert ran == [1]
    state = await settled(postgres, name)
    results = [f.payload for f in state.history if f.payload.kind == "tool_result"]
    assert [result.status for result in results] == [ToolStatus.SUCCEEDED]


async def resume_twice(dsn: str, name: str) -> None:
    """What one of the processes does: open the Session, and again if another was first."""
    said: dict[str, str] = {}
    async with agent([], store=partial(PostgresStoreModule, dsn)) as session:
        for what in ("first", "then"):
            outcomes: list[object] = []
            await outcome(outcomes, partial(session.access.resume_session, name))
            (came,) = outcomes
            if isinstance(came, ClassifiedError):
                said[what] = f"{came.kind}/{came.code}"
            else:
                assert isinstance(came, SessionOpened)
                said[what] = f"opened at {came.revision}"
    print(json.dumps(said))


if __name__ == "__main__":
    anyio.run(resume_twice, sys.argv[1], sys.argv[2])
