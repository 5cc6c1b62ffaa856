"""The rules of goals as pure functions: stores add durability and order, and differ in nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from agentslot.session import (
    ClassifiedError,
    ErrorKind,
    Goal,
    GoalId,
    GoalStatus,
    SessionId,
)
from agentslot.standardagent.goal.contract import DecisionRecord, GoalDecision
from agentslot.standardagent.goal.errors import GoalVersionConflict, goal_not_found

REMEMBERED_DECISIONS = 256

TRANSITIONS: Mapping[GoalStatus, frozenset[GoalStatus]] = {
    GoalStatus.ACTIVE: frozenset({GoalStatus.PAUSED, GoalStatus.COMPLETED, GoalStatus.CANCELED}),
    GoalStatus.PAUSED: frozenset({GoalStatus.ACTIVE, GoalStatus.CANCELED}),
    GoalStatus.COMPLETED: frozenset(),
    GoalStatus.CANCELED: frozenset(),
}
"""The statuses that somebody may give a goal in each status."""

STATUS_AFTER: Mapping[GoalDecision, GoalStatus] = {
    GoalDecision.CONTINUE: GoalStatus.ACTIVE,
    GoalDecision.BLOCKED: GoalStatus.PAUSED,
    GoalDecision.DONE: GoalStatus.COMPLETED,
}
"""The status that each decision gives an active goal."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision that was applied, and what it left of the goal beside what the record says."""

    record: DecisionRecord
    follow_ons: int
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class GoalLedger:
    """What a store keeps of a Session.

    Attributes:
        decisions: the newest decisions on this goal, oldest first; what they are asked again for.
    """

    goal: Goal
    decisions: tuple[Decided, ...] = ()


def set_goal(
    ledger: GoalLedger | None,
    expected_version: int,
    goal_id: GoalId,
    session_id: SessionId,
    objective: str,
    max_follow_ons: int,
    now: datetime,
) -> GoalLedger:
    """A new goal in the place of the one there is; see GoalStore.set."""
    current = 0 if ledger is None else ledger.goal.version
    if current != expected_version:
        raise GoalVersionConflict(expected_version, current)
    try:
        goal = Goal(
            goal_id,
            session_id,
            objective.strip(),
            max_follow_ons,
            _after(ledger, now),
            version=current + 1,
        )
    except ValueError as error:
        raise ClassifiedError(ErrorKind.INVALID_INPUT, "invalid_goal", str(error)) from error
    return GoalLedger(goal)


def change_status(
    ledger: GoalLedger | None,
    session_id: SessionId,
    expected_version: int,
    status: GoalStatus,
    now: datetime,
) -> GoalLedger:
    """The goal in another status; see GoalStore.change_status."""
    ledger = _existing(ledger, session_id)
    goal = ledger.goal
    if goal.version != expected_version:
        raise GoalVersionConflict(expected_version, goal.version)
    if status is goal.status:
        return ledger
    if status not in TRANSITIONS[goal.status]:
        raise ClassifiedError(
            ErrorKind.CONFLICT,
            "goal_transition",
            f"a goal that is {goal.status} cannot become {status}: set a new one",
        )
    changed = replace(
        goal,
        status=status,
        version=goal.version + 1,
        updated_at=_after(ledger, now),
        reason=None,
    )
    return replace(ledger, goal=changed)


def decide(ledger: GoalLedger | None, record: DecisionRecord) -> tuple[GoalLedger, Goal]:
    """Apply a decision, once; see GoalStore.record_decision.

    Returns:
        What is kept from now on, and the goal as the decision left it.
    """
    ledger = _existing(ledger, record.session_id)
    before = next((each for each in ledger.decisions if each.record.id == record.id), None)
    if before is not None:
        if before.record != record:
            raise ClassifiedError(
                ErrorKind.CONFLICT,
                "goal_record_conflict",
                f"{record.id!r} is another decision, which was recorded before",
            )
        return ledger, _outcome(ledger.goal, before)
    goal = ledger.goal
    if record.goal != goal.reference:
        raise GoalVersionConflict(record.goal.version, goal.version)
    follow_ons = _counted(goal, record)
    decided = Decided(record, follow_ons, _after(ledger, record.at))
    after = _outcome(goal, decided)
    return GoalLedger(after, (*ledger.decisions, decided)[-REMEMBERED_DECISIONS:]), after


def _counted(goal: Goal, record: DecisionRecord) -> int:
    """How many follow-ons the goal has after the decision."""
    if goal.status is not GoalStatus.ACTIVE:
        raise ClassifiedError(
            ErrorKind.CONFLICT, "goal_not_active", f"the goal is {goal.status}, nothing is decided"
        )
    if record.decision is not GoalDecision.CONTINUE:
        return goal.follow_ons
    if goal.follow_ons == goal.max_follow_ons:
        raise ClassifiedError(
            ErrorKind.CONFLICT,
            "follow_on_limit",
            f"the {goal.max_follow_ons} follow-ons of the goal are used up: set it anew to go on",
        )
    return goal.follow_ons + 1


def _outcome(goal: Goal, decided: Decided) -> Goal:
    record = decided.record
    return replace(
        goal,
        status=STATUS_AFTER[record.decision],
        version=record.goal.version + 1,
        follow_ons=decided.follow_ons,
        updated_at=decided.updated_at,
        reason=record.reason,
    )


def _after(ledger: GoalLedger | None, now: datetime) -> datetime:
    """The time, or that of the goal if the clock has stepped back behind it."""
    return now if ledger is None else max(now, ledger.goal.updated_at)


def _existing(ledger: GoalLedger | None, session_id: SessionId) -> GoalLedger:
    if ledger is None:
        raise goal_not_found(session_id)
    return ledger
