"""Sessions on disk for the actions of `agentslot sessions`, always the same."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from itertools import count
from pathlib import Path

import anyio

from agentslot.session import (
    AppendMessage,
    AppendToolCall,
    AppendToolResult,
    AttemptStatus,
    Change,
    CommitRequest,
    FileStore,
    ForkMode,
    MessageInput,
    NewSession,
    RunId,
    SessionId,
    SessionState,
    SessionStore,
    StepId,
    ToolCallId,
    ToolResult,
    fork,
    start_from_summary,
)
from tests.session.scenario import (
    START,
    assistant,
    at,
    attempt,
    call,
    new_session,
    pending,
    run_ended,
    run_started,
    user,
)

OpenStore = Callable[[], AbstractAsyncContextManager[SessionStore]]


def ticking() -> Callable[[], datetime]:
    """A clock that goes on by a second each time it is read."""
    seconds = count()
    return lambda: at(next(seconds))


def first_run(question: str, answer: str, output: str = "3") -> Iterator[Sequence[Change]]:
    """The commits of a Run with one tool call: facts 1 to 9."""
    yield [run_started(1), AppendMessage(user("u1", question))]
    yield [attempt("t1")]
    yield [
        attempt("t1", AttemptStatus.SUCCEEDED, tokens=7),
        AppendMessage(assistant("a1")),
        AppendToolCall(call("c1")),
    ]
    yield [pending("c1")]
    yield [AppendToolResult(ToolResult.succeeded(ToolCallId("c1"), output))]
    yield [AppendMessage(assistant("a2", answer, StepId("step-2"))), run_ended(1)]


def next_run(revision: int, question: str) -> Iterator[Sequence[Change]]:
    """The commits of a Run of one message: two facts and its end."""
    run = RunId(f"run-{revision}")
    message = AppendMessage(user(f"u{revision}", question, run=run))
    yield [run_started(revision, run), message]
    yield [run_ended(revision, run=run)]


async def commit(
    store: SessionStore, state: SessionState, commits: Iterator[Sequence[Change]]
) -> SessionState:
    for changes in commits:
        key = f"{state.id}-{state.revision}"
        request = CommitRequest(state.id, state.revision, key, tuple(changes))
        state = (await store.commit(request)).state
    return state


def write_session(open_store: OpenStore, question: str, answer: str, output: str = "3") -> None:
    """One Session, `s1`."""

    async def write() -> None:
        async with open_store() as store:
            state = await store.create(new_session())
            await commit(store, state, first_run(question, answer, output))

    anyio.run(write)


def write_family(open_store: OpenStore) -> None:
    """`s1`; off it `early`, without facts, `late`, behind fact 7, and `sum`; `deep` off `late`."""

    async def write() -> None:
        async with open_store() as store:
            trunk = await store.create(new_session())
            trunk = await commit(store, trunk, first_run("Fix the build.", "Done."))
            trunk = await commit(store, trunk, next_run(trunk.revision, "Now the tests."))
            late = await store.create(head("late", trunk, 7))
            late = await commit(store, late, next_run(1, "Use decimals."))
            await store.create(head("deep", late, 7))
            await store.create(head("early", trunk, 0))
            summary = [MessageInput.of("In short: it works.")]
            await store.create(
                start_from_summary(
                    SessionId("sum"),
                    summary,
                    agent=trunk.agent,
                    workspace=trunk.workspace,
                    now=START,
                    source=trunk,
                )
            )

    def head(name: str, source: SessionState, cutoff: int) -> NewSession:
        return fork(source, SessionId(name), mode=ForkMode.HISTORY_PREFIX, cutoff=cutoff)

    anyio.run(write)


def files(folder: Path) -> OpenStore:
    return lambda: FileStore(folder, clock=ticking())
