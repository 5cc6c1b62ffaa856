"""Stops an agent at one point, lets the next process go on, and looks at what came of it."""

import shutil
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import anyio

from agentslot.interaction import AnswerApproval, GatewayAccess
from agentslot.model.testing import text_answer
from agentslot.session import FileStore, RunStatus, SessionId, SessionState
from tests.faults import checks
from tests.faults.scenarios import Scenario, calling
from tests.faults.stage import Stage, process
from tests.faults.world import World

States = dict[SessionId, SessionState]


async def count_points(scenario: Scenario, folder: Path) -> int:
    """How many points the scenario passes when nothing stops it."""
    world = World()
    await play(scenario, folder, world)
    await check_rest(folder, world, {})
    return len(world.points)


async def play(scenario: Scenario, folder: Path, world: World) -> None:
    """One process that goes through the scenario until it ends, or is stopped."""
    await _until_stopped(scenario, folder, world, scenario.drive)


async def recover(scenario: Scenario, folder: Path, world: World) -> None:
    """The next process: opens what is there, lets it come to rest, and is asked one more thing."""

    async def drive(stage: Stage) -> None:
        stage.gate.open()
        for session_id in checks.session_files(folder):
            await go_on(scenario, stage, session_id)

    await _until_stopped(scenario, folder, world, drive)


async def _until_stopped(
    scenario: Scenario, folder: Path, world: World, drive: Callable[[Stage], Awaitable[None]]
) -> None:
    try:
        async with (
            process(folder, world, scenario.setup) as stage,
            anyio.create_task_group() as tasks,
        ):

            async def give_up() -> None:
                await world.stopped.wait()
                tasks.cancel_scope.cancel()

            tasks.start_soon(give_up)
            await drive(stage)
            tasks.cancel_scope.cancel()
    except Exception:
        if world.alive:
            raise


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


async def stop_and_go_on(
    scenario: Scenario, folder: Path, stop_at: int, *, stop_again_at: int | None = None
) -> bool:
    """Stop the scenario at a point, and perhaps the process after it too; check all that is left.

    Returns:
        Whether the scenario passed that point: the order of its tasks may differ between runs.
    """
    world = World()
    with telling(f"{scenario.name} stopped at point {stop_at}, then at {stop_again_at}", world):
        world.begin_process(stop_at)
        await play(scenario, folder, world)
        reached = not world.alive
        if stop_again_at is not None:
            await check_image(folder, world)
            world.begin_process(stop_again_at)
            await recover(scenario, folder, world)
        await check_crash(scenario, folder, world)
    return reached


@contextmanager
def telling(what: str, world: World) -> Generator[None]:
    """Say in a failure what was done to the process, and how far the last one came."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"{what}; the last process: {', '.join(world.points)}")
        raise


async def check_crash(scenario: Scenario, folder: Path, world: World) -> None:
    """A process that was stopped has left `folder`: let the next one go on, and check the end."""
    before = await check_image(folder, world)
    world.begin_process()
    await recover(scenario, folder, world)
    await check_rest(folder, world, before)


async def check_image(folder: Path, world: World) -> States:
    """What a stopped process has left is readable, complete, and settled by one recovery."""
    states = await load_all(folder)
    assert set(world.acknowledged) <= set(states)
    for session_id, state in states.items():
        if session_id in world.acknowledged:
            checks.nothing_acknowledged_is_lost(world, state)
        image = folder.with_name("image")
        shutil.copytree(folder, image)
        await checks.recovery_settles_at_once(image, session_id)
        shutil.rmtree(image)
    return states


async def check_rest(folder: Path, world: World, before: States) -> None:
    """All that must hold when every Session has come to rest."""
    files = checks.session_files(folder)
    for session_id, state in (await load_all(folder)).items():
        checks.nothing_acknowledged_is_lost(world, state)
        checks.history_is_whole(state)
        checks.history_can_be_sent(state)
        checks.revisions_have_no_gap(files[session_id])
        checks.effects_happened_once(world, state)
        if session_id in before:
            checks.open_calls_were_settled(before[session_id], state)
    settled = checks.contents(folder)
    for session_id in files:
        await checks.recovery_settles_at_once(folder, session_id)
    assert checks.contents(folder) == settled


async def load_all(folder: Path) -> States:
    """Every Session of the folder as it lies there."""
    store = FileStore(folder)
    return {s: (await store.load(s)).state for s in checks.session_files(folder)}
