"""The write path of a store, failing in every way at every commit of an agent's story.

A commit that could not be made durable is refused by kind and code and changes nothing; the same
request sent again finds out what became of it, and everything after it works. If nobody knows what
the disk holds, the Session is refused until somebody opens it anew.
"""

from pathlib import Path

import pytest

from agentslot.session import (
    Commit,
    CommitRequest,
    FileStore,
    RevisionConflictError,
)
from tests.faults import checks
from tests.faults.disk import APPENDING, CREATING, FailingOperations, Fault, Leaves
from tests.faults.forgetful import ForgetfulDisk
from tests.faults.media import FILES
from tests.faults.story import Story, content, recorded, refused, replay

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
                await refused(store.commit(request))
            if fault.leaves is Leaves.NOTHING:
                assert (await store.load(before.id)).state == before
            if fault.leaves is not Leaves.DOUBT:
                await _goes_on(store, story, number)
            else:
                await refused(store.load(before.id))
                for later in story.commits[number:]:
                    await refused(store.commit(later))
        if fault.leaves is Leaves.DOUBT:
            async with FileStore(folder) as store:
                await _goes_on(store, story, number)
        state = (await FileStore(folder).load(story.new.id)).state
        assert content(state) == whole
        checks.revisions_have_no_gap(FILES.commits(folder, story.new.id))


async def _goes_on(store: FileStore, story: Story, number: int) -> None:
    """Send a commit again, which may be there, and the others, which are not."""
    request, *others = story.commits[number:]
    assert (await store.commit(request)).revision == request.expected_revision + 1
    assert not (await store.commit(request)).applied
    for later in others:
        assert (await store.commit(later)).applied


@pytest.mark.parametrize("failing", [("flush",), ("flush", "truncate")], ids="-".join)
async def test_what_is_acknowledged_after_a_failed_flush_survives_a_power_cut(
    failing: tuple[str, ...], tmp_path: Path
) -> None:
    story = await recorded(tmp_path / "story")
    for number, request in enumerate(story.commits):
        folder, disk = tmp_path / f"{number}", ForgetfulDisk()
        async with FileStore(folder, operations=disk) as store:
            await replay(store, story, number)
            disk.failing = set(failing)
            await refused(store.commit(request))
            await refused(store.recover(story.new.id))
            await refused(store.load(story.new.id))
            disk.failing = set()
            found = (await store.recover(story.new.id)).state
            again = await _sent_again(store, request)
        disk.cut_the_power()
        state = (await FileStore(folder).load(story.new.id)).state
        assert state == (found if again is None else again.state)
        if "truncate" in failing:
            assert request.expected_revision < found.revision


async def _sent_again(store: FileStore, request: CommitRequest) -> Commit | None:
    """The answer to a commit, or None if recovery has moved on without it."""
    try:
        return await store.commit(request)
    except RevisionConflictError:
        return None


async def test_a_process_that_finds_what_another_did_not_flush_flushes_it_first(
    tmp_path: Path,
) -> None:
    story = await recorded(tmp_path / "story")
    folder, disk = tmp_path / "store", ForgetfulDisk()
    async with FileStore(folder, operations=disk) as store:
        await replay(store, story, 3)
        disk.failing = {"flush", "truncate"}
        await refused(store.commit(story.commits[3]))
        disk.failing = set()
    async with FileStore(folder, operations=disk) as store:
        assert not (await store.commit(story.commits[3])).applied
    disk.cut_the_power()
    assert (await FileStore(folder).load(story.new.id)).state.revision == 5


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
            await refused(store.load(story.new.id))
            await store.recover(story.new.id)
        else:
            await store.create(story.new)
        state = (await store.load(story.new.id)).state
        for request in story.commits:
            state = (await store.commit(request)).state
    assert (await FileStore(folder).load(story.new.id)).state == state
