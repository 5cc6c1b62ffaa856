"""Writing Session files: an acknowledged line is on the disk, a failed one leaves no trace."""

import secrets
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

from agentslot.session.errors import ClassifiedError, ErrorKind
from agentslot.session.fileoperations import FileOperations
from agentslot.session.filereader import StoredSession
from agentslot.session.medium import UncertainError, UnflushedError

TEMPORARY_PREFIX = ".agentslot-session-"


def create_file(operations: FileOperations, path: Path, content: bytes) -> None:
    """Put a whole new file in place, or none.

    Raises:
        ClassifiedError: `unavailable/not_durable`.
    """
    temporary = path.with_name(f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}.tmp")
    try:
        descriptor = operations.create(temporary)
        try:
            _write_all(operations, descriptor, content, 0)
            operations.flush(descriptor)
        finally:
            operations.close(descriptor)
        operations.rename(temporary, path)
    except OSError as error:
        with suppress(OSError):  # gone already if the rename succeeded
            temporary.unlink()
        raise _not_durable(path, error) from error
    try:
        operations.flush_directory(path.parent)
    except OSError as error:
        raise _not_flushed(path, f"{error.strerror}, when its name was to be flushed") from error


def flush_again(operations: FileOperations, stored: StoredSession) -> None:
    """Make sure that what a Session file shows is on the disk.

    Whoever wrote it may have died before the flush, or the flush have failed. A system takes what
    it failed to write for written, so that another flush would do nothing: what was written last
    is written once more. Nothing is begun before what is older has been flushed.

    Raises:
        ClassifiedError: `unavailable/not_durable`.
    """
    path, newest = stored.path, stored.newest
    try:
        with path.open("rb") as file:
            file.seek(newest)
            content = file.read(stored.whole_bytes - newest)
        descriptor = operations.open(path)
        try:
            _write_all(operations, descriptor, content, newest)
            operations.flush(descriptor)
        finally:
            operations.close(descriptor)
        operations.flush_directory(path.parent)
    except OSError as error:
        raise _not_flushed(path, error.strerror) from error


def append_lines(
    operations: FileOperations, lines: Iterable[tuple[StoredSession, bytes, str]]
) -> list[Exception | None]:
    """Append what one commit brings to each of some files, with their new formats, and flush them.

    All lines are written before the first is flushed, since a journaling file system makes durable
    at once what belongs to all of them.

    Returns:
        For each line None, or why it is not there: an UnflushedError if the file may hold it all
        the same, another ClassifiedError if the file is as it was before; all
        `unavailable/not_durable`.
    """
    appends = [_Append(operations, *line) for line in lines]
    errors = [_error_of(append.write) for append in appends]
    for number, append in enumerate(appends):
        errors[number] = errors[number] or _error_of(append.flush)
        append.close()
    return errors


def _error_of(step: Callable[[], None]) -> Exception | None:
    try:
        step()
    except ClassifiedError as error:
        return error
    return None


class _Append:
    """One line on its way; a torn tail is cut off first, a missing line feed put in."""

    def __init__(
        self, operations: FileOperations, stored: StoredSession, line: bytes, label: str
    ) -> None:
        self._operations = operations
        self._stored = stored
        self._label = label
        self._content = b"\n" + line if stored.lacks_newline else line
        self._descriptor = -1

    def write(self) -> None:
        """Give the line to the system."""
        operations, stored = self._operations, self._stored
        try:
            self._descriptor = operations.open(self._stored.path)
        except OSError as error:
            raise _not_durable(self._stored.path, error) from error
        with self._taken_back():
            if operations.size(self._descriptor) != stored.file_bytes:
                raise _not_ours(self._stored.path)
            if stored.file_bytes > stored.whole_bytes:
                operations.truncate(self._descriptor, stored.whole_bytes)
                stored.file_bytes = stored.whole_bytes
            _write_all(operations, self._descriptor, self._content, stored.whole_bytes)

    def flush(self) -> None:
        """Wait until the line is on the disk."""
        with self._taken_back():
            self._operations.flush(self._descriptor)
        stored = self._stored
        stored.format = self._label
        stored.whole_bytes += len(self._content)
        stored.file_bytes = stored.whole_bytes
        stored.lacks_newline = False

    def close(self) -> None:
        """Give the file back."""
        if self._descriptor >= 0:
            with suppress(OSError):  # the line is flushed or taken back; there is nothing to lose
                self._operations.close(self._descriptor)

    @contextmanager
    def _taken_back(self) -> Generator[None]:
        """If the system fails, cut off what may have been written."""
        try:
            yield
        except OSError as error:
            try:
                self._operations.truncate(self._descriptor, self._stored.whole_bytes)
                self._operations.flush(self._descriptor)
            except OSError as second:
                raise _not_flushed(
                    self._stored.path,
                    f"{error.strerror}, and the unfinished line could not be taken back: "
                    f"{second.strerror}",
                ) from error
            raise _not_durable(self._stored.path, error) from error


def _write_all(operations: FileOperations, descriptor: int, content: bytes, offset: int) -> None:
    rest = memoryview(content)
    while rest:
        written = operations.write(descriptor, rest, offset)
        if written <= 0:
            raise OSError(0, "the system took no bytes")
        rest = rest[written:]
        offset += written


def _not_durable(path: Path, error: OSError) -> ClassifiedError:
    return ClassifiedError(
        ErrorKind.UNAVAILABLE,
        "not_durable",
        f"{path} could not be written: {error.strerror}. Nothing was saved; make room or repair "
        "access, then try again",
    )


def _not_flushed(path: Path, problem: str | None) -> UnflushedError:
    return UnflushedError(
        ErrorKind.UNAVAILABLE,
        "not_durable",
        f"{path}: {problem}. Nobody knows what of the newest commit is on the disk: resume the "
        "Session, or recover it, to find out",
    )


def _not_ours(path: Path) -> ClassifiedError:
    return UncertainError(
        ErrorKind.UNAVAILABLE,
        "not_durable",
        f"{path} was changed by somebody else; nothing was saved",
    )
