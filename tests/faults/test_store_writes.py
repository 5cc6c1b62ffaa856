"""The write path of a store, failing in every way at every commit of an agent's story.

A commit that could not be made durable is refused by kind and code and changes nothing; the same
request sent again finds out what became of it, and everything after it works.
"""

from pathlib import Path

import pytest

from agentslot.session import (
    CommitRequest,
    FileStore,
    SessionState,
)
from tests.faults import checks
from tests.faults.disk import APPENDING, CREATING, FailingOperations, Fault, Leaves
from tests.faults.media import FILES
from tests.faults.story import content, recorded, refused, replay

pytestmark = pytest.mark.faults


@pytest.mark.parametrize("fault", APPENDING, ids=lambda fault: fault.name)
async def test_a_commit_that_fails_changes_nothing_and_can_be_sent_again(
    fault: Fault, tmp_path: Path
) -> None:
    story = await recorded(tmp_path / "story")
    async with FileStore(tmp_path / "whole") as store:
        whole = content(await replay(store, story, len(story.commits)))
    for number, request in enumerate(story.commits):
        folder = tmp_path / f"{number}"
        async with FileStore(folder, operations=FailingOperations(fault, number + 1)) as store:
            before = await replay(store, story, number)
            if fault.leaves is not Leaves.IT_DONE:
                await _fails(store, request, before, fault.leaves)
            assert (await store.commit(request)).revision == before.revision + 1
            assert not (await store.commit(request)).applied
            for later in story.commits[number + 1 :]:
                assert (await store.commit(later)).applied
        state = (await FileStore(folder).load(story.new.id)).state
        assert content(state) == whole
        checks.revisions_have_no_gap(FILES.commits(folder, story.new.id))


async def _fails(
    store: FileStore, request: CommitRequest, before: SessionState, leaves: Leaves
) -> None:
    await refused(store.commit(request))
    state = (await store.load(before.id)).state
    if leaves is Leaves.NOTHING or state.revision == before.revision:
        assert state == before
    else:
        assert state.revision == before.revision + 1


@pytest.mark.parametrize("fault", CREATING, ids=lambda fault: fault.name)
async def test_a_session_that_could_not_be_created_is_not_there(
    fault: Fault, tmp_path: Path
) -> None:
    story = await recorded(tmp_path / "story")
    folder = tmp_path / "store"
    async with FileStore(folder, operations=FailingOperations(fault, 0)) as store:
        if fault.leaves is Leaves.NOTHING:
            await refused(store.create(story.new))
            assert [path.name for path in folder.iterdir()] == [".lock"]
        if fault.leaves is Leaves.DOUBT:
            await refused(store.create(story.new))
        else:
            await store.create(story.new)
        state = (await store.load(story.new.id)).state
        for request in story.commits:
            state = (await store.commit(request)).state
    assert (await FileStore(folder).load(story.new.id)).state == state
