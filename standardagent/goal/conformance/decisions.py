"""Recording decisions: once each, on the version that was judged, on active goals alone."""

from dataclasses import replace

from agentslot._conformance import expect
from agentslot.session import GoalReason, GoalStatus
from agentslot.session.conformance.check import expect_refusal
from agentslot.standardagent.goal.conformance.check import (
    OTHER_SESSION,
    SESSION,
    Check,
    OpenGoals,
    expect_conflict,
    new_goal,
    on_another_version,
    record,
)
from agentslot.standardagent.goal.contract import GoalDecision
from agentslot.standardagent.goal.rules import STATUS_AFTER


async def a_decision_has_its_effect(open_goals: OpenGoals) -> None:
    """`continue` counts a follow-on, `blocked` pauses, `done` completes."""
    check = "a_decision_has_its_effect"
    async with open_goals() as store:
        for decision in GoalDecision:
            current = await store.current(SESSION)
            version = 0 if current is None else current.version
            goal = await store.set(SESSION, "x", expected_version=version, max_follow_ons=2)
            decided = record(goal, decision)
            after = await store.record_decision(decided)
            expect(check, after.status is STATUS_AFTER[decision], f"it is {after.status}")
            counted = after.follow_ons == (decision is GoalDecision.CONTINUE)
            expect(check, counted, f"{decision} makes {after.follow_ons} follow-ons")
            expect(check, after.version == goal.version + 1, f"it is at version {after.version}")
            expect(check, after.reason is decided.reason, f"the reason is {after.reason}")
            expect(check, after.updated_at == decided.at, f"its time is {after.updated_at}")
            expect(check, await store.current(SESSION) == after, "the store has another goal")


async def the_same_decision_is_applied_once(open_goals: OpenGoals) -> None:
    """Recorded again it gives the same goal, however far the goal has gone on."""
    check = "the_same_decision_is_applied_once"
    async with open_goals() as store:
        first = record(await new_goal(store), GoalDecision.CONTINUE)
        one = await store.record_decision(first)
        expect(check, await store.record_decision(first) == one, "at once it gives another goal")
        two = await store.record_decision(record(one, GoalDecision.DONE))
        expect(check, await store.record_decision(first) == one, "later it gives another goal")
        expect(check, await store.current(SESSION) == two, "recorded again, it had an effect")


async def a_name_stands_for_one_decision(open_goals: OpenGoals) -> None:
    """Another decision under the same name is refused."""
    check = "a_name_stands_for_one_decision"
    async with open_goals() as store:
        decided = record(await new_goal(store), GoalDecision.BLOCKED)
        after = await store.record_decision(decided)
        other = replace(decided, reason=GoalReason.EXTERNAL_BLOCKER)
        await expect_refusal(check, "goal_record_conflict", store.record_decision(other))
        expect(check, await store.current(SESSION) == after, "the goal has changed")


async def a_decision_on_another_goal_is_a_conflict(open_goals: OpenGoals) -> None:
    """Another version, or another goal that is at the same version by now."""
    check = "a_decision_on_another_goal_is_a_conflict"
    async with open_goals() as store:
        old = await new_goal(store)
        goal = await store.set(SESSION, "new", expected_version=1, max_follow_ons=1)
        decided = record(goal, GoalDecision.DONE)
        stale = on_another_version(decided, 1)
        ahead = on_another_version(decided, 3)
        elsewhere = replace(decided, goal=replace(decided.goal, id=old.id))
        for wrong in (stale, ahead, elsewhere):
            await expect_conflict(check, 2, store.record_decision(wrong))
        expect(check, await store.current(SESSION) == goal, "the goal has changed")


async def only_an_active_goal_is_decided_on(open_goals: OpenGoals) -> None:
    """Not one that is paused or over, and none that there is not."""
    check = "only_an_active_goal_is_decided_on"
    async with open_goals() as store:
        goal = await new_goal(store)
        paused = await store.change_status(SESSION, GoalStatus.PAUSED, expected_version=1)
        attempt = store.record_decision(record(paused, GoalDecision.DONE))
        await expect_refusal(check, "goal_not_active", attempt)
        lost = replace(record(goal, GoalDecision.DONE), session_id=OTHER_SESSION)
        await expect_refusal(check, "goal_not_found", store.record_decision(lost))
        expect(check, await store.current(SESSION) == paused, "the goal has changed")


async def follow_ons_are_limited(open_goals: OpenGoals) -> None:
    """When they are used up, `continue` is refused, and the goal can still be blocked."""
    check = "follow_ons_are_limited"
    async with open_goals() as store:
        goal = await new_goal(store, max_follow_ons=2)
        for _ in range(2):
            goal = await store.record_decision(record(goal, GoalDecision.CONTINUE))
        attempt = store.record_decision(record(goal, GoalDecision.CONTINUE))
        await expect_refusal(check, "follow_on_limit", attempt)
        blocked = await store.record_decision(record(goal, GoalDecision.BLOCKED))
        expect(check, blocked.status is GoalStatus.PAUSED, f"it is {blocked.status}")
        expect(check, blocked.follow_ons == 2, f"it has {blocked.follow_ons} follow-ons")


async def time_never_goes_back(open_goals: OpenGoals) -> None:
    """A decision with an earlier time is applied, and the goal keeps the later one."""
    check = "time_never_goes_back"
    async with open_goals() as store:
        goal = await new_goal(store)
        later = await store.record_decision(record(goal, GoalDecision.CONTINUE))
        early = replace(record(later, GoalDecision.DONE), at=goal.updated_at)
        done = await store.record_decision(early)
        expect(check, done.updated_at == later.updated_at, f"its time is {done.updated_at}")
        expect(check, await store.record_decision(early) == done, "again it gives another goal")


async def decisions_survive_a_restart(open_goals: OpenGoals) -> None:
    """One from before a restart is known, and has no second effect."""
    check = "decisions_survive_a_restart"
    async with open_goals() as store:
        decided = record(await new_goal(store), GoalDecision.CONTINUE)
        after = await store.record_decision(decided)
    async with open_goals() as store:
        expect(check, await store.record_decision(decided) == after, "it gives another goal")
        expect(check, await store.current(SESSION) == after, "it was applied twice")


CHECKS: tuple[Check, ...] = (
    a_decision_has_its_effect,
    the_same_decision_is_applied_once,
    a_name_stands_for_one_decision,
    a_decision_on_another_goal_is_a_conflict,
    only_an_active_goal_is_decided_on,
    follow_ons_are_limited,
    time_never_goes_back,
)
DURABILITY_CHECKS: tuple[Check, ...] = (decisions_survive_a_restart,)
