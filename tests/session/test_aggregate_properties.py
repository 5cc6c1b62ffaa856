"""Whatever is thrown at a Session, it stays whole: a state machine over the aggregate."""

from collections import Counter
from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,  # pyright: ignore[reportUnknownVariableType]  # untyped there
)

from agentslot.session import (
    AppendMessage,
    AppendToolCall,
    AppendToolResult,
    AttemptStatus,
    Change,
    ClassifiedError,
    ConsumeQueued,
    DeleteQueued,
    Delivery,
    MessageId,
    ReclassifyQueued,
    RunId,
    RunStatus,
    SessionState,
    apply,
    recover,
)
from tests.session.scenario import (
    RUN,
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

IDS = st.sampled_from(["1", "2", "3"])


class Sessions(RuleBasedStateMachine):
    """Sends every kind of change in any order, fitting or not, one or several a commit."""

    def __init__(self) -> None:
        super().__init__()
        self.state: SessionState = idle()
        self.commit: list[Change] = []
        self.start_revision = 0

    @rule(n=IDS)
    def say(self, n: str) -> None:
        run = self.state.active_run
        message = user(f"u{n}", run=run.id if run else None)
        self.commit.append(AppendMessage(message))

    @rule(n=IDS)
    def start(self, n: str) -> None:
        self.commit.append(run_started(self.state.revision, RunId(f"run-{n}")))

    @rule(status=st.sampled_from([s for s in RunStatus if s is not RunStatus.STARTED]))
    def end(self, status: RunStatus) -> None:
        run = self.state.active_run
        if run is None:
            self.commit.append(run_ended(self.state.revision, status))
        else:
            self.commit.append(run_ended(run.config_revision, status, run.id))

    @rule(n=IDS, status=st.sampled_from(AttemptStatus))
    def request(self, n: str, status: AttemptStatus) -> None:
        change = attempt(f"t{n}", status, tokens=0 if status == "started" else 3)
        self.commit.append(replace(change, attempt=replace(change.attempt, run_id=self.run_id())))

    @rule(n=IDS, calls=st.lists(IDS, max_size=3), text=st.sampled_from(["", "text"]))
    def answer(self, n: str, calls: list[str], text: str) -> None:
        message = replace(assistant(f"a{n}", text), run_id=self.run_id())
        self.commit.append(AppendMessage(message))
        self.commit += [
            AppendToolCall(replace(call(f"c{c}", f"a{n}"), run_id=self.run_id())) for c in calls
        ]

    @rule(n=IDS)
    def execute(self, n: str) -> None:
        self.commit.append(pending(f"c{n}"))

    @rule(n=IDS)
    def report(self, n: str) -> None:
        self.commit.append(AppendToolResult(result(f"c{n}")))

    @rule(n=IDS, delivery=st.sampled_from(Delivery))
    def wait(self, n: str, delivery: Delivery) -> None:
        self.commit.append(queued(f"q{n}", delivery))

    @rule(n=IDS)
    def take(self, n: str) -> None:
        self.commit.append(ConsumeQueued(MessageId(f"q{n}"), self.run_id()))
        self.commit.append(AppendMessage(user(f"q{n}", run=self.run_id())))

    @rule(n=IDS, delivery=st.sampled_from(Delivery))
    def reclassify(self, n: str, delivery: Delivery) -> None:
        self.commit.append(ReclassifyQueued(MessageId(f"q{n}"), delivery))

    @rule(n=IDS)
    def drop(self, n: str) -> None:
        self.commit.append(DeleteQueued(MessageId(f"q{n}")))

    @rule()
    def project(self) -> None:
        version = self.state.context.version + 1 if self.state.context else 1
        change = context(self.state, version)
        view = replace(change.context, run_id=self.run_id())
        self.commit.append(replace(change, context=view))

    @rule()
    def crash(self) -> None:
        self.commit = []
        changes = recover(self.state)
        if changes:
            self.state = apply(self.state, changes, now=at(self.state.revision))
        assert recover(self.state) == ()
        assert self.state.active_run is None or self.state.journal

    @rule()
    def send(self) -> None:
        before, facts = replace(self.state), list(self.state.history)
        try:
            after = apply(self.state, self.commit, now=at(self.state.revision))
        except ClassifiedError:
            assert (self.state, list(self.state.history)) == (before, facts)
        else:
            assert after.revision == self.state.revision + 1
            assert list(after.history)[: len(facts)] == facts
            self.state = after
        self.commit = []

    def run_id(self) -> RunId:
        return self.state.active_run.id if self.state.active_run else RUN

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
    def runs_and_attempts_end_at_most_once(self) -> None:
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
        Sessions,
        settings=settings(max_examples=150, stateful_step_count=40, deadline=None),
    )
