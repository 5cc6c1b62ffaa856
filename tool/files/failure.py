"""What the model is told when the operating system refuses a path."""

import errno
from collections.abc import Generator
from contextlib import contextmanager

from agentslot.tool.errors import ToolFailedError

_KNOWN = {
    errno.ENOENT: ("not_found", "does not exist; check the spelling or list the folder"),
    errno.ENOTDIR: ("not_a_folder", "is no folder, or passes through something that is none"),
    errno.EISDIR: ("is_a_folder", "is a folder; name a file in it"),
    errno.EACCES: ("permission_denied", "may not be accessed by this process"),
    errno.EPERM: ("permission_denied", "may not be accessed by this process"),
    errno.EROFS: ("permission_denied", "lies on a read-only file system"),
    errno.ELOOP: ("path_changed", "was replaced by a link in this moment; try again"),
    errno.ENAMETOOLONG: ("invalid_path", "is too long a name"),
    errno.ENOSPC: ("disk_full", "cannot be written: the disk is full"),
}


@contextmanager
def reported(path: str) -> Generator[None]:
    """Turn an OSError on `path` into a failure with a code; the path is shown as it was asked."""
    try:
        yield
    except OSError as error:
        code, reason = _KNOWN.get(
            error.errno or 0, ("io_error", f"failed: {error.strerror or 'input/output error'}")
        )
        raise ToolFailedError(code, f"{path!r} {reason}") from error
