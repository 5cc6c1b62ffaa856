"""A Session's life in commits: every kind of change, in an order that makes sense."""

from collections.abc import Iterator
from datetime import UTC, datetime

from agentslot.session import changes as c
from agentslot.session.errors import ErrorKind
from agentslot.session.extensions import (
    ExtensionBoundary,
    ExtensionDescriptor,
    ExtensionEffect,
    ExtensionInvocation,
    InvocationBegun,
    InvocationPrepared,
    InvocationSettled,
    InvocationSucceeded,
    LifecyclePhase,
    OpenKind,
)
from agentslot.session.facts import (
    AttemptStatus,
    ContextContribution,
    ModelAttempt,
    RunBudgetExceeded,
    RunFact,
    RunLimit,
    RunLimitExceeded,
    RunStatus,
    RunTermination,
    TerminationSource,
)
from agentslot.session.identity import (
    AgentId,
    AttemptId,
    ClientMessageId,
    InvocationId,
    MessageId,
    RunId,
    SessionId,
    StepId,
    ToolCallId,
    WorkspaceId,
)
from agentslot.session.message import (
    AttachmentPart,
    Continuation,
    Message,
    MessageInput,
    ReasoningPart,
    Role,
    TextPart,
)
from agentslot.session.modelconfig import ModelConfig, Reasoning, TokenUsage
from agentslot.session.state import ContextRange, ContextView, Delivery, QueueItem
from agentslot.session.store import NewSession
from agentslot.session.text import text_digest
from agentslot.session.toolcall import ArtifactMetadata, ToolCall, ToolError, ToolResult, ToolStatus

MODEL = ModelConfig("openai", "gpt-5", Reasoning.HIGH, 0.25, 4096)
OTHER_MODEL = ModelConfig("anthropic", "claude")
SPOKEN = datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=UTC)
AWKWARD_TEXT = 'separators \u2028 \x85, NUL \0, \U0001f378, "quotes\\" and 12345678901234567890.10'
"""Text that breaks readers who split lines, decode by hand or pass numbers through floats."""


def new_session(session_id: str = "session-1", *, workspace: str = "workspace") -> NewSession:
    """A Session to begin with."""
    return NewSession(SessionId(session_id), AgentId("agent"), WorkspaceId(workspace), MODEL)


def queued(message_id: str, delivery: Delivery = Delivery.NORMAL) -> c.Enqueue:
    """Somebody says something that no Run has taken up."""
    return c.Enqueue(QueueItem(_user(message_id), delivery))


def begin(revision: int, run: str = "run-1") -> tuple[c.Change, ...]:
    """A Run starts with a message."""
    started = RunFact(RunId(run), RunStatus.STARTED, MODEL, revision)
    return c.AppendRun(started), c.AppendMessage(_user(f"{run}-hello", run))


def end(revision: int, run: str = "run-1") -> c.AppendRun:
    """The Run that began at that revision completes."""
    return c.AppendRun(RunFact(RunId(run), RunStatus.COMPLETED, MODEL, revision))


def attempt(attempt_id: str, status: AttemptStatus = AttemptStatus.STARTED) -> c.AppendAttempt:
    """A request to the provider starts, or ends."""
    started = status is AttemptStatus.STARTED
    return c.AppendAttempt(
        ModelAttempt(
            AttemptId(attempt_id),
            RunId("run-1"),
            StepId("step-1"),
            status,
            MODEL.provider,
            MODEL.model,
            "" if started else "gpt-5-2026",
            "" if started else "req_1",
            None if started else TokenUsage(10, 5, 2, 1, 3, 15, estimated=True),
            finish_reason="" if started else "tool_use",
            response_id="" if started else "resp_1",
        )
    )


def answer(*call_ids: str) -> tuple[c.Change, ...]:
    """The model answers with calls; the message has no parts of its own."""
    message = Message(
        MessageId("answer"),
        Role.ASSISTANT,
        (),
        SPOKEN,
        RunId("run-1"),
        StepId("step-1"),
        continuation=Continuation("openai", "gpt-5", '{"id": "\\u00e9", "n": 1.0}'),
    )
    return (c.AppendMessage(message), *(c.AppendToolCall(_call(each)) for each in call_ids))


def pending(call_id: str) -> c.MarkToolPending:
    """A call may have begun."""
    return c.MarkToolPending(ToolCallId(call_id))


def succeed(call_id: str) -> c.AppendToolResult:
    """A call ends well."""
    picture = ArtifactMetadata("artifact-1", "image/png", "plot.png", 1234)
    return c.AppendToolResult(
        ToolResult.succeeded(ToolCallId(call_id), {"text": AWKWARD_TEXT}, picture)
    )


def life() -> Iterator[tuple[c.Change, ...]]:
    """The commits of one Session; the first follows its creation at revision 1."""
    prompt = "You are kind."
    yield (c.SetModelConfig(OTHER_MODEL),)  # makes revision 2
    yield (c.SetModelConfig(MODEL),)
    yield queued("q-1"), queued("q-2", Delivery.STEER), queued("q-3", Delivery.HELD)
    yield (
        c.EditQueued(MessageId("q-1"), _PARTS),
        c.ReclassifyQueued(MessageId("q-3"), Delivery.NORMAL),
        c.DeleteQueued(MessageId("q-2")),
    )
    yield (
        c.AppendRun(RunFact(RunId("run-1"), RunStatus.STARTED, MODEL, 5)),
        c.ConsumeQueued(MessageId("q-1"), RunId("run-1")),
        c.AppendMessage(_user("q-1", "run-1", _PARTS)),
    )
    yield (
        c.AppendContextContribution(
            ContextContribution(RunId("run-1"), StepId("step-1"), "clock", (_user("noon"),))
        ),
    )
    yield (
        c.SetContext(
            _view(1, 7, ContextRange(3, 5), prompt=text_digest(prompt)),
            texts=((text_digest(prompt), prompt),),
        ),
        attempt("attempt-1"),
    )
    yield attempt("attempt-1", AttemptStatus.SUCCEEDED), *answer("call-1", "call-2")
    yield (pending("call-1"),)
    yield (succeed("call-1"),)
    yield (
        c.AppendToolResult(
            ToolResult(
                ToolCallId("call-2"), ToolStatus.FAILED, None, ToolError("policy_denied", "no")
            )
        ),
    )
    yield (c.SetContext(_view(2, 12, _user("summary")), retain_previous=True),)
    yield (
        c.AppendLimitExceeded(
            RunLimitExceeded(
                RunId("run-1"), StepId("step-2"), RunLimit.TOOL_CALLS, used=2, limit=2, requested=1
            )
        ),
    )
    yield (
        c.AppendBudgetExceeded(RunBudgetExceeded(RunId("run-1"), used=15, limit=10)),
        c.AppendRun(RunFact(RunId("run-1"), RunStatus.INTERRUPTED, MODEL, 5, _OVER_BUDGET)),
    )
    yield (c.AppendMessage(_user("aside")),)
    yield (c.UpdateExtensionJournal(1, InvocationPrepared(_opening(17))),)
    yield (c.UpdateExtensionJournal(1, InvocationBegun()),)
    yield (
        c.UpdateExtensionJournal(1, InvocationSucceeded(context=(MessageInput(_PARTS),))),
        c.UpdateExtensionJournal(1, InvocationSettled(ExtensionEffect.APPLIED)),
    )


_PARTS = (
    TextPart(AWKWARD_TEXT),
    ReasoningPart("quoted thought"),
    AttachmentPart("artifact-0", "application/pdf", "paper.pdf"),
)
_OVER_BUDGET = RunTermination(
    TerminationSource.BUDGET, ErrorKind.UNAVAILABLE, "run_token_budget_exceeded", "15 of 10 tokens"
)


def _opening(revision: int) -> ExtensionInvocation:
    descriptor = ExtensionDescriptor.of("greeting", "v1")
    return ExtensionInvocation(
        InvocationId("invocation-1"),
        descriptor,
        ExtensionBoundary.SESSION_LIFECYCLE,
        text_digest(AWKWARD_TEXT),
        revision,
        phase=LifecyclePhase.OPEN,
        open_kind=OpenKind.CREATE,
    )


def _user(
    message_id: str,
    run: str | None = None,
    parts: tuple[TextPart | ReasoningPart | AttachmentPart, ...] = (TextPart("hello"),),
) -> Message:
    return Message(
        MessageId(message_id),
        Role.USER,
        parts,
        SPOKEN,
        RunId(run) if run else None,
        StepId("step-1") if run else None,
        ClientMessageId("from-the-client"),
    )


def _call(call_id: str) -> ToolCall:
    return ToolCall(
        ToolCallId(call_id),
        "call_token",
        MessageId("answer"),
        RunId("run-1"),
        StepId("step-1"),
        "search",
        '{"n": 12345678901234567890.10, "q" : "\\ud83c\\udf78"}',
    )


def _view(
    version: int, revision: int, seen: ContextRange | Message, *, prompt: str | None = None
) -> ContextView:
    return ContextView(version, revision, RunId("run-1"), MODEL, (seen,), prompt, None, 42)
