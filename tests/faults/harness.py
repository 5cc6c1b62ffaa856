"""Stops an agent at one point, lets the next process go on, and looks at what came of it."""

import shutil
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from agentslot.interaction import AnswerApproval, GatewayAccess
from agentslot.model.testing import text_answer
from agentslot.session import RunStatus, SessionId, SessionState
from tests.faults import checks
from tests.faults.media import FILES, Medium
from tests.faults.scenario import Scenario, calling
from tests.faults.stage import Stage, process
from tests.faults.world import World

States = dict[SessionId, SessionState]


@dataclass
class Trial:
    """A scenario in a folder of its own, through the processes that follow each other there."""

    scenario: Scenario
    folder: Path
    world: World = field(default_factory=World)
    medium: Medium = FILES

    async def play(self) -> None:
        """One process that goes through the scenario until it ends, or is stopped."""
        await self._process(self.scenario.drive)

    async def recover(self) -> None:
        """The next process: every Session comes to rest, and is asked one more thing."""

        async def drive(stage: Stage) -> None:
            stage.gate.open()
            for session_id in self.medium.sessions(self.folder):
                await go_on(self.scenario, stage, session_id)

        await self._process(drive)

    async def _process(self, drive: Callable[[Stage], Awaitable[None]]) -> None:
        self.world.folder = self.folder
        store = self.medium.stoppable(self.folder, self.world)
        try:
            async with (
                process(store, self.world, self.scenario.setup) as stage,
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(give_up, self.world.stopped, tasks.cancel_scope)
                await drive(stage)
                tasks.cancel_scope.cancel()
        except Exception:
            if self.world.alive:
                raise

    async def check_crash(self) -> None:
        """A process was stopped: look at what it has left, let the next one go on, look again."""
        before = await self.check_image()
        self.world.begin_process()
        await self.recover()
        await self.check_rest(before)

    async def check_image(self) -> States:
        """What a stopped process has left is readable, complete, and settled by one recovery."""
        states = await self._load()
        assert set(self.world.acknowledged) <= set(states)
        for session_id, state in states.items():
            if session_id in self.world.acknowledged:
                checks.nothing_acknowledged_is_lost(self.world, state)
            image = self.folder.with_name("image")
            self.medium.copy(self.folder, image)
            await checks.recovery_settles_at_once(self.medium, image, session_id)
            shutil.rmtree(image)
        return states

    async def check_rest(self, before: States | None = None) -> None:
        """All that must hold when every Session has come to rest."""
        for session_id, state in (await self._load()).items():
            checks.nothing_acknowledged_is_lost(self.world, state)
            checks.history_is_whole(state)
            checks.hooks_are_settled(state)
            checks.history_can_be_sent(state)
            checks.requests_can_be_made_again(state)
            checks.effects_happened_once(self.world, state)
            checks.revisions_have_no_gap(self.medium.commits(self.folder, session_id))
            if before is not None and session_id in before:
                checks.open_calls_were_settled(before[session_id], state)
        settled = self.medium.contents(self.folder)
        for session_id in self.medium.sessions(self.folder):
            await checks.recovery_settles_at_once(self.medium, self.folder, session_id)
        assert self.medium.contents(self.folder) == settled

    async def _load(self) -> States:
        sessions = self.medium.sessions(self.folder)
        async with self.medium.reader(self.folder) as store:
            return {session_id: (await store.load(session_id)).state for session_id in sessions}


async def count_points(scenario: Scenario, folder: Path, medium: Medium = FILES) -> int:
    """How many points the scenario passes when nothing stops it."""
    trial = Trial(scenario, folder, medium=medium)
    await trial.play()
    await trial.check_rest()
    return len(trial.world.points)


async def stop_and_go_on(
    scenario: Scenario,
    folder: Path,
    stop_at: int,
    *,
    stop_again_at: int | None = None,
    medium: Medium = FILES,
) -> bool:
    """Stop the scenario at a point, and perhaps the process after it too; check all that is left.

    Returns:
        Whether the scenario passed that point: the order of its tasks may differ between runs.
    """
    trial = Trial(scenario, folder, medium=medium)
    world = trial.world
    with telling(f"{scenario.name} stopped at point {stop_at}, then at {stop_again_at}", world):
        world.begin_process(stop_at)
        await trial.play()
        reached = not world.alive
        if stop_again_at is not None:
            await trial.check_image()
            world.begin_process(stop_again_at)
            await trial.recover()
        await trial.check_crash()
    shutil.rmtree(folder)
    return reached


async def give_up(event: anyio.Event, scope: anyio.CancelScope) -> None:
    """Cancel what goes on in the scope as soon as the event comes."""
    await event.wait()
    scope.cancel()


async def go_on(scenario: Scenario, stage: Stage, session_id: SessionId) -> None:
    """Open a Session, let it come to rest, and ask one more thing of it."""
    session = await stage.channel.resume_session(session_id)
    await _rest(stage.access, session_id)
    await session.view()
    stage.model.answers(calling("note"), text_answer("Still here."))
    result = await stage.ask(session, "One more thing")
    expected = RunStatus.COMPLETED if scenario.completes else RunStatus.INTERRUPTED
    assert result.status is expected


async def _rest(access: GatewayAccess, session_id: SessionId) -> None:
    """Wait until the Session is idle, approving whatever it asks for."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_approve, access, session_id)
        await access.when_idle(session_id)
        tasks.cancel_scope.cancel()


async def _approve(access: GatewayAccess, session_id: SessionId) -> None:
    stream = await access.subscribe(session_id)
    for approval in (await access.view(session_id)).approvals:
        await access.answer_approval(AnswerApproval(session_id, approval.digest, approved=True))
    async for event in stream:
        if event.kind == "approval_requested":
            await access.answer_approval(AnswerApproval(session_id, event.digest, approved=True))


@contextmanager
def telling(what: str, world: World) -> Generator[None]:
    """Say in a failure what was done to the process, and how far the last one came."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"{what}; the last process: {', '.join(world.points)}")
        raise
