"""Reading a Session file: the state that its lines make, and what is wrong with them.

The line that was being written when the process or the machine died is the last one and lacks its
line feed: it is dropped and reported, for its commit was never acknowledged. If nothing else is
missing, it is whole and stays. Anything else that is wrong is damage: nothing of the file is used,
and nothing is ever rewritten.
"""

import gc
import os
from collections import Counter, deque
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agentslot.session.aggregate import apply_to, create
from agentslot.session.changes import AppendMessage
from agentslot.session.codec import UnreadableError
from agentslot.session.draft import Draft
from agentslot.session.errors import ClassifiedError, SessionDamagedError
from agentslot.session.facts import Fact
from agentslot.session.fileformat import (
    FORMAT,
    FORMAT_WITH_EXTENSIONS,
    MINOR,
    Header,
    fingerprint,
    format_of,
    read_commit,
    read_facts,
    read_format,
    read_header,
    type_of,
    unseal,
)
from agentslot.session.identity import SERVICE_ACTOR
from agentslot.session.medium import Stored
from agentslot.session.message import Message
from agentslot.session.recent import REMEMBERED_COMMITS, Outcome, RecentCommits, outcome_of
from agentslot.session.state import SessionState
from agentslot.session.store import NewSession, Repair


@dataclass(slots=True)
class StoredSession(Stored):
    """A Session as its file tells it, and where the next line goes.

    Attributes:
        format: what the file is labelled as; the last label counts.
        path: the file.
        whole_bytes: length of the file up to the end of its last whole line.
        file_bytes: length of the file; more than `whole_bytes` if its tail is torn.
        lacks_newline: whether the last whole line lacks its line feed.
    """

    format: str
    path: Path
    whole_bytes: int
    file_bytes: int
    lacks_newline: bool


def read_session(path: Path) -> StoredSession:
    """Read a Session file; nothing is written.

    Raises:
        FileNotFoundError: there is no such file.
        SessionDamagedError: a line cannot be trusted, or belongs to another version.
    """
    replay = Replay()
    whole_bytes, number, lacks_newline = 0, 0, False
    repairs: list[Repair] = []
    with _collector_paused(), path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                replay.take(line.removesuffix(b"\n"))
            except UnreadableError as error:
                if number == 1 or line.endswith(b"\n"):
                    raise SessionDamagedError(path, str(error), line=number) from error
                repairs.append(Repair(number, f"dropped {len(line)} bytes of an unfinished commit"))
                break
            whole_bytes += len(line)
            lacks_newline = not line.endswith(b"\n")
        file_bytes = file.seek(0, os.SEEK_END)
    state = replay.state()
    if state is None:
        raise SessionDamagedError(path, "the file ends before the Session begins", line=number)
    if lacks_newline:
        repairs.append(Repair(number, "kept the last commit, which lacks its line feed"))
    repairs += replay.notes()
    return StoredSession(
        state,
        replay.recent(),
        tuple(repairs),
        replay.format,
        path,
        whole_bytes,
        file_bytes,
        lacks_newline,
    )


def read_first_message(path: Path) -> Message | None:
    """The first message in a Session file that is no copy; None if damage comes before it.

    Raises:
        FileNotFoundError: there is no such file.
    """
    with path.open("rb") as file:
        file.readline()
        for line in file:
            try:
                message = _first_message_in(line.removesuffix(b"\n"))
            except UnreadableError:
                return None
            if message is not None:
                return message
    return None


def _first_message_in(line: bytes) -> Message | None:
    payloads: Iterable[object] = ()
    match type_of(line):
        case "commit":
            changes = read_commit()(line, lenient=True).changes
            payloads = (each.message for each in changes if isinstance(each, AppendMessage))
        case "facts":
            facts = read_facts()(line, lenient=True).facts
            payloads = (fact.payload for fact in facts if fact.origin_id is None)
        case _:
            pass
    return next((each for each in payloads if isinstance(each, Message)), None)


@contextmanager
def _collector_paused() -> Generator[None]:
    """Keep the garbage collector from walking, again and again, through what is read to be kept."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class Replay:
    """Folds the lines of a file into a state."""

    def __init__(self) -> None:
        self.header: Header | None = None
        self.format = FORMAT
        self._draft: Draft | None = None
        self._lenient = False
        self._facts: list[Fact] = []
        self._commits = deque[tuple[bytes, str, Outcome]](maxlen=REMEMBERED_COMMITS)
        self._unknown = Counter[str]()

    def take(self, line: bytes) -> None:
        """Fold one line in, given without its line feed.

        Raises:
            UnreadableError: it is not whole, or does not fit what stands before it.
        """
        kind = type_of(line)
        if self.header is None:
            self._begin(line, kind)
        elif kind == "commit" and self._draft is not None:
            self._apply(line, self._draft)
        elif kind == "facts" and self._draft is None:
            self._facts += read_facts()(line, lenient=self._lenient).facts
            self._create_when_complete(self.header)
        elif kind == "format" and self._draft is not None:
            self._relabel(line, self._draft.revision)
        elif self._lenient and kind not in ("session", "facts", "commit", "format"):
            self._unknown[kind] += 1
        else:
            raise UnreadableError(f"a record of type {kind!r} has no place here")

    def _begin(self, line: bytes, kind: str) -> None:
        if kind != "session":
            raise UnreadableError("the file does not begin with a Session's header")
        if format_of(line) != FORMAT:
            raise UnreadableError(
                f"the file is of format {format_of(line)!r}, this version reads {FORMAT!r}"
            )
        header = read_header()(line, lenient=True)
        self._lenient = header.minor > MINOR
        self.header = header if self._lenient else read_header()(line)
        self._create_when_complete(header)

    def _relabel(self, line: bytes, revision: int) -> None:
        label = read_format()(line, lenient=self._lenient)
        if label.format != FORMAT_WITH_EXTENSIONS or label.rev != revision:
            raise UnreadableError(
                f"the file becomes format {label.format!r} at revision {label.rev}: this version "
                f"knows {FORMAT_WITH_EXTENSIONS!r}, and the Session is at {revision}"
            )
        self.format = label.format

    def _create_when_complete(self, header: Header) -> None:
        if len(self._facts) < header.facts:
            return
        new = NewSession(
            header.id,
            header.agent,
            header.workspace,
            header.model_config,
            header.lineage,
            tuple(self._facts),
        )
        try:
            state = create(new, header.at)
        except ClassifiedError as error:
            raise UnreadableError(error.message) from error
        self._facts = []
        self._draft = Draft(state, SERVICE_ACTOR, header.at)

    def _apply(self, line: bytes, draft: Draft) -> None:
        commit = read_commit()(line, lenient=self._lenient)
        if commit.rev != draft.revision + 1:
            raise UnreadableError(f"revision {commit.rev} follows revision {draft.revision}")
        before = draft.history
        try:
            apply_to(draft, commit.changes, now=commit.at, actor=commit.actor)
        except ClassifiedError as error:
            raise UnreadableError(error.message) from error
        if len(draft.extension_journal) and self.format == FORMAT:
            raise UnreadableError(f"a file of format {FORMAT!r} knows of no hooks")
        self._commits.append((line, commit.key, outcome_of(commit.rev, before, draft.history)))

    def state(self) -> SessionState | None:
        """The Session so far; None before it is created."""
        return None if self._draft is None else self._draft.so_far()

    def recent(self) -> RecentCommits[bytes]:
        """The newest commits, to answer for when they are sent again."""
        recent = RecentCommits[bytes]()
        for line, key, outcome in self._commits:
            recent.add(key, fingerprint(unseal(line)), outcome)
        return recent

    def notes(self) -> list[Repair]:
        """What was passed over."""
        return [
            Repair(None, f"kept {count} records of the unknown type {kind!r} of a newer version")
            for kind, count in self._unknown.items()
        ]
