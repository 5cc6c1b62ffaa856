"""What a check is, and the goals and decisions that checks are made with."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime

from agentslot._conformance import ConformanceFailure, expect
from agentslot.session import Goal, GoalReason, RunId, SessionId, StepId
from agentslot.session.conformance.check import expect_refusal
from agentslot.standardagent.goal.contract import DecisionRecord, GoalDecision, GoalStore
from agentslot.standardagent.goal.errors import GoalVersionConflict

OpenGoals = Callable[[], AbstractAsyncContextManager[GoalStore]]
Check = Callable[[OpenGoals], Awaitable[None]]

SESSION = SessionId("the session / of ünusual name")
OTHER_SESSION = SessionId("another")
FAR_FUTURE = datetime(2999, 12, 31, tzinfo=UTC)

_REASONS = {
    GoalDecision.CONTINUE: GoalReason.PROGRESS_POSSIBLE,
    GoalDecision.DONE: GoalReason.OBJECTIVE_MET,
    GoalDecision.BLOCKED: GoalReason.NEEDS_INPUT,
}


async def new_goal(store: GoalStore, *, max_follow_ons: int = 3) -> Goal:
    """The first goal of the Session."""
    return await store.set(
        SESSION, "the objective", expected_version=0, max_follow_ons=max_follow_ons
    )


def record(goal: Goal, decision: GoalDecision, name: str = "decision") -> DecisionRecord:
    """A decision on a goal as it stands."""
    return DecisionRecord(
        f"{name}-{goal.version}",
        goal.session_id,
        goal.reference,
        RunId("run"),
        StepId("step"),
        decision,
        _REASONS[decision],
        FAR_FUTURE,
    )


def on_another_version(decided: DecisionRecord, version: int) -> DecisionRecord:
    """The same decision, made on another version under another name."""
    return replace(
        decided, id=f"{decided.id}-on-{version}", goal=replace(decided.goal, version=version)
    )


async def expect_conflict(check: str, current: int, attempt: Awaitable[object]) -> None:
    """A conflict of versions, which must come, and say the current one."""
    error = await expect_refusal(check, "goal_version_conflict", attempt)
    if not isinstance(error, GoalVersionConflict):
        raise ConformanceFailure(check, f"the conflict is a {type(error).__name__}")
    told = error.current_version
    expect(check, told == current, f"it names version {told}, the goal is at {current}")
