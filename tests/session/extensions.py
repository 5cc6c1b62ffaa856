"""Invocations of hooks, told in the fewest words."""

from agentslot.session import (
    Change,
    ContextDisposition,
    ExtensionBoundary,
    ExtensionDecision,
    ExtensionDescriptor,
    ExtensionEffect,
    ExtensionEntry,
    ExtensionInvocation,
    ExtensionStatus,
    InvocationBegun,
    InvocationEnded,
    InvocationId,
    InvocationPrepared,
    InvocationSettled,
    InvocationStep,
    InvocationSucceeded,
    LifecyclePhase,
    MessageId,
    MessageInput,
    OpenKind,
    RunId,
    SessionState,
    StepId,
    ToolCallId,
    UpdateExtensionJournal,
)
from tests.session.scenario import RUN, STEP, advance, calling

DIGEST = "sha256:" + "0" * 64
NEXT = StepId("step-2")
NOTE = MessageInput.of("a note")

BEGUN = InvocationBegun()
FAILED = InvocationEnded(ExtensionStatus.FAILED, "extension_failed", "it broke")
CANCELED = InvocationEnded(ExtensionStatus.CANCELED, "canceled")
UNKNOWN = InvocationEnded(ExtensionStatus.OUTCOME_UNKNOWN, "hook_outcome_unknown")
APPLIED = InvocationSettled(ExtensionEffect.APPLIED)
DISCARDED = InvocationSettled(ExtensionEffect.DISCARDED)
CONSUMED = InvocationSettled(context=ContextDisposition.CONSUMED)
DROPPED = InvocationSettled(context=ContextDisposition.DISCARDED)
ALLOWED = InvocationSucceeded(ExtensionDecision.ALLOW)
ACCEPTED = InvocationSucceeded(ExtensionDecision.ACCEPT, context=(NOTE,))


def invocation(
    boundary: ExtensionBoundary,
    revision: int,
    name: str = "1",
    *,
    message: str = "a1",
    call: str = "c1",
    run: RunId = RUN,
    phase: LifecyclePhase = LifecyclePhase.OPEN,
) -> ExtensionInvocation:
    """What the component `hook-NAME` is asked in the commit that makes `revision`."""
    of_run = boundary not in (ExtensionBoundary.INPUT_GATE, ExtensionBoundary.SESSION_LIFECYCLE)
    of_call = boundary in (ExtensionBoundary.TOOL_PREFLIGHT, ExtensionBoundary.TOOL_RESULT)
    onward = boundary in (ExtensionBoundary.TOOL_RESULT, ExtensionBoundary.COMPLETION)
    lifecycle = boundary is ExtensionBoundary.SESSION_LIFECYCLE
    return ExtensionInvocation(
        InvocationId(f"invocation-{name}"),
        ExtensionDescriptor(f"hook-{name}", DIGEST),
        boundary,
        DIGEST,
        revision,
        run if of_run else None,
        STEP if of_run else None,
        NEXT if onward else None,
        None if lifecycle else MessageId(message),
        ToolCallId(call) if of_call else None,
        phase if lifecycle else None,
        OpenKind.CREATE if lifecycle and phase is LifecyclePhase.OPEN else None,
    )


def step(sequence: int, *steps: InvocationStep) -> list[Change]:
    return [UpdateExtensionJournal(sequence, each) for each in steps]


def prepare(
    state: SessionState, boundary: ExtensionBoundary, *names: str, message: str = "a1"
) -> list[Change]:
    """Record invocations behind those of the state."""
    first = len(state.extensions) + 1
    return [
        UpdateExtensionJournal(
            first + n,
            InvocationPrepared(invocation(boundary, state.revision + 1, name, message=message)),
        )
        for n, name in enumerate(names)
    ]


def asked(
    boundary: ExtensionBoundary, *steps: InvocationStep, state: SessionState | None = None
) -> SessionState:
    """A Session with one invocation that has taken these steps, one a commit."""
    state = state or calling("c1")
    state = advance(state, prepare(state, boundary, "1"))
    return advance(state, *(step(1, each) for each in steps))


def status(entry: ExtensionEntry) -> str:
    """An entry in one word or three: status/effect/context."""
    parts = [entry.status.value, entry.effect.value, entry.context.value]
    return "/".join(part for part in parts if part != "none")
