"""Opening a Session file: the state without its History, which stays on the disk."""

import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis.stateful import (
    run_state_machine_as_test,  # pyright: ignore[reportUnknownVariableType]  # untyped there
)

from agentslot.session import (
    AppendMessage,
    Change,
    CommitRequest,
    FileStore,
    History,
    MessageId,
    SessionDamagedError,
    SessionId,
    fork,
)
from agentslot.session import filescan as scanning
from agentslot.session.fileformat import commit_body, creation, seal
from agentslot.session.filereader import read_session
from agentslot.session.replay import Replay
from tests.session.files import write_session
from tests.session.scenario import START, finished, new_session, request, user
from tests.session.test_aggregate_properties import Sessions


def said(count: int) -> Iterator[list[Change]]:
    for number in range(count):
        yield [AppendMessage(user(f"u{number}", f"text {number}", run=None))]


@pytest.fixture
def short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "PAGE_LINES", 3)


class FiledSessions(Sessions):
    """The same Sessions, each also written to a file."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.path = Path(self.folder.name) / "session.jsonl"
        self.path.write_bytes(creation(new_session(), START))

    def commit(self, *changes: Change) -> None:
        before = self.state
        super().commit(*changes)
        body = commit_body(request(before, f"key-{before.revision}", *changes))
        with self.path.open("ab") as file:
            file.write(seal(body, self.state.updated_at))

    def teardown(self) -> None:
        replay = Replay()
        for line in self.path.read_bytes().splitlines():
            replay.take(line)
        stored = read_session(self.path)
        assert stored.state == replay.state()
        assert stored.state.history == self.state.history
        assert stored.state.journal == self.state.journal
        assert list(stored.state.journal) == list(self.state.journal)
        for position, fact in enumerate(self.state.history):
            assert stored.state.history[position] == fact
        self.folder.cleanup()


def test_a_scan_and_the_rules_make_the_same_session(short_pages: None) -> None:
    run_state_machine_as_test(
        FiledSessions, settings=settings(max_examples=40, stateful_step_count=40, deadline=None)
    )


async def test_facts_are_read_where_they_are_asked_for(tmp_path: Path, short_pages: None) -> None:
    _, state = await write_session(tmp_path, *said(20))
    history = (await FileStore(tmp_path).load(state.id)).state.history
    assert history[-1] == state.history[-1]
    assert list(history[4:15:3]) == list(state.history[4:15:3])
    assert list(history[::-1]) == list(state.history[::-1])
    assert history.message(MessageId("u11")) == user("u11", "text 11", run=None)
    assert not history.has_message(MessageId("u20"))
    with pytest.raises(IndexError):
        _ = history[20]


async def test_a_session_goes_on_behind_the_facts_that_stay_on_the_disk(
    tmp_path: Path, short_pages: None
) -> None:
    _, state = await write_session(tmp_path, *said(20))
    async with FileStore(tmp_path) as store:
        loaded = (await store.recover(state.id)).state
        message = AppendMessage(user("more", run=None))
        made = (await store.commit(request(loaded, "more", message))).state
        assert len(loaded.history) == 20
        assert [fact.sequence for fact in made.history] == list(range(1, 22))
        other = loaded.history.appended([made.history[20]])
        assert isinstance(other, History)
        assert other == made.history
        assert other.has_message(MessageId("u3"))


async def test_copied_facts_are_the_childs_own_when_they_are_read(
    tmp_path: Path, short_pages: None
) -> None:
    async with FileStore(tmp_path) as store:
        child = await store.create(fork(finished(), SessionId("child")))
    assert (await FileStore(tmp_path).load(child.id)).state == child
    assert {fact.session_id for fact in child.history} == {child.id}


async def test_a_file_that_is_damaged_after_it_was_opened_says_so_when_it_is_read(
    tmp_path: Path,
) -> None:
    path, state = await write_session(tmp_path, *said(5))
    found = (await FileStore(tmp_path).load(state.id)).state
    path.write_bytes(path.read_bytes().replace(b"text 3", b"text 9"))
    with pytest.raises(SessionDamagedError) as caught:
        found.history.message(MessageId("u1"))
    assert caught.value.line == 5


def test_what_stays_in_memory_is_a_little_for_each_fact(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    bodies = (
        commit_body(CommitRequest(SessionId("s1"), number, f"key-{number}", tuple(changes)))
        for number, changes in enumerate(said(5000), 1)
    )
    path.write_bytes(creation(new_session(), START) + b"".join(seal(b, START) for b in bodies))
    read_session(path)  # makes the decoders, once a process
    tracemalloc.start()
    try:
        stored = read_session(path)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(stored.state.history) == 5000
    newest_commits = 256 * 500
    assert kept - newest_commits < 5000 * 40
