"""The extension journal: which steps may follow, what an answer may say, and what it costs."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.session import (
    AppendToolResult,
    AttachmentPart,
    Change,
    ClassifiedError,
    ContextDisposition,
    ExtensionBoundary,
    ExtensionDecision,
    ExtensionDescriptor,
    ExtensionEffect,
    ExtensionEntry,
    ExtensionStatus,
    GoalId,
    GoalReference,
    InvocationPrepared,
    InvocationStep,
    InvocationSucceeded,
    LifecyclePhase,
    MessageInput,
    SessionState,
    UpdateExtensionJournal,
    apply,
)
from agentslot.session.rules.extensions import (
    CONTEXTS,
    DECISIONS,
    EFFECTS,
    TRANSITIONS,
    context_fingerprint,
    transition,
)
from tests.session.extensions import (
    ACCEPTED,
    ALLOWED,
    APPLIED,
    BEGUN,
    CANCELED,
    CONSUMED,
    DISCARDED,
    DROPPED,
    FAILED,
    NOTE,
    UNKNOWN,
    asked,
    invocation,
    prepare,
    status,
    step,
)
from tests.session.scenario import (
    START,
    advance,
    at,
    calling,
    idle,
    pending,
    result,
    run_ended,
    running,
)

Boundary = ExtensionBoundary
Decision = ExtensionDecision


def refused(state: SessionState, *changes: Change) -> str:
    with pytest.raises(ClassifiedError) as caught:
        apply(state, changes, now=state.updated_at + timedelta(seconds=1))
    return caught.value.code


def test_an_invocation_is_prepared_begun_answered_and_settled() -> None:
    state = asked(Boundary.TOOL_PREFLIGHT)
    told = [status(state.extensions[1])]
    for each in (BEGUN, ALLOWED, APPLIED):
        state = advance(state, step(1, each))
        told.append(status(state.extensions[1]))
    assert told == ["prepared", "pending", "succeeded/pending", "succeeded/applied"]
    entry = state.extensions[1]
    assert entry.pending_at is not None
    assert entry.finished_at is not None
    assert entry.prepared_at < entry.pending_at < entry.finished_at
    assert entry.decision is Decision.ALLOW


def test_several_steps_of_one_invocation_may_share_a_commit() -> None:
    state = asked(Boundary.TOOL_PREFLIGHT, BEGUN)
    state = advance(state, step(1, ALLOWED, APPLIED))
    assert status(state.extensions[1]) == "succeeded/applied"


def test_what_has_begun_is_never_begun_again() -> None:
    state = asked(Boundary.TOOL_PREFLIGHT, BEGUN)
    assert refused(state, *step(1, BEGUN)) == "journal_invariant"


def test_only_what_has_begun_can_have_an_unknown_outcome() -> None:
    assert refused(asked(Boundary.TOOL_PREFLIGHT), *step(1, UNKNOWN)) == "journal_invariant"


def test_an_unasked_component_can_be_cancelled_at_once_or_fail_before_it_is_settled() -> None:
    assert status(asked(Boundary.TOOL_PREFLIGHT, CANCELED).extensions[1]) == "canceled/discarded"
    assert status(asked(Boundary.TOOL_PREFLIGHT, FAILED).extensions[1]) == "failed/pending"


def test_an_end_stands() -> None:
    state = asked(Boundary.TOOL_PREFLIGHT, BEGUN, FAILED, APPLIED)
    for again in (BEGUN, ALLOWED, FAILED, APPLIED, DISCARDED, CONSUMED):
        assert refused(state, *step(1, again)) == "journal_invariant"


def test_a_context_waits_until_it_is_consumed_and_leaves_its_size_and_digest() -> None:
    state = asked(Boundary.INPUT_GATE, BEGUN, ACCEPTED, APPLIED)
    entry = state.extensions[1]
    assert entry.context_messages == (NOTE,)
    assert (entry.context_digest, entry.context_bytes) == context_fingerprint((NOTE,))
    state = advance(state, step(1, CONSUMED))
    left = state.extensions[1]
    assert status(left) == "succeeded/applied/consumed"
    assert left.context_messages == ()
    assert (left.context_digest, left.context_bytes) == (entry.context_digest, entry.context_bytes)


def test_a_context_is_consumed_only_where_the_effect_is_applied() -> None:
    state = asked(Boundary.INPUT_GATE, BEGUN, ACCEPTED)
    assert refused(state, *step(1, CONSUMED)) == "journal_invariant"
    assert refused(state, *step(1, DISCARDED)) == "journal_invariant"
    both = replace(DISCARDED, context=ContextDisposition.DISCARDED)
    assert status(advance(state, step(1, both)).extensions[1]) == "succeeded/discarded/discarded"


@pytest.mark.parametrize("boundary", Boundary)
@pytest.mark.parametrize("decision", [None, *Decision])
def test_each_boundary_knows_its_own_decisions(
    boundary: Boundary, decision: Decision | None
) -> None:
    state = calling("c1")
    if boundary is Boundary.TOOL_RESULT:
        state = advance(state, [pending("c1")], [AppendToolResult(result("c1"))])
    state = asked(boundary, BEGUN, state=state)
    context = (NOTE,) if decision is Decision.CONTINUE else ()
    answer = InvocationSucceeded(decision, "because", context)
    if decision in DECISIONS[boundary]:
        assert status(advance(state, step(1, answer)).extensions[1]).startswith("succeeded")
    else:
        assert refused(state, *step(1, answer)) == "invalid_change"


@pytest.mark.parametrize(
    ("boundary", "answer"),
    [
        (Boundary.INPUT_GATE, InvocationSucceeded(Decision.REJECT)),
        (Boundary.INPUT_GATE, InvocationSucceeded(Decision.REJECT, "no", (NOTE,))),
        (Boundary.TOOL_PREFLIGHT, InvocationSucceeded(Decision.DENY)),
        (Boundary.TOOL_PREFLIGHT, InvocationSucceeded(Decision.REQUIRE_APPROVAL)),
        (Boundary.TOOL_PREFLIGHT, InvocationSucceeded(Decision.ALLOW, context=(NOTE,))),
        (Boundary.COMPLETION, InvocationSucceeded(Decision.COMPLETE, context=(NOTE,))),
        (Boundary.COMPLETION, InvocationSucceeded(Decision.CONTINUE)),
        (Boundary.TOOL_PREFLIGHT, InvocationSucceeded(Decision.ALLOW, "two\nlines")),
        (Boundary.TOOL_PREFLIGHT, InvocationSucceeded(Decision.ALLOW, "x" * 1025)),
        (Boundary.INPUT_GATE, InvocationSucceeded(Decision.ACCEPT, context=(NOTE,) * 17)),
        (
            Boundary.INPUT_GATE,
            InvocationSucceeded(Decision.ACCEPT, context=(MessageInput.of("x" * 256 * 1024),)),
        ),
    ],
)
def test_an_answer_keeps_to_reasons_contexts_and_limits(
    boundary: Boundary, answer: InvocationSucceeded
) -> None:
    assert refused(asked(boundary, BEGUN), *step(1, answer)) == "invalid_change"


def test_a_session_that_closes_takes_no_context() -> None:
    state = idle()
    closing = invocation(Boundary.SESSION_LIFECYCLE, 2, phase=LifecyclePhase.CLOSE)
    state = advance(state, [UpdateExtensionJournal(1, InvocationPrepared(closing))], step(1, BEGUN))
    assert refused(state, *step(1, InvocationSucceeded(context=(NOTE,)))) == "invalid_change"
    assert status(advance(state, step(1, InvocationSucceeded())).extensions[1])


@pytest.mark.parametrize("boundary", sorted(set(Boundary) - {Boundary.COMPLETION}))
def test_only_a_completion_names_a_goal(boundary: Boundary) -> None:
    goal = GoalReference(GoalId("g1"), 1)
    state = running()
    named = replace(invocation(Boundary.COMPLETION, 3), goal=goal)
    elsewhere = replace(invocation(boundary, 3), goal=goal)
    made = advance(state, [UpdateExtensionJournal(1, InvocationPrepared(named))])
    assert made.extensions[1].invocation.goal == goal
    change = UpdateExtensionJournal(1, InvocationPrepared(elsewhere))
    assert refused(state, change) == "invalid_change"


def test_invocations_are_numbered_and_named_once() -> None:
    state = asked(Boundary.TOOL_PREFLIGHT)
    due, again = invocation(Boundary.TOOL_PREFLIGHT, 6, "2"), invocation(Boundary.TOOL_PREFLIGHT, 6)
    for sequence, named in ((1, due), (3, due), (2, again), (2, replace(due, prepared_revision=5))):
        prepared = UpdateExtensionJournal(sequence, InvocationPrepared(named))
        assert refused(state, prepared) == "journal_invariant"
    twice = prepare(state, Boundary.TOOL_PREFLIGHT, "2", "2")
    assert refused(state, *twice) == "journal_invariant"
    assert refused(state, *step(2, BEGUN)) == "journal_invariant"


def test_an_invocation_says_where_it_belongs() -> None:
    state = calling("c1")
    whole = invocation(Boundary.TOOL_PREFLIGHT, state.revision + 1)
    for part in (
        replace(whole, step_id=None),
        replace(whole, tool_call_id=None),
        replace(whole, input_digest="sha256:0"),
        replace(invocation(Boundary.SESSION_LIFECYCLE, whole.prepared_revision), open_kind=None),
    ):
        assert refused(state, UpdateExtensionJournal(1, InvocationPrepared(part))) in {
            "invalid_change",
            "journal_invariant",
        }


def test_a_preflight_is_about_a_prepared_call_and_a_result_hook_about_one_with_a_result() -> None:
    prepared, begun = calling("c1"), advance(calling("c1"), [pending("c1")])
    done = advance(begun, [AppendToolResult(result("c1"))])
    preflight, hook = Boundary.TOOL_PREFLIGHT, Boundary.TOOL_RESULT
    assert len(advance(prepared, prepare(prepared, preflight, "1")).extensions) == 1
    assert refused(begun, *prepare(begun, preflight, "1")) == "journal_invariant"
    assert refused(begun, *prepare(begun, hook, "1")) == "journal_invariant"
    assert len(advance(done, prepare(done, hook, "1")).extensions) == 1


def test_a_run_does_not_end_while_one_of_its_hooks_is_open() -> None:
    state = asked(Boundary.TOOL_PREFLIGHT, BEGUN, ALLOWED)
    rest: list[Change] = [AppendToolResult(result("c1")), run_ended(1)]
    assert refused(state, *rest) == "journal_invariant"
    assert advance(state, [*step(1, APPLIED), *rest]).active_run is None


def test_an_input_gate_outlives_the_run_that_it_was_asked_in() -> None:
    state = asked(Boundary.INPUT_GATE, BEGUN)
    assert advance(state, [AppendToolResult(result("c1")), run_ended(1)]).extensions.open


def test_a_descriptor_is_one_line_and_a_digest() -> None:
    described = ExtensionDescriptor.of("budget", "v1")
    assert described == ExtensionDescriptor.of("budget", "v1")
    assert described.digest != ExtensionDescriptor.of("budget", "v2").digest
    for key in ("", " x", "a\nb", "a\u200bb", "é" * 65):
        with pytest.raises(ValueError, match="descriptor key"):
            ExtensionDescriptor.of(key, "v1")
    for digest in ("", "sha256:0", "sha256:" + "F" * 64, "sha256:" + "0" * 64 + "\n"):
        with pytest.raises(ValueError, match="descriptor digest"):
            ExtensionDescriptor("key", digest)


def test_the_fingerprint_of_a_context_is_of_its_content() -> None:
    text = MessageInput.of("x")
    picture = MessageInput.of(AttachmentPart("a1", "image/png"))
    assert context_fingerprint((text,)) == context_fingerprint((MessageInput.of("x"),))
    assert len({context_fingerprint(c) for c in ((text,), (picture,), (text, picture))}) == 3


def test_settled_entries_are_shared_between_revisions_and_open_ones_are_each_revision_s_own() -> (
    None
):
    states = [asked(Boundary.TOOL_PREFLIGHT)]
    for each in (BEGUN, ALLOWED, APPLIED):
        states.append(advance(states[-1], step(1, each)))
    assert [status(state.extensions[1]) for state in states] == [
        "prepared",
        "pending",
        "succeeded/pending",
        "succeeded/applied",
    ]
    assert [len(state.extensions.open) for state in states] == [1, 1, 1, 0]


def test_a_commit_that_came_to_nothing_leaves_no_trace_in_the_journal() -> None:
    base = asked(Boundary.TOOL_PREFLIGHT, BEGUN)
    lost = advance(base, [*step(1, FAILED, APPLIED), *prepare(base, Boundary.TOOL_PREFLIGHT, "2")])
    kept = advance(base, [*step(1, ALLOWED, APPLIED), *prepare(base, Boundary.TOOL_PREFLIGHT, "3")])
    assert [status(e) for e in base.extensions] == ["pending"]
    assert [status(e) for e in kept.extensions] == ["succeeded/applied", "prepared"]
    assert [status(e) for e in lost.extensions] == ["failed/applied", "prepared"]
    assert [e.invocation.id for e in kept.extensions] == ["invocation-1", "invocation-3"]
    assert "invocation-2" not in {e.invocation.id for e in reversed(kept.extensions)}
    again = prepare(kept, Boundary.TOOL_PREFLIGHT, "2")
    assert len(advance(kept, again).extensions) == 3


def test_a_journal_without_entries_is_shared_by_every_revision() -> None:
    state = calling("c1")
    assert advance(state, [pending("c1")]).extensions is state.extensions


STEPS: list[InvocationStep] = [
    BEGUN, ALLOWED, ACCEPTED, FAILED, CANCELED, UNKNOWN, APPLIED, DISCARDED, CONSUMED, DROPPED
]  # fmt: skip


@given(
    st.sampled_from([Boundary.TOOL_PREFLIGHT, Boundary.INPUT_GATE]),
    st.lists(st.sampled_from(STEPS), max_size=12),
)
def test_no_order_of_steps_breaks_an_entry(boundary: Boundary, steps: list[InvocationStep]) -> None:
    prepared = InvocationPrepared(invocation(boundary, 2))
    entry = transition(None, prepared, 1, START)
    for number, each in enumerate(steps, 1):
        try:
            after = transition(entry, each, 1, at(number))
        except ClassifiedError:
            continue
        check_step(entry, after)
        check_shape(after)
        entry = after


def check_step(before: ExtensionEntry, after: ExtensionEntry) -> None:
    """What followed stands in the tables, and what was said before still stands."""
    assert after.invocation is before.invocation
    if before.finished_at is None:
        assert after.status in TRANSITIONS[before.status]
    else:
        assert (after.status, after.decision, after.finished_at, after.error_code) == (
            before.status,
            before.decision,
            before.finished_at,
            before.error_code,
        )
        assert after.effect is before.effect or after.effect in EFFECTS[before.effect]
        assert after.context is before.context or after.context in CONTEXTS[before.context]
        assert (after.effect, after.context) != (before.effect, before.context)


def check_shape(entry: ExtensionEntry) -> None:
    ended = entry.status not in (ExtensionStatus.PREPARED, ExtensionStatus.PENDING)
    succeeded = entry.status is ExtensionStatus.SUCCEEDED
    assert (entry.finished_at is not None) == ended == (entry.effect is not ExtensionEffect.NONE)
    assert bool(entry.error_code) == (ended and not succeeded)
    assert succeeded or entry.decision is None
    assert entry.pending_at is None or entry.status is not ExtensionStatus.PREPARED
    waits = entry.context is ContextDisposition.PENDING
    assert bool(entry.context_messages) == waits
    assert bool(entry.context_digest) == (entry.context is not ContextDisposition.NONE)
    if waits:
        assert entry.effect in (ExtensionEffect.PENDING, ExtensionEffect.APPLIED)
    if entry.context is ContextDisposition.CONSUMED:
        assert entry.effect is ExtensionEffect.APPLIED
    assert entry.is_open == (not ended or entry.effect is ExtensionEffect.PENDING or waits)
