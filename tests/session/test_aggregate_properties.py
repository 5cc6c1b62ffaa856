"""Whatever is thrown at a Session, it stays whole: a state machine over the aggregate."""

from collections import Counter
from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,  # pyright: ignore[reportUnknownVariableType]  # untyped there
)

from agentslot.session import (
    AppendMessage,
    AppendToolCall,
    AppendToolResult,
    AttemptId,
    AttemptStatus,
    Change,
    ClassifiedError,
    ConsumeQueued,
    DeleteQueued,
    Delivery,
    JournalStatus,
    MarkToolPending,
    MessageId,
    ReclassifyQueued,
    RunId,
    RunStatus,
    SessionState,
    ToolCallId,
    apply,
    recover,
)
from tests.session.scenario import (
    RUN,
    STEP,
    assistant,
    at,
    attempt,
    call,
    context,
    idle,
    pending,
    queued,
    result,
    run_ended,
    run_started,
    user,
)

ENDS = st.sampled_from([status for status in RunStatus if status is not RunStatus.STARTED])
OUTCOMES = st.sampled_from([s for s in AttemptStatus if s is not AttemptStatus.STARTED])


def is_running(machine: "Sessions") -> bool:
    return machine.state.active_run is not None


def is_idle(machine: "Sessions") -> bool:
    return machine.state.active_run is None


def is_calling(machine: "Sessions") -> bool:
    return bool(machine.state.journal)


def has_queued(machine: "Sessions") -> bool:
    return bool(machine.state.queue)


def is_settled(machine: "Sessions") -> bool:
    run = machine.state.active_run
    return run is not None and not machine.state.journal and not run.open_attempts


class Sessions(RuleBasedStateMachine):
    """Mostly does what fits, with new identities, and now and then throws in what may not fit."""

    def __init__(self) -> None:
        super().__init__()
        self.state: SessionState = idle()
        self.number = 0

    def new(self, prefix: str) -> str:
        self.number += 1
        return f"{prefix}-{self.number}"

    @property
    def run(self) -> RunId:
        return self.state.active_run.id if self.state.active_run else RUN

    def commit(self, *changes: Change) -> None:
        before, facts = self.state, list(self.state.history)
        self.state = apply(before, changes, now=at(before.revision))
        assert self.state.revision == before.revision + 1
        assert list(self.state.history)[: len(facts)] == facts
        assert list(before.history) == facts

    @rule()
    def speak(self) -> None:
        run = self.run if self.state.active_run else None
        self.commit(AppendMessage(user(self.new("u"), run=run)))

    @precondition(is_idle)
    @rule(take=st.booleans())
    def start(self, *, take: bool) -> None:
        run = RunId(self.new("next-run"))  # no name that is thrown in
        changes: list[Change] = [run_started(self.state.revision, run)]
        if take and self.state.queue:
            message = self.state.queue[0].message
            changes.append(ConsumeQueued(message.id, run))
            changes.append(AppendMessage(replace(message, run_id=run, step_id=STEP)))
        self.commit(*changes)

    @precondition(is_running)
    @rule(outcome=OUTCOMES)
    def request(self, outcome: AttemptStatus) -> None:
        run = self.state.active_run
        assert run is not None
        change = attempt(self.new("t"))
        if run.open_attempts:
            change = attempt(run.open_attempts[0], outcome, tokens=3)
        self.commit(replace(change, attempt=replace(change.attempt, run_id=run.id)))
        assert self.state.active_run is not None
        ended = change.attempt.status is not AttemptStatus.STARTED
        assert self.state.active_run.tokens == run.tokens + (3 if ended else 0)

    @precondition(is_running)
    @rule(calls=st.integers(0, 3), text=st.booleans())
    def answer(self, calls: int, *, text: bool) -> None:
        message_id = self.new("a")
        spoken = "text" if text or not calls else ""
        message = replace(assistant(message_id, spoken), run_id=self.run)
        made = [replace(call(self.new("c"), message_id), run_id=self.run) for _ in range(calls)]
        self.commit(AppendMessage(message), *map(AppendToolCall, made))

    @precondition(is_calling)
    @rule(n=st.integers(0, 10), report=st.booleans())
    def go_on_with_a_call(self, n: int, *, report: bool) -> None:
        entries = list(self.state.journal.values())
        entry = entries[n % len(entries)]
        if report or entry.status is JournalStatus.PENDING:
            self.commit(AppendToolResult(result(entry.call.id)))
        else:
            self.commit(pending(entry.call.id))

    @precondition(is_settled)
    @rule(status=ENDS)
    def end(self, status: RunStatus) -> None:
        run = self.state.active_run
        assert run is not None
        self.commit(run_ended(run.config_revision, status, run.id))

    @rule(delivery=st.sampled_from(Delivery))
    def wait(self, delivery: Delivery) -> None:
        self.commit(queued(self.new("q"), delivery))

    @precondition(has_queued)
    @rule(n=st.integers(0, 10), delivery=st.none() | st.sampled_from(Delivery))
    def change_the_queue(self, n: int, delivery: Delivery | None) -> None:
        message_id = self.state.queue[n % len(self.state.queue)].message.id
        if delivery is None:
            self.commit(DeleteQueued(message_id))
        else:
            self.commit(ReclassifyQueued(message_id, delivery))

    @precondition(is_running)
    @rule(retain=st.booleans())
    def project(self, *, retain: bool) -> None:
        version = self.state.context.version + 1 if self.state.context else 1
        change = replace(context(self.state, version), retain_previous=retain)
        self.commit(replace(change, context=replace(change.context, run_id=self.run)))

    @rule()
    def crash(self) -> None:
        changes = recover(self.state)
        if changes:
            self.commit(*changes)
        assert recover(self.state) == ()
        run = self.state.active_run
        assert run is None or (self.state.journal and not run.open_attempts)

    @rule(data=st.data(), n=st.integers(1, 3))
    def throw_in_anything(self, data: st.DataObject, n: int) -> None:
        changes = [data.draw(self.anything()) for _ in range(n)]
        before, facts = replace(self.state), list(self.state.history)
        try:
            self.commit(*changes)
        except ClassifiedError:
            assert (self.state, list(self.state.history)) == (before, facts)

    def anything(self) -> st.SearchStrategy[Change]:
        """Any change, about what is there, what was there, or what never was."""
        payloads = [fact.payload for fact in self.state.history]
        messages = [p.id for p in payloads if p.kind == "message"]
        calls = [p.id for p in payloads if p.kind == "tool_call"]
        attempts = [p.attempt_id for p in payloads if p.kind == "model_attempt"]
        waiting = [item.message.id for item in self.state.queue]
        a_message = st.sampled_from([*messages, MessageId("never")])
        a_waiting = st.sampled_from([*waiting, *messages, MessageId("never")])
        a_call = st.sampled_from([*calls, ToolCallId("never")])
        an_attempt = st.sampled_from([*attempts, AttemptId("never")])
        a_revision = st.sampled_from([1, self.state.revision])
        changes: list[st.SearchStrategy[Change]] = [
            st.builds(AppendMessage, a_message.map(user) | a_message.map(assistant)),
            st.builds(AppendToolCall, st.builds(call, a_call, a_message)),
            st.builds(MarkToolPending, a_call),
            st.builds(AppendToolResult, a_call.map(result)),
            st.builds(run_started, a_revision, st.just(self.run)),
            st.builds(run_ended, a_revision, ENDS, st.just(self.run)),
            st.builds(attempt, an_attempt, OUTCOMES),
            st.builds(queued, a_waiting),
            st.builds(DeleteQueued, a_waiting),
            st.builds(ConsumeQueued, a_waiting, st.just(self.run)),
            st.builds(context, st.just(self.state), st.integers(0, 3)),
        ]
        return st.one_of(changes)

    @invariant()
    def sequences_are_contiguous(self) -> None:
        sequences = [fact.sequence for fact in self.state.history]
        assert sequences == list(range(1, len(sequences) + 1))

    @invariant()
    def an_idle_session_has_nothing_unfinished(self) -> None:
        assert self.state.active_run is not None or not self.state.journal

    @invariant()
    def the_journal_is_exactly_what_has_no_result(self) -> None:
        calls = [f.payload.id for f in self.state.history if f.payload.kind == "tool_call"]
        results = [f.payload.call_id for f in self.state.history if f.payload.kind == "tool_result"]
        assert len(set(calls)) == len(calls)
        assert len(set(results)) == len(results)
        assert list(self.state.journal) == [c for c in calls if c not in results]

    @invariant()
    def runs_and_attempts_start_once_and_end_at_most_once(self) -> None:
        runs = Counter(
            (f.payload.run_id, f.payload.status is RunStatus.STARTED)
            for f in self.state.history
            if f.payload.kind == "run"
        )
        attempts = Counter(
            (f.payload.attempt_id, f.payload.status is AttemptStatus.STARTED)
            for f in self.state.history
            if f.payload.kind == "model_attempt"
        )
        assert max([*runs.values(), *attempts.values()], default=1) == 1

    @invariant()
    def what_is_queued_is_not_in_history(self) -> None:
        for item in self.state.queue:
            assert self.state.history.message(item.message.id) is None


def test_no_order_of_changes_breaks_a_session() -> None:
    run_state_machine_as_test(
        Sessions, settings=settings(max_examples=40, stateful_step_count=40, deadline=None)
    )
