"""A long Session: what it costs to open, and that a commit costs the same as in a short one."""

import gc
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import anyio

from agentslot.session import (
    AgentId,
    AppendAttempt,
    AppendMessage,
    AppendRun,
    AppendToolCall,
    AppendToolResult,
    AttemptId,
    AttemptStatus,
    Change,
    CommitRequest,
    ContextRange,
    ContextView,
    FileStore,
    MarkToolPending,
    Message,
    MessageId,
    ModelAttempt,
    ModelConfig,
    NewSession,
    Role,
    RunFact,
    RunId,
    RunStatus,
    SessionId,
    SessionState,
    SetContext,
    SqliteStore,
    StepId,
    TextPart,
    TokenUsage,
    ToolCall,
    ToolCallId,
    ToolResult,
    WorkspaceId,
    apply,
    create,
)
from agentslot.session.directory import SessionDirectory
from agentslot.session.fileformat import commit_body, creation, fingerprint, seal
from agentslot.session.recent import outcome_of
from agentslot.session.sqlitewriter import insert_commit, update_session
from benchmarks import Row

SIZES = (100, 100_000)
COMMITS = 300
OPENINGS = 5

Store = FileStore | SqliteStore

_NOW = datetime(2026, 11, 30, tzinfo=UTC)
_MODEL = ModelConfig("bench", "scripted")
_RUN = RunId("run-0123456789abcdef-1")


def turn(state: SessionState, number: int) -> Iterator[tuple[Change, ...]]:
    """The three commits of one turn: a request, its answer with a call that begins, its result."""
    step = StepId(f"step-0123456789abcdef-{number}")
    attempt = AttemptId(f"attempt-0123456789abcdef-{number}")
    answer = MessageId(f"message-0123456789abcdef-{number}")
    call = ToolCallId(f"call-0123456789abcdef-{number}")
    seen = ContextRange(1, state.history.last_sequence)
    view = ContextView(number, state.revision, _RUN, _MODEL, (seen,))
    start = ModelAttempt(attempt, _RUN, step, AttemptStatus.STARTED, "bench", "scripted")
    usage = TokenUsage(10, 5, total=15)
    end = ModelAttempt(
        attempt, _RUN, step, AttemptStatus.SUCCEEDED, "bench", "scripted", usage=usage
    )
    spoken = Message(answer, Role.ASSISTANT, (TextPart("I look."),), _NOW, _RUN, step)
    asked = ToolCall(call, "token", answer, _RUN, step, "search", '{"query":"weather"}')
    yield SetContext(view), AppendAttempt(start)
    yield AppendAttempt(end), AppendMessage(spoken), AppendToolCall(asked), MarkToolPending(call)
    yield (AppendToolResult(ToolResult.succeeded(call, "rain, and more rain to come")),)


NEW = NewSession(SessionId("long"), AgentId("a"), WorkspaceId("w"), _MODEL)


def commits(facts: int) -> Iterator[tuple[CommitRequest, SessionState, SessionState]]:
    """What makes a Session with at least so many facts, with the states before and after each."""
    state = create(NEW, _NOW)
    start = RunFact(_RUN, RunStatus.STARTED, _MODEL, 1)
    changes_of_turn: Iterator[tuple[Change, ...]] = iter([(AppendRun(start),)])
    number = 0
    while len(state.history) < facts or number == 0:
        for changes in changes_of_turn:
            request = CommitRequest(state.id, state.revision, f"key-{state.revision}", changes)
            before, state = state, apply(state, changes, now=_NOW)
            yield request, before, state
        number += 1
        changes_of_turn = turn(state, number)


def write_file(directory: Path, facts: int) -> SessionState:
    """A Session file, written as the store writes it, but for the flushes."""
    state = create(NEW, _NOW)
    with SessionDirectory(directory).file_of(NEW.id).open("wb") as file:
        file.write(creation(NEW, _NOW))
        for request, _, state in commits(facts):  # noqa: B007  # the last one is what it holds
            file.write(seal(commit_body(request), _NOW))
    return state


def write_database(directory: Path, facts: int) -> SessionState:
    """The same in a database, in one transaction."""
    state = create(NEW, _NOW)

    async def make() -> None:
        async with SqliteStore(directory / "sessions.db") as store:
            await store.create(NEW)

    anyio.run(make)
    with closing(sqlite3.connect(directory / "sessions.db")) as database, database:
        for request, before, state in commits(facts):
            outcome = outcome_of(state.revision, before.history, state.history)
            update_session(database, before, state)
            evidence = fingerprint(commit_body(request))
            insert_commit(database, state.id, request.idempotency_key, evidence, outcome)
    return state


def resident_mib() -> float:
    """Memory that this process has now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 2**20


async def open_seconds(store: Store) -> tuple[float, float]:
    """Median seconds to open the Session, and the MiB that it then takes."""
    seconds = list[float]()
    before, taken = resident_mib(), 0.0
    for _ in range(OPENINGS):
        gc.collect()
        started = time.perf_counter()
        loaded = await store.load(NEW.id)
        seconds.append(time.perf_counter() - started)
        taken = resident_mib() - before
        del loaded
    return statistics.median(seconds), taken


async def commit_microseconds(store: Store, state: SessionState) -> float:
    """Median microseconds of one durable commit at the end of the Session."""
    costs = list[float]()
    async with store:
        for number in range(COMMITS):
            message = Message(
                MessageId(f"more-{number}"),
                Role.USER,
                (TextPart("go on"),),
                _NOW,
                _RUN,
                StepId("more"),
            )
            request = CommitRequest(
                state.id, state.revision, f"more-{number}", (AppendMessage(message),)
            )
            started = time.perf_counter()
            state = (await store.commit(request)).state
            if number:
                costs.append(time.perf_counter() - started)
    return statistics.median(costs) * 1e6


STORES: dict[str, tuple[Callable[[Path, int], SessionState], Callable[[Path], Store]]] = {
    "file": (write_file, FileStore),
    "sqlite": (write_database, lambda folder: SqliteStore(folder / "sessions.db")),
}


def rows() -> Iterator[Row]:
    for name, (write, store) in STORES.items():
        first: float | None = None
        for size in SIZES:
            with tempfile.TemporaryDirectory() as folder:
                state = write(Path(folder), size)
                seconds, taken = anyio.run(open_seconds, store(Path(folder)))
                cost = anyio.run(commit_microseconds, store(Path(folder)), state)
            yield Row(name=f"{name}.open.{size}", value=seconds, unit="s")
            yield Row(name=f"{name}.open.{size}.memory", value=taken, unit="MiB")
            row = Row(name=f"{name}.commit.{size}", value=cost, unit="us")
            if first is not None:
                row["ratio"], row["against"] = cost / first, f"{name}.commit.{SIZES[0]}"
            first = first or cost
            yield row
