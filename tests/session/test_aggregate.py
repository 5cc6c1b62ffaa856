"""What a commit does to a Session, and what it refuses."""

from dataclasses import replace
from decimal import Decimal

import pytest

from agentslot.session import (
    SERVICE_ACTOR,
    Actor,
    ActorKind,
    AppendBudgetExceeded,
    AppendContextContribution,
    AppendLimitExceeded,
    AppendMessage,
    AppendRun,
    AppendToolCall,
    AppendToolResult,
    AttemptId,
    AttemptStatus,
    Change,
    ClassifiedError,
    ClientMessageId,
    ConsumeQueued,
    ContextContribution,
    ContextRange,
    DeleteQueued,
    Delivery,
    EditQueued,
    JournalStatus,
    MessageId,
    ModelConfig,
    ModelConfigChanged,
    ReasoningPart,
    ReclassifyQueued,
    RunBudgetExceeded,
    RunFact,
    RunId,
    RunLimit,
    RunLimitExceeded,
    RunStatus,
    SessionState,
    SetContext,
    SetModelConfig,
    StepId,
    TextPart,
    TokenUsage,
    ToolStatus,
    apply,
    text_digest,
)
from tests.session.scenario import (
    MODEL,
    RUN,
    STEP,
    advance,
    assistant,
    at,
    attempt,
    call,
    calling,
    context,
    finished,
    idle,
    pending,
    queued,
    result,
    run_ended,
    run_started,
    running,
    user,
)


def refused(state: SessionState, *changes: Change) -> str:
    """Code of the refusal; the Session must be as it was."""
    before = replace(state), tuple(state.history)
    with pytest.raises(ClassifiedError) as caught:
        apply(state, changes, now=at(99))
    assert (state, tuple(state.history)) == before
    return caught.value.code


def test_a_run_goes_from_idle_through_calls_and_results_back_to_idle() -> None:
    state = finished()
    assert [fact.kind for fact in state.history] == [
        "run",
        "message",
        "model_attempt",
        "model_attempt",
        "message",
        "tool_call",
        "tool_result",
        "message",
        "run",
    ]
    assert [fact.sequence for fact in state.history] == list(range(1, 10))
    assert state.active_run is None
    assert not state.journal


def test_an_older_view_never_sees_what_was_committed_after_it() -> None:
    before = running()
    after = advance(before, [attempt("t1")])
    assert len(before.history) == 2
    assert before.history.attempt_start(AttemptId("t1")) is None
    assert after.history.attempt_start(AttemptId("t1")) is not None


def test_two_futures_of_one_state_do_not_disturb_each_other() -> None:
    before = running()
    one = advance(before, [AppendMessage(user("x"))])
    other = advance(before, [AppendMessage(user("y"))])
    assert [one.history[2].payload, other.history[2].payload] == [user("x"), user("y")]
    assert one.history.message(MessageId("y")) is None


def test_every_fact_says_who_when_and_where() -> None:
    actor = Actor(ActorKind.LOCAL_USER, "ada")
    state = apply(running(), [attempt("t1")], now=at(5), actor=actor)
    fact = state.history[-1]
    assert (fact.actor, fact.at, fact.run_id, fact.step_id) == (actor, at(5), RUN, STEP)
    assert fact.id == "s1:fact:3"
    assert running().history[0].actor == SERVICE_ACTOR


def test_a_result_inherits_the_place_of_its_call() -> None:
    state = advance(calling("c1"), [pending("c1")], [AppendToolResult(result("c1"))])
    assert (state.history[-1].run_id, state.history[-1].step_id) == (RUN, STEP)


def test_a_commit_without_changes_is_refused() -> None:
    assert refused(idle()) == "invalid_change"


class TestRuns:
    def test_only_an_idle_session_starts_a_run(self) -> None:
        assert refused(running(), run_started(2, RunId("run-2"))) == "active_run"

    def test_a_run_starts_with_the_sessions_model_read_at_this_revision(self) -> None:
        other = RunFact(RUN, RunStatus.STARTED, ModelConfig("openai", "other"), 1)
        assert refused(idle(), AppendRun(other)) == "history_invariant"
        assert refused(idle(), run_started(7)) == "history_invariant"

    def test_a_run_id_is_used_once(self) -> None:
        state = finished()
        assert refused(state, run_started(state.revision)) == "history_invariant"

    def test_one_commit_may_end_a_run_and_start_the_next(self) -> None:
        state = running()
        state = advance(state, [run_ended(1), run_started(state.revision, RunId("run-2"))])
        assert state.active_run is not None
        assert state.active_run.id == "run-2"

    def test_a_run_ends_with_nothing_unfinished(self) -> None:
        assert refused(calling("c1"), run_ended(1)) == "journal_invariant"
        open_attempt = advance(running(), [attempt("t1")])
        assert refused(open_attempt, run_ended(1)) == "history_invariant"

    def test_only_an_end_that_is_no_completion_says_why(self) -> None:
        bare = RunFact(RUN, RunStatus.FAILED, MODEL, 1)
        assert refused(running(), AppendRun(bare)) == "invalid_change"
        why = run_ended(1, RunStatus.FAILED).fact.termination
        assert why is not None
        assert refused(
            running(), AppendRun(replace(bare, status=RunStatus.COMPLETED, termination=why))
        )
        unsafe = replace(why, message="two\nlines")
        assert refused(running(), AppendRun(replace(bare, termination=unsafe))) == "invalid_change"

    def test_an_end_repeats_the_model_of_its_start(self) -> None:
        assert refused(running(), run_ended(2)) == "history_invariant"

    def test_only_the_active_run_ends(self) -> None:
        assert refused(idle(), run_ended(1)) == "no_active_run"


class TestAttempts:
    def test_usage_of_ended_attempts_adds_up(self) -> None:
        state = advance(
            running(),
            [attempt("t1")],
            [attempt("t1", AttemptStatus.FAILED, tokens=5), attempt("t2")],
            [attempt("t2", AttemptStatus.SUCCEEDED, tokens=6)],
        )
        assert state.active_run is not None
        assert (state.active_run.tokens, state.active_run.attempts) == (11, 2)
        assert state.active_run.open_attempts == ()

    def test_an_attempt_starts_once_and_ends_once(self) -> None:
        state = advance(running(), [attempt("t1")])
        assert refused(state, attempt("t1")) == "history_invariant"
        done = advance(state, [attempt("t1", AttemptStatus.SUCCEEDED)])
        assert refused(done, attempt("t1", AttemptStatus.SUCCEEDED)) == "history_invariant"
        assert refused(running(), attempt("t9", AttemptStatus.SUCCEEDED)) == "history_invariant"

    def test_an_attempt_may_start_and_end_in_one_commit(self) -> None:
        both = [attempt("t1"), attempt("t1", AttemptStatus.SUCCEEDED)]
        assert len(advance(running(), both).history) == 4
        assert refused(running(), *both, attempt("t1")) == "history_invariant"

    def test_a_failed_attempt_has_a_code_and_a_successful_one_none(self) -> None:
        state = advance(running(), [attempt("t1")])
        failed = attempt("t1", AttemptStatus.FAILED)
        succeeded = attempt("t1", AttemptStatus.SUCCEEDED)
        no_code = replace(failed, attempt=replace(failed.attempt, error_code=""))
        with_code = replace(succeeded, attempt=replace(succeeded.attempt, error_code="x"))
        assert refused(state, no_code) == "invalid_change"
        assert refused(state, with_code) == "invalid_change"

    def test_an_attempt_starts_without_an_outcome(self) -> None:
        started = attempt("t1")
        for said in (
            replace(started.attempt, provider_request_id="request-1"),
            replace(started.attempt, served_model="other"),
            replace(started.attempt, usage=TokenUsage(total=1)),
            replace(started.attempt, cost_usd=Decimal(0)),
            replace(started.attempt, error_code="x"),
        ):
            assert refused(running(), replace(started, attempt=said)) == "invalid_change"

    def test_only_an_attempt_that_did_not_succeed_was_cut_off(self) -> None:
        started, state = attempt("t1"), advance(running(), [attempt("t1")])
        succeeded = attempt("t1", AttemptStatus.SUCCEEDED)
        failed = attempt("t1", AttemptStatus.FAILED)
        for change, before in ((started, running()), (succeeded, state)):
            cut = replace(change, attempt=replace(change.attempt, partial_text="Once"))
            assert refused(before, cut) == "invalid_change"
        cut = replace(failed, attempt=replace(failed.attempt, partial_text="Once"))
        assert advance(state, [cut]).history[-1].payload == cut.attempt

    def test_an_attempt_is_at_the_model_of_its_run(self) -> None:
        start = attempt("t1")
        other = replace(start, attempt=replace(start.attempt, model="other"))
        assert refused(running(), other) == "history_invariant"


class TestMessages:
    def test_a_message_id_is_used_once(self) -> None:
        assert refused(running(), AppendMessage(user("u1"))) == "history_invariant"
        twice = [AppendMessage(user("x")), AppendMessage(user("x"))]
        assert refused(running(), *twice) == "history_invariant"

    def test_the_id_that_a_caller_gave_a_message_is_an_identity(self) -> None:
        message = replace(user("u"), client_message_id=ClientMessageId(" 7"))
        assert refused(running(), AppendMessage(message)) == "invalid_change"

    def test_a_user_message_of_a_running_session_names_run_and_step(self) -> None:
        assert refused(running(), AppendMessage(user("x", run=None))) == "active_run"
        no_step = replace(user("x"), step_id=None)
        assert refused(running(), AppendMessage(no_step)) == "invalid_change"
        assert advance(idle(), [AppendMessage(user("x", run=None))]).history[0].run_id is None

    def test_an_assistant_message_belongs_to_the_active_run(self) -> None:
        assert refused(idle(), AppendMessage(assistant("a1"))) == "no_active_run"

    def test_an_empty_assistant_message_owns_a_call_of_the_same_commit(self) -> None:
        empty = AppendMessage(assistant("a1", ""))
        assert refused(running(), empty) == "history_invariant"
        assert "c1" in advance(running(), [empty, AppendToolCall(call("c1"))]).journal

    def test_an_answer_of_thinking_alone_is_a_message(self) -> None:
        thought = replace(assistant("a1"), parts=(ReasoningPart("half a thought"),))
        assert advance(running(), [AppendMessage(thought)]).history.message(MessageId("a1"))

    def test_a_user_message_says_something(self) -> None:
        assert refused(running(), AppendMessage(replace(user("x"), parts=()))) == "invalid_change"

    def test_an_identity_is_trimmed_and_not_empty(self) -> None:
        assert refused(running(), AppendMessage(user(" x"))) == "invalid_change"


class TestToolCalls:
    def test_a_call_is_prepared_then_pending_then_gone_with_its_result(self) -> None:
        state = calling("c1")
        assert state.journal[call("c1").id].status is JournalStatus.PREPARED
        state = advance(state, [pending("c1")])
        assert state.journal[call("c1").id].status is JournalStatus.PENDING
        state = advance(state, [AppendToolResult(result("c1"))])
        assert not state.journal
        assert state.history.result(call("c1").id) == result("c1")

    def test_a_prepared_call_may_be_rejected_without_ever_being_pending(self) -> None:
        rejected = AppendToolResult(result("c1"))
        assert not advance(calling("c1"), [rejected]).journal

    def test_calls_and_results_pair_once(self) -> None:
        state = calling("c1")
        assert refused(state, AppendToolCall(call("c1"))) == "history_invariant"
        assert refused(state, AppendToolResult(result("c9"))) == "journal_invariant"
        done = advance(state, [AppendToolResult(result("c1"))])
        assert refused(done, AppendToolResult(result("c1"))) == "journal_invariant"
        assert refused(done, AppendToolCall(call("c1"))) == "history_invariant"

    def test_a_call_id_is_not_used_again_within_a_commit(self) -> None:
        one: list[Change] = [AppendToolCall(call("c2")), AppendToolResult(result("c2"))]
        assert refused(calling("c1"), *one, AppendToolCall(call("c2"))) == "history_invariant"

    def test_the_boundary_is_crossed_once(self) -> None:
        state = advance(calling("c1"), [pending("c1")])
        assert refused(state, pending("c1")) == "journal_invariant"

    def test_only_a_pending_call_can_have_an_unknown_outcome(self) -> None:
        unknown = AppendToolResult(result("c1", ToolStatus.OUTCOME_UNKNOWN))
        assert refused(calling("c1"), unknown) == "journal_invariant"

    def test_a_call_belongs_to_an_assistant_message_of_its_step(self) -> None:
        state = calling("c1")
        of_user = AppendToolCall(call("c2", "u1"))
        elsewhere = AppendToolCall(call("c2", step=StepId("step-9")))
        assert refused(state, of_user) == "history_invariant"
        assert refused(state, elsewhere) == "history_invariant"


class TestQueue:
    def test_items_wait_in_arrival_order_and_can_be_changed(self) -> None:
        state = advance(idle(), [queued("q1"), queued("q2", Delivery.STEER), queued("q3")])
        state = advance(
            state,
            [EditQueued(MessageId("q1"), (TextPart("new"),))],
            [ReclassifyQueued(MessageId("q2"), Delivery.HELD), DeleteQueued(MessageId("q3"))],
        )
        assert [(i.message.text, i.delivery) for i in state.queue] == [
            ("new", "normal"),
            ("hello", "held"),
        ]

    def test_what_is_not_queued_cannot_be_changed(self) -> None:
        for change in (
            EditQueued(MessageId("q"), (TextPart("x"),)),
            DeleteQueued(MessageId("q")),
            ReclassifyQueued(MessageId("q"), Delivery.HELD),
            ConsumeQueued(MessageId("q"), RUN),
        ):
            assert refused(running(), change) == "queue_item_not_found"

    def test_a_queued_id_is_new(self) -> None:
        state = advance(running(), [queued("q1")])
        assert refused(state, queued("q1")) == "queue_item_already_exists"
        assert refused(state, queued("u1")) == "queue_item_already_exists"
        assert refused(state, AppendMessage(user("q1"))) == "history_invariant"

    def test_an_item_is_consumed_by_the_active_run_and_appended_unaltered(self) -> None:
        state = advance(running(), [queued("q1")])
        consume = ConsumeQueued(MessageId("q1"), RUN)
        taken = advance(state, [consume, AppendMessage(user("q1"))])
        assert taken.queue == ()
        assert refused(state, consume) == "history_invariant"
        assert refused(state, consume, AppendMessage(user("q1", "other"))) == "history_invariant"
        named = replace(user("q1"), client_message_id=ClientMessageId("7"))
        assert refused(state, consume, AppendMessage(named)) == "history_invariant"
        waiting = advance(idle(), [queued("q1")])
        assert refused(waiting, consume, AppendMessage(user("q1"))) == "no_active_run"

    def test_a_session_starts_from_its_queue_in_one_commit(self) -> None:
        state = advance(idle(), [queued("q1")])
        state = advance(
            state,
            [run_started(2), ConsumeQueued(MessageId("q1"), RUN), AppendMessage(user("q1"))],
        )
        assert [fact.kind for fact in state.history] == ["run", "message"]


class TestContexts:
    def test_versions_grow_and_only_retained_views_are_kept(self) -> None:
        state = running()
        state = advance(state, [context(state)])
        first = state.context
        state = advance(state, [replace(context(state, 2), retain_previous=True)])
        assert list(state.retained_contexts) == [first]
        state = advance(state, [context(state, 3)])
        assert list(state.retained_contexts) == []

    def test_a_context_is_prepared_from_this_very_revision(self) -> None:
        state = running()
        stale = replace(context(state), context=replace(context(state).context, source_revision=1))
        assert refused(state, stale) == "history_invariant"
        assert refused(state, context(state, 2)) == "history_invariant"
        assert refused(idle(), context(idle())) == "no_active_run"

    def test_a_context_shows_only_facts_and_texts_that_are_there(self) -> None:
        state = running()
        view = context(state).context
        beyond = replace(view, inputs=(ContextRange(1, 99),))
        assert refused(state, SetContext(beyond)) == "history_invariant"
        digest = text_digest("be kind")
        named = replace(view, prompt=digest)
        assert refused(state, SetContext(named)) == "history_invariant"
        assert refused(state, SetContext(named, texts=((digest, "x"),))) == "invalid_change"
        kept = advance(state, [SetContext(named, texts=((digest, "be kind"),))])
        assert kept.texts == {digest: "be kind"}

    def test_a_source_contributes_once_to_a_step(self) -> None:
        note = AppendContextContribution(ContextContribution(RUN, STEP, "clock", ()))
        state = advance(running(), [note])
        assert refused(state, note) == "history_invariant"
        assert refused(running(), note, note) == "history_invariant"


class TestModelSwitch:
    def test_an_idle_session_switches_and_says_so(self) -> None:
        other = ModelConfig("anthropic", "claude")
        state = advance(idle(), [SetModelConfig(other)])
        assert state.model_config == other
        assert state.history[0].payload == ModelConfigChanged(MODEL, other)
        assert refused(running(), SetModelConfig(other)) == "active_run"
        twice = SetModelConfig(other), SetModelConfig(MODEL)
        assert refused(idle(), *twice) == "invalid_change"


class TestLimits:
    def test_a_budget_is_exceeded_once_with_the_durable_total(self) -> None:
        state = calling("c1")
        exceeded = AppendBudgetExceeded(RunBudgetExceeded(RUN, used=7, limit=5))
        state = advance(state, [exceeded])
        assert refused(state, exceeded) == "history_invariant"
        wrong = AppendBudgetExceeded(RunBudgetExceeded(RUN, used=6, limit=5))
        assert refused(calling("c1"), wrong) == "history_invariant"
        within = AppendBudgetExceeded(RunBudgetExceeded(RUN, used=7, limit=8))
        assert refused(calling("c1"), within) == "invalid_change"

    @pytest.mark.parametrize("exceeded", list(RunLimit))
    def test_a_limit_is_exceeded_by_what_was_asked_for(self, exceeded: RunLimit) -> None:
        fact = RunLimitExceeded(RUN, STEP, exceeded, used=1, limit=2, requested=2)
        state = advance(calling("c1"), [AppendLimitExceeded(fact)])
        assert state.history[-1].payload == fact
        fits = AppendLimitExceeded(replace(fact, requested=1))
        assert refused(calling("c1"), fits) == "invalid_change"
        miscounted = AppendLimitExceeded(replace(fact, used=2))
        assert refused(calling("c1"), miscounted) == "history_invariant"
