"""Writing Session files: an acknowledged line is on the disk, a failed one leaves no trace."""

import secrets
from contextlib import suppress
from pathlib import Path

from agentslot.session.errors import ClassifiedError, ErrorKind
from agentslot.session.fileoperations import FileOperations
from agentslot.session.filereader import StoredSession
from agentslot.session.medium import UncertainError

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
        operations.flush_directory(path.parent)
    except OSError as error:
        with suppress(OSError):  # gone already if the rename succeeded
            temporary.unlink()
        raise _not_durable(path, error) from error


def append_line(operations: FileOperations, path: Path, stored: StoredSession, line: bytes) -> None:
    """Append one line and flush it; a torn tail is cut off first, a missing line feed put in.

    Raises:
        UncertainError: `unavailable/not_durable`, and the file may hold the line all the same.
        ClassifiedError: `unavailable/not_durable`: the file is as it was before.
    """
    content = b"\n" + line if stored.lacks_newline else line
    try:
        descriptor = operations.open(path)
    except OSError as error:
        raise _not_durable(path, error) from error
    try:
        if operations.size(descriptor) != stored.file_bytes:
            raise _not_ours(path)
        if stored.file_bytes > stored.whole_bytes:
            operations.truncate(descriptor, stored.whole_bytes)
            stored.file_bytes = stored.whole_bytes
        _append(operations, path, descriptor, content, stored.whole_bytes)
    except OSError as error:
        raise _not_durable(path, error) from error
    finally:
        with suppress(OSError):  # the line has been flushed or taken back; there is nothing to lose
            operations.close(descriptor)
    stored.whole_bytes += len(content)
    stored.file_bytes = stored.whole_bytes
    stored.lacks_newline = False


def _append(
    operations: FileOperations, path: Path, descriptor: int, content: bytes, offset: int
) -> None:
    try:
        _write_all(operations, descriptor, content, offset)
        operations.flush(descriptor)
    except OSError as error:
        try:
            operations.truncate(descriptor, offset)
            operations.flush(descriptor)
        except OSError as second:
            raise UncertainError(
                ErrorKind.UNAVAILABLE,
                "not_durable",
                f"{path}: {error.strerror}, and the unfinished line could not be taken back: "
                f"{second.strerror}",
            ) from error
        raise


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


def _not_ours(path: Path) -> ClassifiedError:
    return UncertainError(
        ErrorKind.UNAVAILABLE,
        "not_durable",
        f"{path} was changed by somebody else; nothing was saved",
    )
