"""Whatever is asked of a goal, its rules hold: a state machine over the pure functions."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,  # pyright: ignore[reportUnknownVariableType]  # untyped there
)

from agentslot.session import ClassifiedError, Goal, GoalId, GoalStatus, SessionId
from agentslot.standardagent.goal import DecisionRecord, GoalDecision
from agentslot.standardagent.goal.conformance.check import record
from agentslot.standardagent.goal.rules import (
    STATUS_AFTER,
    TRANSITIONS,
    GoalLedger,
    change_status,
    decide,
    set_goal,
)

T = TypeVar("T")

SESSION = SessionId("s")
VERSIONS = st.integers(-1, 1)
"""How far a caller is off the current version."""


def attempted(change: Callable[[], T]) -> tuple[T | None, str]:
    """What a change makes, or the code with which it is refused."""
    try:
        return change(), ""
    except ClassifiedError as error:
        return None, error.code


class Goals(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.ledger: GoalLedger | None = None
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.count = 0
        self.recorded: dict[str, tuple[DecisionRecord, Goal]] = {}
        self.seen: list[Goal] = []

    @property
    def goal(self) -> Goal | None:
        return None if self.ledger is None else self.ledger.goal

    @property
    def version(self) -> int:
        return 0 if self.goal is None else self.goal.version

    @rule(hours=st.integers(-3, 3))
    def time_passes(self, hours: int) -> None:
        self.now += timedelta(hours=hours)

    @rule(off=VERSIONS, follow_ons=st.integers(1, 3))
    def somebody_sets_a_goal(self, off: int, follow_ons: int) -> None:
        self.count += 1
        goal_id, version = GoalId(f"g{self.count}"), self.version
        after, refusal = attempted(
            lambda: set_goal(
                self.ledger, version + off, goal_id, SESSION, "x", follow_ons, self.now
            )
        )
        assert refusal == ("goal_version_conflict" if off else "")
        if after is not None:
            assert after.goal.version == version + 1
            self.ledger = after
            self.recorded.clear()

    @rule(off=VERSIONS, status=st.sampled_from(GoalStatus))
    def somebody_changes_its_status(self, off: int, status: GoalStatus) -> None:
        before, version = self.goal, self.version
        after, refusal = attempted(
            lambda: change_status(self.ledger, SESSION, version + off, status, self.now)
        )
        if before is None:
            assert refusal == "goal_not_found"
        elif off:
            assert refusal == "goal_version_conflict"
        elif after is None:
            assert refusal == "goal_transition"
            assert status is not before.status
            assert status not in TRANSITIONS[before.status]
        else:
            assert after.goal.status is status
            assert after.goal.version == version + (status is not before.status)
            assert after.goal.follow_ons == before.follow_ons
            self.ledger = after

    @rule(off=VERSIONS, decision=st.sampled_from(GoalDecision))
    def a_run_decides(self, off: int, decision: GoalDecision) -> None:
        before = self.goal
        if before is None:
            return
        self.count += 1
        made = record(before, decision, f"d{self.count}")
        made = replace(made, goal=replace(made.goal, version=before.version + off), at=self.now)
        decided, refusal = attempted(lambda: decide(self.ledger, made))
        counts = decision is GoalDecision.CONTINUE
        if off:
            assert refusal == "goal_version_conflict"
        elif before.status is not GoalStatus.ACTIVE:
            assert refusal == "goal_not_active"
        elif counts and before.follow_ons == before.max_follow_ons:
            assert refusal == "follow_on_limit"
        else:
            assert decided is not None
            self.ledger, after = decided
            assert after == self.goal
            assert after.status is STATUS_AFTER[decision]
            assert after.follow_ons == before.follow_ons + counts
            self.recorded[made.id] = made, after

    @rule(data=st.data())
    def a_decision_comes_again(self, data: st.DataObject) -> None:
        if not self.recorded:
            return
        made, outcome = data.draw(st.sampled_from(list(self.recorded.values())))
        before = self.ledger
        self.ledger, again = decide(before, made)
        assert again == outcome
        assert self.ledger is before

    @invariant()
    def versions_grow_by_one_and_time_never_goes_back(self) -> None:
        goal = self.goal
        if goal is None:
            return
        if self.seen:
            last = self.seen[-1]
            assert (
                goal == last if goal.version == last.version else goal.version == last.version + 1
            )
            assert goal.updated_at >= last.updated_at
        self.seen.append(goal)


def test_a_goal_keeps_its_rules_whatever_is_asked_of_it() -> None:
    run_state_machine_as_test(Goals, settings=settings(max_examples=150, stateful_step_count=30))
