"""A long Session: what it costs to open, and that a commit costs the same as in a short one."""

import gc
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
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
    PostgresStore,
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
from benchmarks._postgres import Step, server, write_server

SIZES = (100, 100_000)
COMMITS = 300
OPENINGS = 5

Store = FileStore | SqliteStore | PostgresStore

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


def commits(facts: int) -> Iterator[Step]:
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


def write_postgres(dsn: str, facts: int) -> SessionState:
    """The same on a server."""
    last = create(NEW, _NOW)

    def steps() -> Iterator[Step]:
        nonlocal last
        for step in commits(facts):
            yield step
            last = step[-1]

    write_server(dsn, NEW, steps())
    return last


def resident_mib() -> float:
    """Memory that this process has now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 2**20


@dataclass(frozen=True)
class Opening:
    """What it costs to open the Session: medians, and what is taken of memory while it is open."""

    seconds: float
    cpu_seconds: float
    mib: float


async def open_session(store: Store) -> Opening:
    """Open the Session several times."""
    seconds, cpu_seconds = list[float](), list[float]()
    before, taken = resident_mib(), 0.0
    # A server is reached through an open store; of the others nobody needs to be the owner.
    async with store if isinstance(store, PostgresStore) else nullcontext():
        for _ in range(OPENINGS):
            gc.collect()
            started, cpu_started = time.perf_counter(), time.process_time()
            loaded = await store.load(NEW.id)
            seconds.append(time.perf_counter() - started)
            cpu_seconds.append(time.process_time() - cpu_started)
            taken = resident_mib() - before
            del loaded
    return Opening(statistics.median(seconds), statistics.median(cpu_seconds), taken)


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


Place = tuple[Callable[[int], SessionState], Callable[[], Store]]
"""How a Session of so many facts is written there, and what store opens it."""


@contextmanager
def files() -> Generator[Place]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        yield partial(write_file, path), lambda: FileStore(path)


@contextmanager
def sqlite() -> Generator[Place]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        yield partial(write_database, path), lambda: SqliteStore(path / "sessions.db")


@contextmanager
def postgres() -> Generator[Place | None]:
    with server() as dsn:
        yield None if dsn is None else (partial(write_postgres, dsn), lambda: PostgresStore(dsn))


PLACES: dict[str, Callable[[], AbstractContextManager[Place | None]]] = {
    "file": files,
    "sqlite": sqlite,
    "postgres": postgres,
}


def rows() -> Iterator[Row]:
    for name, open_place in PLACES.items():
        first: float | None = None
        for size in SIZES:
            with open_place() as place:
                if place is None:
                    break
                write, store = place
                state = write(size)
                opening = anyio.run(open_session, store())
                cost = anyio.run(commit_microseconds, store(), state)
            yield Row(name=f"{name}.open.{size}", value=opening.seconds, unit="s")
            yield Row(name=f"{name}.open.{size}.cpu", value=opening.cpu_seconds, unit="s")
            yield Row(name=f"{name}.open.{size}.memory", value=opening.mib, unit="MiB")
            row = Row(name=f"{name}.commit.{size}", value=cost, unit="us")
            if first is not None:
                row["ratio"], row["against"] = cost / first, f"{name}.commit.{SIZES[0]}"
            first = first or cost
            yield row
