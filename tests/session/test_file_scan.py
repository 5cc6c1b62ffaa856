"""Opening a Session file: the state without its History, which stays on the disk."""

import random
import re
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
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
    SessionState,
    check_file,
    fork,
    read_history,
)
from agentslot.session import filescan as scanning
from agentslot.session.fileformat import commit_body, creation, seal, upgrade
from agentslot.session.filereader import read_session
from tests.session.everychange import EveryChange
from tests.session.files import write_session
from tests.session.scenario import START, finished, new_session, request, user


def said(count: int) -> Iterator[list[Change]]:
    for number in range(count):
        yield [AppendMessage(user(f"u{number}", f"text {number}", run=None))]


@pytest.fixture
def short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of three lines, of which only the last one is in memory."""
    monkeypatch.setattr(scanning, "PAGE_LINES", 3)
    monkeypatch.setattr(scanning, "PAGES_IN_TAIL", 1)


def cut(lines: list[bytes], chance: random.Random) -> bytes:
    content = b"".join(lines)
    return content[: chance.randrange(len(content))]


def flipped(lines: list[bytes], chance: random.Random) -> bytes:
    content = bytearray(b"".join(lines))
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return bytes(content)


def without_some_bytes(lines: list[bytes], chance: random.Random) -> bytes:
    content = b"".join(lines)
    begin, end = sorted(chance.choices(range(len(content)), k=2))
    return content[:begin] + content[end:]


def never_written(lines: list[bytes], chance: random.Random) -> bytes:
    content = b"".join(lines)
    begin, end = sorted(chance.choices(range(len(content)), k=2))
    return content[:begin] + bytes(end - begin) + content[end:]


def without_a_line(lines: list[bytes], chance: random.Random) -> bytes:
    number = chance.randrange(len(lines))
    return b"".join(lines[:number] + lines[number + 1 :])


def with_a_line_twice(lines: list[bytes], chance: random.Random) -> bytes:
    number = chance.randrange(len(lines))
    return b"".join(lines[: number + 1] + lines[number:])


def exchanged(lines: list[bytes], chance: random.Random) -> bytes:
    return b"".join(chance.sample(lines, len(lines)))


DAMAGE: tuple[Callable[[list[bytes], random.Random], bytes], ...] = (
    cut,
    flipped,
    without_some_bytes,
    never_written,
    without_a_line,
    with_a_line_twice,
    exchanged,
)


def opened(path: Path) -> SessionState | int | None:
    """The Session as the store opens it, or the line that is refused, or None if none is named."""
    try:
        return read_session(path).state
    except SessionDamagedError as error:
        return error.line


def replayed(path: Path) -> SessionState | int | None:
    """The same as the rules have it."""
    report = check_file(path)
    return report.problems[0].line if report.problems else report.intact


class FiledSessions(EveryChange):
    """The same Sessions, each also written to a file, which is then damaged in every way."""

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
            if len(self.state.extensions) and not len(before.extensions):
                file.write(upgrade(before.revision, self.state.updated_at))
            file.write(seal(body, self.state.updated_at))

    def teardown(self) -> None:
        stored = read_session(self.path)
        assert stored.state == replayed(self.path)
        assert stored.state.history == self.state.history
        assert list(stored.state.journal.items()) == list(self.state.journal.items())
        for position, fact in enumerate(self.state.history):
            assert stored.state.history[position] == fact
        lines = self.path.read_bytes().splitlines(keepends=True)
        chance = random.Random(len(lines))  # the same damage each time
        for damage in DAMAGE if len(lines) > 1 else ():
            self.path.write_bytes(damage(lines, chance))
            assert opened(self.path) == replayed(self.path), damage.__name__
        self.folder.cleanup()


def test_opening_and_the_rules_make_the_same_of_a_file_whole_or_damaged(short_pages: None) -> None:
    run_state_machine_as_test(
        FiledSessions, settings=settings(max_examples=40, stateful_step_count=40)
    )


async def test_facts_are_read_where_they_are_asked_for(tmp_path: Path, short_pages: None) -> None:
    _, state = await write_session(tmp_path, *said(20))
    history = (await FileStore(tmp_path).load(state.id)).state.history
    assert 0 < history.stored < 20
    assert history[-1] == state.history[-1]

    def read() -> None:
        assert list(history[4:15:3]) == list(state.history[4:15:3])
        assert list(history[::-1]) == list(state.history[::-1])
        assert history.message(MessageId("u11")) == user("u11", "text 11", run=None)
        assert not history.has_message(MessageId("u20"))
        with pytest.raises(IndexError):
            _ = history[20]

    await read_history(history, read)


async def test_a_session_goes_on_behind_the_facts_that_stay_on_the_disk(
    tmp_path: Path, short_pages: None
) -> None:
    _, state = await write_session(tmp_path, *said(20))
    async with FileStore(tmp_path) as store:
        loaded = (await store.recover(state.id)).state
        message = AppendMessage(user("more", run=None))
        made = (await store.commit(request(loaded, "more", message))).state
    assert len(loaded.history) == 20
    other = loaded.history.appended([made.history[20]])
    assert isinstance(other, History)

    def read() -> None:
        assert [fact.sequence for fact in made.history] == list(range(1, 22))
        assert other == made.history
        assert other.message(MessageId("u3")) == state.history.message(MessageId("u3"))

    await read_history(other, read)


async def test_readers_see_whole_commits_while_the_writer_appends(
    tmp_path: Path, short_pages: None
) -> None:
    _, state = await write_session(tmp_path, *said(20))
    reader = FileStore(tmp_path)
    seen = list[int]()

    async def look() -> None:
        history = (await reader.load(state.id)).state.history
        facts = await read_history(history, list, history)
        assert [fact.sequence for fact in facts] == list(range(1, len(facts) + 1))
        seen.append(len(facts))

    async with FileStore(tmp_path) as store, anyio.create_task_group() as tasks:
        current = (await store.recover(state.id)).state
        early = current.history
        for number in range(10):
            tasks.start_soon(look)
            message = AppendMessage(user(f"more-{number}", run=None))
            current = (await store.commit(request(current, f"more-{number}", message))).state
        assert len(await read_history(early, list, early)) == 20
    assert all(20 <= count <= 30 for count in seen)
    assert len(seen) == 10


async def test_copied_facts_are_the_childs_own_when_they_are_read(
    tmp_path: Path, short_pages: None
) -> None:
    async with FileStore(tmp_path) as store:
        child = await store.create(fork(finished(), SessionId("child")))
    loaded = (await FileStore(tmp_path).load(child.id)).state
    assert await read_history(loaded.history, loaded.__eq__, child)
    facts = await read_history(loaded.history, list, loaded.history)
    assert {fact.session_id for fact in facts} == {child.id}


@pytest.mark.parametrize(
    ("pattern", "instead", "line"),
    [
        (rb"text 3", b"text 9", 5),
        (rb"(?s)text 3.*", b"", 5),
        (rb"(?s)\A(.{600}).*", rb"\1", 3),
        (rb"(?s)\A.*", b"", 2),
    ],
)
async def test_a_file_that_is_damaged_after_it_was_opened_says_so_when_it_is_read(
    tmp_path: Path, short_pages: None, pattern: bytes, instead: bytes, line: int
) -> None:
    path, state = await write_session(tmp_path, *said(9))
    history = (await FileStore(tmp_path).load(state.id)).state.history
    path.write_bytes(re.sub(pattern, instead, path.read_bytes()))
    with pytest.raises(SessionDamagedError) as caught:
        await read_history(history, list, history)
    assert (caught.value.path, caught.value.line) == (path, line)


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
    newest_facts, newest_commits = 128 * 1000, 256 * 500
    assert kept - newest_facts - newest_commits < 5000 * 40
