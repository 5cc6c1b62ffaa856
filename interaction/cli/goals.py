"""The goal of a Session in a conversation: set, shown, paused, and what became of it."""

from agentslot.interaction.cli.screen import Screen, Style
from agentslot.interaction.handle import ChannelSession
from agentslot.session import ClassifiedError, Goal, GoalStatus, safe_line

GOAL_HELP = """\
/goal        show what this session is to achieve
/goal TEXT   work until that is achieved
/goal pause, /goal resume, /goal cancel"""

_STYLES: dict[GoalStatus, Style] = {
    GoalStatus.ACTIVE: "dim",
    GoalStatus.PAUSED: "yellow",
    GoalStatus.COMPLETED: "green",
    GoalStatus.CANCELED: "dim",
}


class GoalTalk:
    """What `/goal` does, and a note when a Run has changed the goal."""

    def __init__(self, session: ChannelSession, screen: Screen) -> None:
        self._session = session
        self._screen = screen
        self._known: Goal | None = None

    async def is_offered(self) -> bool:
        """Whether the application has goals."""
        try:
            await self._session.goal()
        except ClassifiedError as error:
            if error.code != "goals_not_installed":
                raise
            return False
        return True

    async def command(self, argument: str) -> str | None:
        """Do what `/goal ARGUMENT` asks for; what to send if no Run goes on that it applies to."""
        match argument:
            case "":
                self._show(await self._session.goal())
            case "pause":
                self._show(await self._session.pause_goal())
            case "resume":
                self._show(await self._session.resume_goal())
            case "cancel":
                self._show(await self._session.cancel_goal())
            case objective:
                self._show(await self._session.set_goal(objective))
                return objective
        return None

    async def settle(self) -> None:
        """A Run has ended: say so if it has changed the goal."""
        if self._known is not None and self._known.status is GoalStatus.ACTIVE:
            goal = await self._session.goal()
            if goal is not None and goal.status is not GoalStatus.ACTIVE:
                self._show(goal)

    async def notice(self) -> None:
        """Remember the goal of a Session that is resumed, and show it if it is active."""
        if await self.is_offered():
            goal = await self._session.goal()
            if goal is not None and goal.status is GoalStatus.ACTIVE:
                self._show(goal)

    def _show(self, goal: Goal | None) -> None:
        self._known = goal
        if goal is None:
            self._screen.note("no goal is set; /goal TEXT sets one")
            return
        why = "" if goal.reason is None else f" ({goal.reason.value.replace('_', ' ')})"
        objective = safe_line(goal.objective, 200)
        count = f"{goal.follow_ons} of {goal.max_follow_ons} follow-ons"
        text = f"goal {goal.status}{why}, {count}: {objective}"
        self._screen.note(text, _STYLES[goal.status])
        if goal.status is GoalStatus.PAUSED and goal.follow_ons == goal.max_follow_ons:
            self._screen.note("its follow-ons are used up; /goal TEXT sets it anew", "dim")
