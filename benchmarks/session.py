"""A long Session: what it costs to open, and that a commit costs the same as in a short one."""

import gc
import statistics
import tempfile
import time
from collections.abc import Iterator
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
from agentslot.session.fileformat import commit_body, creation, seal
from benchmarks import Row

SIZES = (100, 100_000)
COMMITS = 300
OPENINGS = 5

_NOW = datetime(2026, 11, 30, tzinfo=UTC)
_MODEL = ModelConfig("bench", "scripted")
_RUN = RunId("run-0123456789abcdef-1")


def turn(state: SessionState, number: int) -> Iterator[tuple[Change, ...]]:
    """The four commits of one turn: a request, its answer with a call, the call, its result."""
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
    yield AppendAttempt(end), AppendMessage(spoken), AppendToolCall(asked)
    yield (MarkToolPending(call),)
    yield (AppendToolResult(ToolResult.succeeded(call, "rain, and more rain to come")),)


def write_session(directory: Path, facts: int) -> SessionState:
    """A Session file with at least so many facts, written as the store writes it."""
    new = NewSession(SessionId("long"), AgentId("a"), WorkspaceId("w"), _MODEL)
    state = create(new, _NOW)
    with SessionDirectory(directory).file_of(new.id).open("wb") as file:
        file.write(creation(new, _NOW))
        start = RunFact(_RUN, RunStatus.STARTED, _MODEL, 1)
        commits: Iterator[tuple[Change, ...]] = iter([(AppendRun(start),)])
        number = 0
        while len(state.history) < facts or number == 0:
            for changes in commits:
                request = CommitRequest(state.id, state.revision, f"key-{state.revision}", changes)
                file.write(seal(commit_body(request), _NOW))
                state = apply(state, changes, now=_NOW)
            number += 1
            commits = turn(state, number)
    return state


def resident_mib() -> float:
    """Memory that this process has now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 2**20


async def open_seconds(directory: Path) -> tuple[float, float]:
    """Median seconds to open the Session, and the MiB that it then takes."""
    seconds = list[float]()
    before, taken = resident_mib(), 0.0
    for _ in range(OPENINGS):
        gc.collect()
        started = time.perf_counter()
        loaded = await FileStore(directory).load(SessionId("long"))
        seconds.append(time.perf_counter() - started)
        taken = resident_mib() - before
        del loaded
    return statistics.median(seconds), taken


async def commit_microseconds(directory: Path, state: SessionState) -> float:
    """Median microseconds of one durable commit at the end of the Session."""
    costs = list[float]()
    async with FileStore(directory) as store:
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


def rows() -> Iterator[Row]:
    first: float | None = None
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            directory = Path(folder)
            state = write_session(directory, size)
            seconds, taken = anyio.run(open_seconds, directory)
            yield Row(name=f"open.{size}", value=seconds, unit="s")
            yield Row(name=f"open.{size}.memory", value=taken, unit="MiB")
            cost = anyio.run(commit_microseconds, directory, state)
        row = Row(name=f"commit.{size}", value=cost, unit="us")
        if first is not None:
            row["ratio"], row["against"] = cost / first, f"commit.{SIZES[0]}"
        first = first or cost
        yield row
