"""Explaining what is wrong with a file, and saving what is intact."""

from pathlib import Path

import pytest
from anyio.to_thread import run_sync

from agentslot.session import (
    AppendMessage,
    ClassifiedError,
    FileStore,
    SessionDamagedError,
    SessionId,
    fork,
)
from agentslot.session.directory import SessionDirectory
from agentslot.session.salvaging import check_file, salvage
from tests.session.files import append, load, reseal, sealed, write_session
from tests.session.scenario import user


async def test_a_sound_file_has_no_problems(tmp_path: Path) -> None:
    path, state = await write_session(tmp_path)
    report = await run_sync(check_file, path)
    assert report.problems == ()
    assert report.unfinished is None
    assert report.intact == state
    assert "no problems" in str(report)


async def test_damage_is_explained_line_by_line(tmp_path: Path) -> None:
    path, _ = await write_session(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = b"\0" * 40 + b"\n"
    lines.append(b"oops\n")
    lines.append(b"torn")
    path.write_bytes(b"".join(lines))
    report = await run_sync(check_file, path)
    assert [(p.line, p.offset) for p in report.problems] == [
        (2, len(lines[0])),
        (4, 41 + sum(map(len, (lines[0], lines[2])))),
    ]
    assert "40 of its 41 bytes are NUL" in str(report)
    assert "intact up to revision 1" in str(report)
    assert report.unfinished is not None
    assert report.unfinished.line == 5


@pytest.mark.parametrize("lines", [0, 1], ids=["empty", "without its facts"])
async def test_a_file_that_ends_before_its_session_begins_is_damaged(
    lines: int, tmp_path: Path
) -> None:
    _, state = await write_session(tmp_path, [AppendMessage(user("u1", "hi", run=None))])
    async with FileStore(tmp_path) as store:
        await store.create(fork(state, SessionId("child")))
    path = SessionDirectory(tmp_path).file_of(SessionId("child"))
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))
    report = await run_sync(check_file, path)
    assert [(p.line, p.description) for p in report.problems] == [
        (lines + 1, "the file ends before the Session begins")
    ]
    assert report.intact is None
    with pytest.raises(SessionDamagedError):
        await load(tmp_path, "child")


async def test_the_intact_prefix_becomes_a_new_session_and_the_old_file_stays(
    tmp_path: Path,
) -> None:
    path, state = await write_session(tmp_path)
    damaged = path.read_bytes().replace(b"q2", b"q9")
    path.write_bytes(damaged)
    target = await run_sync(salvage, path, SessionId("saved"))
    assert path.read_bytes() == damaged
    assert target.stat().st_mode & 0o777 == 0o600
    saved = await load(tmp_path, "saved")
    assert [item.message.id for item in saved.queue] == ["q1"]
    assert (saved.agent, saved.created_at) == (state.agent, state.created_at)
    assert saved.lineage is not None
    assert (saved.lineage.parent, saved.lineage.parent_revision) == ("s1", 2)
    assert (await append(tmp_path, "q3", "saved")) == await load(tmp_path, "saved")


async def test_salvaging_keeps_records_of_a_newer_version(tmp_path: Path) -> None:
    path, _ = await write_session(tmp_path)
    note = sealed({"type": "note", "text": "later", "rev": 3})
    path.write_bytes(reseal(path.read_bytes(), 0, minor=1) + note + b"oops\n")
    assert note in (await run_sync(salvage, path, SessionId("saved"))).read_bytes()


async def test_salvaging_never_overwrites_a_session(tmp_path: Path) -> None:
    path, _ = await write_session(tmp_path)
    with pytest.raises(ClassifiedError, match="already"):
        await run_sync(salvage, path, SessionId("s1"))


async def test_a_file_without_a_header_cannot_be_salvaged(tmp_path: Path) -> None:
    path, _ = await write_session(tmp_path)
    path.write_bytes(b"oops\n")
    assert (await run_sync(check_file, path)).intact is None
    assert "nothing can be read" in str(await run_sync(check_file, path))
    with pytest.raises(SessionDamagedError, match="nothing can be salvaged"):
        await run_sync(salvage, path, SessionId("saved"))
