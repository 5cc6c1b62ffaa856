"""Replacing or creating a file: the new content is there completely or not at all."""

import hashlib
import os
import secrets
from contextlib import suppress

from agentslot.tool.errors import ToolFailedError
from agentslot.tool.files.containment import Location

MAX_BYTES = 64 * 1024 * 1024
"""Files larger than this are neither hashed nor edited; 64 MiB."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def sha256(content: bytes) -> str:
    """SHA-256 of a file's content as 64 hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def read_whole(location: Location) -> bytes:
    """Content of a file that is to be edited.

    Raises:
        ToolFailedError: `too_large` above MAX_BYTES.
    """
    with open(location.open(), "rb") as file:
        if os.fstat(file.fileno()).st_size > MAX_BYTES:
            raise ToolFailedError(
                "too_large",
                f"{location.path!r} is larger than {MAX_BYTES} bytes; use a stream editor",
            )
        return file.read()


def require_unchanged(location: Location, content: bytes, expected: str) -> None:
    """Refuse if the content is not the one with the expected hash.

    Raises:
        ToolFailedError: `stale_content`.
    """
    if sha256(content) != expected.strip().lower():
        raise ToolFailedError(
            "stale_content",
            f"{location.path!r} is not what expected_sha256 says; read it again and use the "
            "sha256 of that read",
        )


def replace(location: Location, content: bytes) -> None:
    """Put `content` at `location`: a temporary file beside it, flushed, then renamed.

    A file that was there keeps its mode and, if the process may, its owner. Rename replaces a
    link that appeared there meanwhile; it never writes through it.
    """
    before = location.status()
    temporary = f".agentslot-{secrets.token_hex(8)}.tmp"
    descriptor = os.open(temporary, _NEW, 0o666, dir_fd=location.folder)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if before is not None:
                _keep_owner_and_mode(descriptor, before)
            os.fsync(descriptor)
        os.rename(
            temporary,
            location.name,
            src_dir_fd=location.folder,
            dst_dir_fd=location.folder,
        )
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=location.folder)
        raise
    _flush_folder(location.folder)


def _keep_owner_and_mode(descriptor: int, before: os.stat_result) -> None:
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        with suppress(PermissionError):
            os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, before.st_mode & 0o7777)


def _flush_folder(folder: int) -> None:
    with suppress(PermissionError):  # a folder one may write but not read cannot be flushed
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
