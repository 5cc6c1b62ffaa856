"""The Gateway's operations on goals: a caller who names no version means the current one."""

from agentslot.interaction import ChangeGoal, SetGoal
from agentslot.session import ClassifiedError, ErrorKind, Goal, SessionId
from agentslot.standardagent.goal import GoalStore


async def set_goal(store: GoalStore, request: SetGoal) -> Goal:
    """Set a goal; see GatewayAccess."""
    return await store.set(
        request.session_id,
        request.objective,
        expected_version=await _expected(store, request.session_id, request.expected_version),
        max_follow_ons=request.max_follow_ons,
    )


async def change_goal(store: GoalStore, request: ChangeGoal) -> Goal:
    """Change the status of a goal; see GatewayAccess."""
    return await store.change_status(
        request.session_id,
        request.status,
        expected_version=await _expected(store, request.session_id, request.expected_version),
    )


async def _expected(store: GoalStore, session_id: SessionId, version: int | None) -> int:
    if version is not None:
        return version
    current = await store.current(session_id)
    return 0 if current is None else current.version


def goals_not_installed() -> ClassifiedError:
    """The application has no goals."""
    return ClassifiedError(
        ErrorKind.UNAVAILABLE,
        "goals_not_installed",
        "this application keeps no goals: add FileGoalsModule(directory) and"
        " ModelGoalEvaluatorModule() to it",
    )
