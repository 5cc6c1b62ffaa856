"""What is wrong with a Session file, in words for people, and a way to save what is intact."""

from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from agentslot.session.codec import UnreadableError, encode
from agentslot.session.directory import SessionDirectory
from agentslot.session.errors import SessionDamagedError
from agentslot.session.fileformat import UNSEALED, Header, seal, type_of
from agentslot.session.fileoperations import FileOperations
from agentslot.session.filewriter import create_file
from agentslot.session.identity import SessionId
from agentslot.session.replay import Replay
from agentslot.session.requests import session_exists
from agentslot.session.state import Lineage, SessionState


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a file.

    Attributes:
        line: number of the line, from 1.
        offset: where the line begins, in bytes.
    """

    line: int
    offset: int
    description: str


@dataclass(frozen=True, slots=True)
class FileReport:
    """What a Session file is like.

    Attributes:
        intact: the Session up to the first problem; None if not even its creation can be read.
        intact_bytes: length of the file up to there.
        problems: damage; none if the Session can be opened.
        unfinished: a last line that was cut while it was written. Opening drops it.
    """

    path: Path
    intact: SessionState | None
    intact_bytes: int
    problems: tuple[Problem, ...]
    unfinished: Problem | None

    def __str__(self) -> str:
        """The report, a line for each thing to know."""
        lines = [f"{self.path}: {len(self.problems) or 'no'} problems"]
        lines += [f"  line {p.line}, byte {p.offset}: {p.description}" for p in self.problems]
        if self.unfinished is not None:
            lines.append(
                f"  line {self.unfinished.line}: {self.unfinished.description}; nobody was told "
                "that it was saved, and opening the Session drops it"
            )
        if self.intact is None:
            lines.append("  nothing can be read")
        else:
            lines.append(
                f"  session {self.intact.id}, intact up to revision {self.intact.revision}, "
                f"{len(self.intact.history)} facts, {self.intact_bytes} bytes"
            )
        return "\n".join(lines)


def check_file(path: Path) -> FileReport:
    """Look at every line of a Session file. Nothing is written.

    Raises:
        OSError: the file cannot be read.
    """
    return _examine(path)[0]


def salvage(path: Path, session_id: SessionId) -> Path:
    """Write what is intact of a Session as a new one beside it; the old file stays as it is.

    The new Session names the old one as its parent. It need not be owned by anybody: no store
    knows it yet.

    Args:
        path: the damaged file.
        session_id: identity of the new Session.

    Returns:
        The new file.

    Raises:
        SessionDamagedError: not even the creation of the Session can be read.
        ClassifiedError: `conflict/session_already_exists`, `unavailable/not_durable`.
    """
    report, header = _examine(path)
    state = report.intact
    if header is None or state is None:
        raise SessionDamagedError(path, "nothing can be salvaged", line=1)
    target = SessionDirectory(path.parent).file_of(session_id)
    if target.exists():
        raise session_exists(session_id)
    lineage = header.lineage or Lineage(header.id, state.revision, 0)
    with path.open("rb") as file:
        file.readline()
        rest = file.read(report.intact_bytes - file.tell())
    if rest and not rest.endswith(b"\n"):
        rest += b"\n"
    renamed = replace(header, id=session_id, lineage=lineage, at=UNSEALED, sum="")
    create_file(FileOperations(), target, seal(encode(renamed), header.at) + rest)
    return target


def _examine(path: Path) -> tuple[FileReport, Header | None]:
    replay = Replay()
    problems: list[Problem] = []
    unfinished: Problem | None = None
    offset = intact_bytes = intact_lines = 0
    number = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                if problems:  # behind a gap nothing but this can be told
                    type_of(line.removesuffix(b"\n"))
                else:
                    replay.take(line.removesuffix(b"\n"))
                    intact_bytes, intact_lines = offset + len(line), number
            except UnreadableError as error:
                problem = Problem(number, offset, _describe(line, error))
                if line.endswith(b"\n") or number == 1:
                    problems.append(problem)
                else:
                    unfinished = problem
            offset += len(line)
        if problems:  # the line that failed may have been taken in halfway
            file.seek(0)
            replay = Replay()
            for line in islice(file, intact_lines):
                replay.take(line.removesuffix(b"\n"))
    if replay.state() is None and not problems:
        short = "the file ends before the Session begins"
        problems, unfinished = [Problem(number + 1, offset, short)], None
    report = FileReport(path, replay.state(), intact_bytes, tuple(problems), unfinished)
    return report, replay.header


def _describe(line: bytes, error: UnreadableError) -> str:
    if not line.endswith(b"\n"):
        return f"{len(line)} bytes of a line that was never finished"
    zeros = line.count(0)
    if zeros:
        return f"{error}; {zeros} of its {len(line)} bytes are NUL, they never reached the disk"
    return str(error)
