"""Setting goals and changing their status: one goal a Session, compare and swap, no way back."""

import anyio

from agentslot._conformance import ConformanceFailure, expect
from agentslot.session import Goal, GoalStatus
from agentslot.session.conformance.check import expect_refusal
from agentslot.standardagent.goal.conformance.check import (
    OTHER_SESSION,
    SESSION,
    Check,
    OpenGoals,
    expect_conflict,
    new_goal,
)
from agentslot.standardagent.goal.contract import GoalStore
from agentslot.standardagent.goal.errors import GoalVersionConflict
from agentslot.standardagent.goal.rules import TRANSITIONS


async def a_session_without_a_goal_has_none(open_goals: OpenGoals) -> None:
    """Nothing is there, and nothing can be changed."""
    check = "a_session_without_a_goal_has_none"
    async with open_goals() as store:
        expect(check, await store.current(SESSION) is None, "it has one")
        change = store.change_status(SESSION, GoalStatus.PAUSED, expected_version=0)
        await expect_refusal(check, "goal_not_found", change)


async def a_new_goal_is_active_at_the_next_version(open_goals: OpenGoals) -> None:
    """The first one is at version 1; one in its place is another goal, and counts on."""
    check = "a_new_goal_is_active_at_the_next_version"
    async with open_goals() as store:
        first = await store.set(SESSION, "  the objective\n", expected_version=0, max_follow_ons=3)
        said = (first.objective, first.status, first.version, first.follow_ons, first.reason)
        expect(check, said == ("the objective", GoalStatus.ACTIVE, 1, 0, None), f"it is {first}")
        expect(check, await store.current(SESSION) == first, "the current goal is another")
        second = await store.set(SESSION, "another", expected_version=1, max_follow_ons=1)
        expect(check, second.id != first.id, "the second goal has the identity of the first")
        expect(check, (second.version, second.follow_ons) == (2, 0), f"the second is {second}")
        expect(check, await store.current(SESSION) == second, "the current goal is not the second")
        expect(check, await store.current(OTHER_SESSION) is None, "another Session has it, too")


async def an_impossible_goal_is_refused(open_goals: OpenGoals) -> None:
    """Without an objective, or without a follow-on, there is nothing to do."""
    check = "an_impossible_goal_is_refused"
    async with open_goals() as store:
        for objective, follow_ons in (("", 1), (" \n", 1), ("x", 0), ("x", -1)):
            attempt = store.set(SESSION, objective, expected_version=0, max_follow_ons=follow_ons)
            await expect_refusal(check, "invalid_goal", attempt)
        expect(check, await store.current(SESSION) is None, "one of them was set")


async def a_change_of_another_version_is_a_conflict(open_goals: OpenGoals) -> None:
    """Whoever decided on another version is told the current one; nothing is written."""
    check = "a_change_of_another_version_is_a_conflict"
    async with open_goals() as store:
        early = store.set(SESSION, "x", expected_version=1, max_follow_ons=1)
        await expect_conflict(check, 0, early)
        goal = await new_goal(store)
        for version in (0, 2):
            other = store.set(SESSION, "x", expected_version=version, max_follow_ons=1)
            await expect_conflict(check, 1, other)
            change = store.change_status(SESSION, GoalStatus.ACTIVE, expected_version=version)
            await expect_conflict(check, 1, change)
        expect(check, await store.current(SESSION) == goal, "the goal has changed")


async def of_two_changes_at_once_one_wins(open_goals: OpenGoals) -> None:
    """Both were decided on the same version: one is applied, the other a conflict."""
    check = "of_two_changes_at_once_one_wins"
    async with open_goals() as store:
        await new_goal(store)
        set_: list[Goal] = []
        conflicts: list[GoalVersionConflict] = []

        async def change(objective: str) -> None:
            try:
                set_.append(
                    await store.set(SESSION, objective, expected_version=1, max_follow_ons=1)
                )
            except GoalVersionConflict as conflict:
                conflicts.append(conflict)

        async with anyio.create_task_group() as tasks:
            for objective in ("one", "two"):
                tasks.start_soon(change, objective)
        expect(check, len(set_) == len(conflicts) == 1, f"{len(set_)} were applied")
        expect(check, await store.current(SESSION) == set_[0], "the loser stands in the store")


async def a_status_changes_where_it_may(open_goals: OpenGoals) -> None:
    """Every pair of statuses; the same one again changes nothing."""
    check = "a_status_changes_where_it_may"
    async with open_goals() as store:
        for before in GoalStatus:
            for after in GoalStatus:
                goal = await _goal_that_is(store, before)
                change = store.change_status(SESSION, after, expected_version=goal.version)
                if after is not before and after not in TRANSITIONS[before]:
                    await expect_refusal(check, "goal_transition", change)
                    expect(check, await store.current(SESSION) == goal, "refused, it has changed")
                    continue
                changed = await change
                expect(check, changed.status is after, f"{before} became {changed.status}")
                grown = changed.version - goal.version
                expect(check, grown == (after is not before), f"the version grew by {grown}")
                kept = (changed.id, changed.follow_ons) == (goal.id, goal.follow_ons)
                expect(check, kept, "more than the status has changed")
                expect(check, changed.updated_at >= goal.updated_at, "time went back")
                expect(check, await store.current(SESSION) == changed, "the store has another goal")


async def _goal_that_is(store: GoalStore, status: GoalStatus) -> Goal:
    current = await store.current(SESSION)
    version = 0 if current is None else current.version
    goal = await store.set(SESSION, "x", expected_version=version, max_follow_ons=1)
    if status is GoalStatus.ACTIVE:
        return goal
    return await store.change_status(SESSION, status, expected_version=goal.version)


async def sessions_are_apart(open_goals: OpenGoals) -> None:
    """Each has its own goal and its own versions."""
    check = "sessions_are_apart"
    async with open_goals() as store:
        goal = await new_goal(store)
        other = await store.set(OTHER_SESSION, "other", expected_version=0, max_follow_ons=1)
        await store.change_status(OTHER_SESSION, GoalStatus.CANCELED, expected_version=1)
        expect(check, other.id != goal.id, "two goals have one identity")
        if await store.current(SESSION) != goal:
            raise ConformanceFailure(check, "what was done to one goal was done to the other")


async def goals_survive_a_restart(open_goals: OpenGoals) -> None:
    """Opened again, the store has what it had, and goes on counting."""
    check = "goals_survive_a_restart"
    async with open_goals() as store:
        await new_goal(store)
        paused = await store.change_status(SESSION, GoalStatus.PAUSED, expected_version=1)
    async with open_goals() as store:
        expect(check, await store.current(SESSION) == paused, "the goal is gone, or another")
        again = await store.change_status(SESSION, GoalStatus.ACTIVE, expected_version=2)
        expect(check, again.version == 3, f"it goes on at version {again.version}")


CHECKS: tuple[Check, ...] = (
    a_session_without_a_goal_has_none,
    a_new_goal_is_active_at_the_next_version,
    an_impossible_goal_is_refused,
    a_change_of_another_version_is_a_conflict,
    of_two_changes_at_once_one_wins,
    a_status_changes_where_it_may,
    sessions_are_apart,
)
DURABILITY_CHECKS: tuple[Check, ...] = (goals_survive_a_restart,)
