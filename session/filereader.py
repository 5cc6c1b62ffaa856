"""Reading a Session file: the state that its lines make, and what is wrong with them.

The line that was being written when the process or the machine died is the last one and lacks its
line feed: it is dropped and reported, for its commit was never acknowledged. If nothing else is
missing, it is whole and stays. Anything else that is wrong is damage: nothing of the file is used,
and nothing is ever rewritten.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from agentslot.session.changes import AppendMessage
from agentslot.session.codec import UnreadableError
from agentslot.session.errors import SessionDamagedError
from agentslot.session.fileformat import begin, read_commit, read_facts, type_of
from agentslot.session.filescan import FileScan
from agentslot.session.medium import Stored
from agentslot.session.message import Message
from agentslot.session.store import Repair


@dataclass(slots=True)
class StoredSession(Stored):
    """A Session as its file tells it, and where the next line goes.

    Attributes:
        format: what the file is labelled as; the last label counts.
        path: the file.
        whole_bytes: length of the file up to the end of its last whole line.
        file_bytes: length of the file; more than `whole_bytes` if its tail is torn.
        newest: where what was written last begins, or the line before it.
        lacks_newline: whether the last whole line lacks its line feed.
    """

    format: str
    path: Path
    whole_bytes: int
    file_bytes: int
    newest: int
    lacks_newline: bool


def read_session(path: Path) -> StoredSession:
    """Read a Session file; nothing is written.

    Raises:
        FileNotFoundError: there is no such file.
        SessionDamagedError: a line cannot be trusted, or belongs to another version.
    """
    repairs: list[Repair] = []
    with path.open("rb") as file:
        scan, lacks_newline = _scan(path, file, repairs)
        file_bytes = file.seek(0, os.SEEK_END)
    if not scan.is_created:
        raise SessionDamagedError(path, "the file ends before the Session begins")
    try:
        state = scan.state()
    except UnreadableError as error:
        raise SessionDamagedError(path, str(error)) from error
    repairs += scan.notes()
    return StoredSession(
        state,
        scan.recent(),
        tuple(repairs),
        scan.format,
        path,
        scan.bytes,
        file_bytes,
        scan.newest,
        lacks_newline,
    )


def _scan(path: Path, file: BinaryIO, repairs: list[Repair]) -> tuple[FileScan, bool]:
    """Take in all lines but a torn one; and whether the last one lacks its line feed."""
    number, line = 1, file.readline()
    try:
        header, lenient = begin(line.removesuffix(b"\n"))
        scan = FileScan(path, header, len(line), lenient=lenient)
        for number, line in enumerate(file, 2):
            try:
                kind = type_of(line.removesuffix(b"\n"))
            except UnreadableError:
                if line.endswith(b"\n"):
                    raise
                dropped = f"dropped {len(line)} bytes of an unfinished commit"
                repairs.append(Repair(number, dropped))
                return scan, False
            scan.take(line, kind)
    except UnreadableError as error:
        raise SessionDamagedError(path, str(error), line=number) from error
    if line.endswith(b"\n"):
        return scan, False
    repairs.append(Repair(number, "kept the last commit, which lacks its line feed"))
    return scan, True


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
