"""A directory of Session files: which file is whose, and what lies there."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from agentslot.session.codec import UnreadableError
from agentslot.session.errors import ClassifiedError, ErrorKind, SessionDamagedError
from agentslot.session.fileformat import read_header, revision_and_time, type_of
from agentslot.session.filereader import read_session
from agentslot.session.filewriter import TEMPORARY_PREFIX
from agentslot.session.identity import SessionId
from agentslot.session.listing import Listed, listed
from agentslot.session.store import SessionSummary

_SUFFIX = ".jsonl"
_HEADER_BYTES = 1 << 20
_TAIL_BYTES = 512


class SessionDirectory:
    """Finds Sessions without reading them: the head and the tail of a file are enough.

    What was found is kept as long as size and time of the file stay the same.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[str, tuple[tuple[int, int], Listed | None]] = {}

    def file_of(self, session_id: SessionId) -> Path:
        """Where the Session lies, or would lie."""
        digest = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()
        return self.path / (digest + _SUFFIX)

    def list(self) -> list[Listed]:
        """All Sessions that can be read, in no order. What cannot is not among them.

        Raises:
            ClassifiedError: `unavailable/unreadable`: the directory itself cannot be read.
        """
        known: dict[str, tuple[tuple[int, int], Listed | None]] = {}
        try:
            with os.scandir(self.path) as entries:
                for entry in entries:
                    if entry.name.endswith(_SUFFIX):
                        with suppress(OSError):  # no file, or gone by now; it hides no other
                            known[entry.name] = self._look_at(entry)
        except OSError as error:
            raise ClassifiedError(
                ErrorKind.UNAVAILABLE,
                "unreadable",
                f"the folder {self.path} could not be read: {error.strerror}",
            ) from error
        self._known = known
        return [found for _, found in known.values() if found is not None]

    def _look_at(self, entry: "os.DirEntry[str]") -> tuple[tuple[int, int], Listed | None]:
        status = entry.stat()
        version = status.st_size, status.st_mtime_ns
        found = self._known.get(entry.name)
        if found is None or found[0] != version:
            found = version, _summarize(Path(entry.path), status.st_size)
        return found

    def remove_leftovers(self) -> None:
        """Remove what a crash left of files that were being created; needs the directory's lock."""
        for path in self.path.glob(f"{TEMPORARY_PREFIX}*.tmp"):
            path.unlink()


def _summarize(path: Path, size: int) -> Listed | None:
    with path.open("rb") as file:
        head = file.readline(_HEADER_BYTES).removesuffix(b"\n")
        file.seek(max(0, size - _TAIL_BYTES))
        newest = revision_and_time(file.read())
    try:
        if newest is None:
            return listed(read_session(path).state)
        type_of(head)
        header = read_header()(head, lenient=True)
    except (UnreadableError, SessionDamagedError):
        return None  # nobody's, as far as can be told; `check_file` explains it
    revision, updated_at = newest
    parent = header.lineage.parent if header.lineage else None
    summary = SessionSummary(
        header.id, header.agent, header.workspace, revision, updated_at, parent
    )
    return Listed(summary, header.at)
