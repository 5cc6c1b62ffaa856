"""The extension journal's rules: which step may follow which, and what an answer may say.

The tables are the rules; `transition` is the only function that makes one entry out of another.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from agentslot._json import canonical_json
from agentslot.session.changes import UpdateExtensionJournal
from agentslot.session.codec import encode
from agentslot.session.draft import Draft, require_identity
from agentslot.session.extensions import (
    MAX_CONTEXT_BYTES,
    MAX_CONTEXT_INPUTS,
    ContextDisposition,
    ExtensionBoundary,
    ExtensionDecision,
    ExtensionEffect,
    ExtensionEntry,
    ExtensionInvocation,
    ExtensionStatus,
    InvocationEnded,
    InvocationPrepared,
    InvocationSettled,
    InvocationStep,
    InvocationSucceeded,
    LifecyclePhase,
    is_digest,
)
from agentslot.session.message import MessageInput
from agentslot.session.refusal import invalid_change, journal_broken
from agentslot.session.state import JournalStatus
from agentslot.session.text import is_safe_line, text_digest

TRANSITIONS: Mapping[ExtensionStatus | None, Mapping[ExtensionStatus, ExtensionEffect]] = {
    None: {
        ExtensionStatus.PREPARED: ExtensionEffect.NONE,
    },
    ExtensionStatus.PREPARED: {
        ExtensionStatus.PENDING: ExtensionEffect.NONE,
        ExtensionStatus.FAILED: ExtensionEffect.PENDING,
        ExtensionStatus.CANCELED: ExtensionEffect.DISCARDED,
    },
    ExtensionStatus.PENDING: {
        ExtensionStatus.SUCCEEDED: ExtensionEffect.PENDING,
        ExtensionStatus.FAILED: ExtensionEffect.PENDING,
        ExtensionStatus.CANCELED: ExtensionEffect.PENDING,
        ExtensionStatus.OUTCOME_UNKNOWN: ExtensionEffect.PENDING,
    },
}
"""The statuses that may follow each status, and the effect that the new one begins with."""

EFFECTS: Mapping[ExtensionEffect, frozenset[ExtensionEffect]] = {
    ExtensionEffect.PENDING: frozenset({ExtensionEffect.APPLIED, ExtensionEffect.DISCARDED}),
}
"""The effects that may follow each effect of an ended invocation."""

CONTEXTS: Mapping[ContextDisposition, Mapping[ContextDisposition, frozenset[ExtensionEffect]]] = {
    ContextDisposition.PENDING: {
        ContextDisposition.CONSUMED: frozenset({ExtensionEffect.APPLIED}),
        ContextDisposition.DISCARDED: frozenset(
            {ExtensionEffect.APPLIED, ExtensionEffect.DISCARDED}
        ),
    },
}
"""What may become of a context that waits, and the effects with which it may."""

DECISIONS: Mapping[ExtensionBoundary, frozenset[ExtensionDecision | None]] = {
    ExtensionBoundary.INPUT_GATE: frozenset({ExtensionDecision.ACCEPT, ExtensionDecision.REJECT}),
    ExtensionBoundary.TOOL_PREFLIGHT: frozenset(
        {
            ExtensionDecision.ALLOW,
            ExtensionDecision.DENY,
            ExtensionDecision.REQUIRE_APPROVAL,
        }
    ),
    ExtensionBoundary.TOOL_RESULT: frozenset({None}),
    ExtensionBoundary.COMPLETION: frozenset(
        {ExtensionDecision.COMPLETE, ExtensionDecision.CONTINUE}
    ),
    ExtensionBoundary.SESSION_LIFECYCLE: frozenset({None}),
}
"""What may be decided at each boundary; None is an answer without a decision."""

NEED_REASON = frozenset(
    {ExtensionDecision.REJECT, ExtensionDecision.DENY, ExtensionDecision.REQUIRE_APPROVAL}
)
"""Decisions that say why."""

NEED_CONTEXT = frozenset({ExtensionDecision.CONTINUE})
"""Decisions that make no sense without a context."""

MAY_ADD_CONTEXT: frozenset[tuple[ExtensionBoundary, ExtensionDecision | None]] = frozenset(
    {
        (ExtensionBoundary.INPUT_GATE, ExtensionDecision.ACCEPT),
        (ExtensionBoundary.TOOL_RESULT, None),
        (ExtensionBoundary.COMPLETION, ExtensionDecision.CONTINUE),
        (ExtensionBoundary.SESSION_LIFECYCLE, None),
    }
)
"""Answers that may bring a context along; of the lifecycle's only those at opening."""

PLACES: Mapping[ExtensionBoundary, tuple[str, ...]] = {
    ExtensionBoundary.INPUT_GATE: ("message_id",),
    ExtensionBoundary.TOOL_PREFLIGHT: ("run_id", "step_id", "message_id", "tool_call_id"),
    ExtensionBoundary.TOOL_RESULT: ("run_id", "step_id", "target_step_id", "tool_call_id"),
    ExtensionBoundary.COMPLETION: ("run_id", "step_id", "target_step_id", "message_id"),
    ExtensionBoundary.SESSION_LIFECYCLE: ("phase",),
}
"""What an invocation at each boundary has to name."""

OF_A_RUN = frozenset(
    {
        ExtensionBoundary.TOOL_PREFLIGHT,
        ExtensionBoundary.TOOL_RESULT,
        ExtensionBoundary.COMPLETION,
    }
)
"""Boundaries inside a Run: it does not end while one of their invocations is open."""


def context_fingerprint(context: tuple[MessageInput, ...]) -> tuple[str, int]:
    """Digest and size in bytes of what a hook proposes, in its one canonical spelling."""
    text = canonical_json(b"[%b]" % b",".join(encode(message) for message in context))
    return text_digest(text), len(text.encode())


def update_extension_journal(draft: Draft, change: UpdateExtensionJournal) -> None:
    """Take one step of one invocation."""
    sequence, step = change.sequence, change.step
    journal = draft.extension_journal
    entry = draft.extensions.get(sequence) or journal.get(sequence)
    if isinstance(step, InvocationPrepared):
        due = max([len(journal), *draft.extensions]) + 1
        if sequence != due:
            raise journal_broken(f"the next invocation has sequence {due}, not {sequence}")
        _check_invocation(draft, step.invocation)
    elif entry is None:
        raise journal_broken(f"there is no invocation with sequence {sequence}")
    draft.extensions[sequence] = transition(entry, step, sequence, draft.now)


def transition(
    entry: ExtensionEntry | None, step: InvocationStep, sequence: int, now: datetime
) -> ExtensionEntry:
    """The entry after one step.

    Raises:
        ClassifiedError: `conflict/journal_invariant`: the step may not follow;
            `invalid_input/invalid_change`: the boundary knows no such answer.
    """
    if isinstance(step, InvocationSettled):
        return _settled(entry, step)
    before = None if entry is None else entry.status
    effect = TRANSITIONS.get(before, {}).get(step.status)
    if effect is None:
        raise journal_broken(f"invocation {sequence} is {before or 'new'}: no {step.kind} follows")
    if isinstance(step, InvocationPrepared):
        return ExtensionEntry(sequence, step.invocation, now)
    assert entry is not None  # only `prepared` follows on nothing
    if isinstance(step, InvocationSucceeded):
        return _succeeded(entry, step, now)
    if isinstance(step, InvocationEnded):
        if not step.code or not is_safe_line(step.reason):
            raise invalid_change(f"invocation {sequence} ends without a code and a safe reason")
        return replace(
            entry,
            status=step.status,
            finished_at=now,
            error_code=step.code,
            error_reason=step.reason,
            effect=effect,
        )
    return replace(entry, status=step.status, pending_at=now)


def _succeeded(entry: ExtensionEntry, step: InvocationSucceeded, now: datetime) -> ExtensionEntry:
    problem = answer_problem(entry.invocation, step)
    if problem:
        raise invalid_change(f"invocation {entry.sequence} cannot succeed so: {problem}")
    done = replace(
        entry,
        status=step.status,
        finished_at=now,
        decision=step.decision,
        reason=step.reason,
        effect=ExtensionEffect.PENDING,
    )
    if not step.context:
        return done
    digest, size = context_fingerprint(step.context)
    return replace(
        done,
        context=ContextDisposition.PENDING,
        context_messages=step.context,
        context_digest=digest,
        context_bytes=size,
    )


def answer_problem(invocation: ExtensionInvocation, answer: InvocationSucceeded) -> str:
    """What is wrong with an answer at the boundary of the invocation; empty if nothing is."""
    boundary, decision = invocation.boundary, answer.decision
    if decision not in DECISIONS[boundary]:
        return f"{decision} is no decision at {boundary}"
    if not is_safe_line(answer.reason):
        return "the reason is no safe line of at most 1024 bytes"
    if decision in NEED_REASON and not answer.reason:
        return f"a decision to {decision} needs a reason"
    if decision in NEED_CONTEXT and not answer.context:
        return f"a decision to {decision} needs a context"
    if not answer.context:
        return ""
    if (boundary, decision) not in MAY_ADD_CONTEXT or invocation.phase is LifecyclePhase.CLOSE:
        return "this answer cannot bring a context"
    if len(answer.context) > MAX_CONTEXT_INPUTS:
        return f"{len(answer.context)} messages of context are more than {MAX_CONTEXT_INPUTS}"
    size = context_fingerprint(answer.context)[1]
    if size > MAX_CONTEXT_BYTES:
        return f"{size} bytes of context are more than {MAX_CONTEXT_BYTES}"
    return ""


def _settled(entry: ExtensionEntry | None, step: InvocationSettled) -> ExtensionEntry:
    if entry is None or entry.finished_at is None:
        raise journal_broken("an invocation that has not ended cannot be settled")
    effect, context = entry.effect, entry.context
    if step.effect is not ExtensionEffect.NONE:
        if step.effect not in EFFECTS.get(effect, ()):
            raise journal_broken(f"invocation {entry.sequence} is {effect}, not {step.effect}")
        effect = step.effect
    if step.context is not ContextDisposition.NONE:
        if effect not in CONTEXTS.get(context, {}).get(step.context, ()):
            raise journal_broken(
                f"the context of invocation {entry.sequence} is {context} and its effect {effect}: "
                f"it cannot be {step.context}"
            )
        context = step.context
    if (effect, context) == (entry.effect, entry.context):
        raise journal_broken(f"nothing of invocation {entry.sequence} is settled")
    if effect is ExtensionEffect.DISCARDED and context is ContextDisposition.PENDING:
        raise journal_broken(f"invocation {entry.sequence} is discarded and its context is not")
    waits = context is ContextDisposition.PENDING
    messages = entry.context_messages if waits else ()
    return replace(entry, effect=effect, context=context, context_messages=messages)


def _check_invocation(draft: Draft, invocation: ExtensionInvocation) -> None:
    require_identity("invocation id", invocation.id)
    known = (entry.invocation.id for entry in draft.extensions.values())
    if invocation.id in draft.extension_journal or invocation.id in known:
        raise journal_broken(f"there is an invocation {invocation.id!r} already")
    if not is_digest(invocation.input_digest):
        raise invalid_change(f"invocation {invocation.id!r} has no digest of its input")
    if invocation.prepared_revision != draft.revision + 1:
        raise journal_broken(
            f"invocation {invocation.id!r} says revision {invocation.prepared_revision}, "
            f"this commit makes {draft.revision + 1}"
        )
    _check_place(draft, invocation)


def _check_place(draft: Draft, invocation: ExtensionInvocation) -> None:
    boundary = invocation.boundary
    for name in PLACES[boundary]:
        if not getattr(invocation, name):
            raise invalid_change(f"an invocation at {boundary} names its {name}")
    if (invocation.phase is LifecyclePhase.OPEN) != (invocation.open_kind is not None):
        raise invalid_change("exactly an invocation at opening says how the Session is opened")
    if invocation.goal is not None and boundary is not ExtensionBoundary.COMPLETION:
        raise invalid_change(f"an invocation at {boundary} names no goal")
    if boundary in OF_A_RUN:
        draft.active(invocation.run_id)
    call_id = invocation.tool_call_id
    if call_id is None:
        return
    entry = draft.journal.get(call_id)
    if boundary is ExtensionBoundary.TOOL_PREFLIGHT:
        fits = entry is not None and entry.status is JournalStatus.PREPARED
    else:
        fits = entry is None
    if not fits:
        raise journal_broken(f"tool call {call_id!r} is not where {boundary} asks about it")
