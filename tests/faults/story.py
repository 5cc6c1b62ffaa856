"""What an agent asks of its store, kept so that it can be asked again of a store that fails."""

from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentslot.session import (
    ClassifiedError,
    CommitRequest,
    FileStore,
    NewSession,
    SessionState,
    SqliteStore,
)
from tests.faults.allscenarios import SCENARIOS
from tests.faults.media import FILES
from tests.faults.stage import process
from tests.faults.world import World


@dataclass
class Story:
    """What one Session asked of its store."""

    new: NewSession
    commits: list[CommitRequest]


async def recorded(folder: Path) -> Story:
    """What a scenario asks of the store."""
    scenario = SCENARIOS["steer_during_a_tool"]
    world = World()
    async with process(FILES.stoppable(folder, world), world, scenario.setup) as stage:
        await scenario.drive(stage)
    return Story(stage.store.created[0], stage.store.requests)


async def refused(attempt: Awaitable[object]) -> None:
    with pytest.raises(ClassifiedError) as caught:
        await attempt
    assert (caught.value.kind, caught.value.code) == ("unavailable", "not_durable")


def content(state: SessionState) -> object:
    """A Session without its times."""
    facts = [(fact.sequence, fact.actor, fact.payload) for fact in state.history]
    return state.revision, facts, state.queue, dict(state.journal), state.active_run, state.context


async def replay(store: FileStore | SqliteStore, story: Story, upto: int) -> SessionState:
    state = await store.create(story.new)
    for request in story.commits[:upto]:
        state = (await store.commit(request)).state
    return state
