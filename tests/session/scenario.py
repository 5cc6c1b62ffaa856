"""A Session in motion, told in the fewest words: used by all tests of this folder."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

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
    Delivery,
    Enqueue,
    ErrorKind,
    MarkToolPending,
    Message,
    MessageId,
    ModelAttempt,
    ModelConfig,
    NewSession,
    QueueItem,
    Role,
    RunFact,
    RunId,
    RunStatus,
    RunTermination,
    SessionId,
    SessionState,
    SetContext,
    StepId,
    TerminationSource,
    TextPart,
    TokenUsage,
    ToolCall,
    ToolCallId,
    ToolResult,
    ToolStatus,
    WorkspaceId,
    apply,
    create,
)

START = datetime(2026, 11, 30, 12, tzinfo=UTC)
MODEL = ModelConfig("openai", "gpt-5")
RUN = RunId("run-1")
STEP = StepId("step-1")


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def new_session(session_id: str = "s1", **changes: object) -> NewSession:
    new = NewSession(SessionId(session_id), AgentId("agent"), WorkspaceId("workspace"), MODEL)
    return replace(new, **changes)  # type: ignore[arg-type]  # whatever a test wants to change


def idle(session_id: str = "s1") -> SessionState:
    return create(new_session(session_id), START)


def user(message_id: str, text: str = "hello", *, run: RunId | None = RUN) -> Message:
    step = STEP if run else None
    return Message(MessageId(message_id), Role.USER, (TextPart(text),), START, run, step)


def assistant(message_id: str, text: str = "working", step: StepId = STEP) -> Message:
    parts = (TextPart(text),) if text else ()
    return Message(MessageId(message_id), Role.ASSISTANT, parts, START, RUN, step)


def call(call_id: str, message_id: str = "a1", *, step: StepId = STEP) -> ToolCall:
    return ToolCall(ToolCallId(call_id), "tok", MessageId(message_id), RUN, step, "add", '{"a":1}')


def result(call_id: str, status: ToolStatus = ToolStatus.SUCCEEDED) -> ToolResult:
    return ToolResult(ToolCallId(call_id), status, None if status != "succeeded" else "3")


def run_started(revision: int, run: RunId = RUN) -> AppendRun:
    return AppendRun(RunFact(run, RunStatus.STARTED, MODEL, revision))


def run_ended(
    revision: int, status: RunStatus = RunStatus.COMPLETED, run: RunId = RUN
) -> AppendRun:
    why = RunTermination(TerminationSource.RUNTIME, ErrorKind.CANCELED, "canceled", "stopped")
    termination = None if status is RunStatus.COMPLETED else why
    return AppendRun(RunFact(run, status, MODEL, revision, termination))


def attempt(
    attempt_id: str, status: AttemptStatus = AttemptStatus.STARTED, *, tokens: int = 0
) -> AppendAttempt:
    usage = TokenUsage(tokens, 0, total=tokens) if tokens else None
    code = "" if status in ("started", "succeeded") else "transport"
    fact = ModelAttempt(
        AttemptId(attempt_id), RUN, STEP, status, "openai", "gpt-5", usage=usage, error_code=code
    )
    return AppendAttempt(fact)


def queued(message_id: str, delivery: Delivery = Delivery.NORMAL) -> Enqueue:
    return Enqueue(QueueItem(user(message_id, run=None), delivery))


def context(state: SessionState, version: int = 1) -> SetContext:
    seen = ContextRange(1, state.history.last_sequence)
    return SetContext(ContextView(version, state.revision, RUN, MODEL, (seen,), None, None, 10))


def advance(state: SessionState, *commits: Sequence[Change]) -> SessionState:
    for changes in commits:
        state = apply(state, changes, now=state.updated_at + timedelta(seconds=1))
    return state


def running() -> SessionState:
    """Revision 2: a Run has started with a user message."""
    return advance(idle(), [run_started(1), AppendMessage(user("u1"))])


def calling(*call_ids: str) -> SessionState:
    """A Run in which the model has asked for calls; all are prepared."""
    answer: list[Change] = [attempt("t1", AttemptStatus.SUCCEEDED, tokens=7)]
    answer.append(AppendMessage(assistant("a1")))
    answer += [AppendToolCall(call(call_id)) for call_id in call_ids]
    return advance(running(), [attempt("t1")], answer)


def pending(call_id: str) -> MarkToolPending:
    return MarkToolPending(ToolCallId(call_id))


def finished() -> SessionState:
    """Idle again after a Run with one tool call."""
    return advance(
        calling("c1"),
        [pending("c1")],
        [AppendToolResult(result("c1"))],
        [AppendMessage(assistant("a2", "done", StepId("step-2"))), run_ended(1)],
    )


def request(state: SessionState, key: str, *changes: Change) -> CommitRequest:
    return CommitRequest(state.id, state.revision, key, changes)
