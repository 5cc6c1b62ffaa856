"""Session files made by the store itself, to be damaged by tests."""

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from agentslot.session import Change, CommitRequest, FileStore, SessionId, SessionState
from agentslot.session.fileformat import seal
from tests.session.scenario import START, new_session, queued


async def write_session(
    directory: Path, *commits: Sequence[Change], session_id: str = "s1"
) -> tuple[Path, SessionState]:
    """A closed file with these commits, or with two queued messages; and the state it holds."""
    async with FileStore(directory) as store:
        state = await store.create(new_session(session_id))
        for number, changes in enumerate(commits or [[queued("q1")], [queued("q2")]]):
            request = CommitRequest(state.id, state.revision, f"key-{number}", tuple(changes))
            state = (await store.commit(request)).state
    return file_of(directory), state


def file_of(directory: Path) -> Path:
    (path,) = directory.glob("*.jsonl")
    return path


async def append(directory: Path, message_id: str, session_id: str = "s1") -> SessionState:
    """Open the store anew and commit one queued message."""
    async with FileStore(directory) as store:
        state = (await store.recover(SessionId(session_id))).state
        request = CommitRequest(state.id, state.revision, message_id, (queued(message_id),))
        return (await store.commit(request)).state


async def load(directory: Path, session_id: str = "s1") -> SessionState:
    return (await FileStore(directory).load(SessionId(session_id))).state


def sealed(record: dict[str, object], at: datetime = START) -> bytes:
    """A line of any content with a good checksum, as a writer of another version might make it."""
    return seal(json.dumps(record, separators=(",", ":")).encode(), at)


def reseal(content: bytes, line: int, **members: object) -> bytes:
    """The file with members of one line changed or added."""
    lines = content.splitlines(keepends=True)
    record = json.loads(lines[line])
    revision, time, _ = (record.pop(name) for name in ("rev", "at", "sum"))
    lines[line] = sealed({**record, **members, "rev": revision}, datetime.fromisoformat(time))
    return b"".join(lines)
