"""Changes of the file tools, recorded so that the last ones can be taken back.

One file a change, in the order of their names: a line of JSON, then the content that was there. It
is written before the change is made. Taking a change back asks that the file still is what the
change left: whoever came later is never overwritten.
"""

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ValidationError

from agentslot.session import SessionId, ToolCallId
from agentslot.tool.errors import ToolFailedError
from agentslot.tool.files.containment import FileRoot, Location
from agentslot.tool.files.write import read_whole, replace, sha256

FORMAT = "agentslot.change/v1"

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_SUFFIX = ".change"


class Change(BaseModel):
    """What one call did to one file.

    Attributes:
        root: the root folder of the tools.
        path: the file, relative to it.
        created: whether the file was not there before.
        after: SHA-256 of what the call left.
    """

    format: str = FORMAT
    root: str
    path: str
    session_id: SessionId
    call_id: ToolCallId
    created: bool
    after: str


class ChangeLog:
    """Recorded changes in one folder, which should lie outside of the root of the tools."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Set up; the folder is made with the first change."""
        self.folder = Path(folder).absolute()

    def record(self, change: Change, before: bytes) -> Path:
        """Write a change down before it is made; the file that holds it.

        Raises:
            OSError: it cannot be written; the change should not be made then.
        """
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self.folder / f"{time.time_ns():020}-{secrets.token_hex(4)}{_SUFFIX}"
        with open(os.open(path, _NEW, 0o600), "wb") as file:
            file.write(change.model_dump_json().encode() + b"\n" + before)
            file.flush()
            os.fsync(file.fileno())
        return path

    def newest_first(self, session_id: SessionId | None = None) -> Iterator[tuple[Path, Change]]:
        """The recorded changes, of one Session or of all; unreadable records are passed over."""
        for path in sorted(self.folder.glob(f"*{_SUFFIX}"), reverse=True):
            with suppress(OSError, ValidationError), path.open("rb") as file:
                change = Change.model_validate_json(file.readline())
                if session_id in (None, change.session_id):
                    yield path, change

    def take_back(self, path: Path) -> Change:
        """Undo a change and forget it.

        Args:
            path: the record, as `newest_first` gave it.

        Raises:
            ToolFailedError: `changed_since` if the file is not what the change left; or what keeps
                the file from being reached. Nothing is changed then.
        """
        header, _, before = path.read_bytes().partition(b"\n")
        change = Change.model_validate_json(header)
        with FileRoot(change.root).locate_exclusively(change.path) as location:
            if _was_never_made(location, change, before):
                path.unlink()
                return change
            if location.status() is None or sha256(read_whole(location)) != change.after:
                message = f"{change.path!r} was changed by somebody else since; it stays as it is"
                raise ToolFailedError("changed_since", message)
            if change.created:
                os.unlink(location.name, dir_fd=location.folder)
            else:
                replace(location, before)
        path.unlink()
        return change


def _was_never_made(location: Location, change: Change, before: bytes) -> bool:
    """Whether the process ended between the record and the change."""
    if location.status() is None:
        return change.created
    return not change.created and read_whole(location) == before
