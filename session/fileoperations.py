"""What a store does to files: one method for each system call, so that tests can make one fail."""

import os
from pathlib import Path


class FileOperations:
    """The real thing."""

    def open(self, path: Path) -> int:
        """Open an existing file for writing; the descriptor."""
        return os.open(path, os.O_WRONLY | os.O_CLOEXEC)

    def create(self, path: Path) -> int:
        """Create a file that nobody else may read, and that must not be there yet."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)

    def size(self, descriptor: int) -> int:
        """Length of the file in bytes."""
        return os.fstat(descriptor).st_size

    def write(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        """Write at an offset; how many bytes were taken."""
        return os.pwrite(descriptor, data, offset)

    def flush(self, descriptor: int) -> None:
        """Return when the content, and the length, are on the disk."""
        os.fdatasync(descriptor)

    def truncate(self, descriptor: int, size: int) -> None:
        """Cut the file."""
        os.ftruncate(descriptor, size)

    def close(self, descriptor: int) -> None:
        """Give the descriptor back."""
        os.close(descriptor)

    def rename(self, source: Path, target: Path) -> None:
        """Put a file in its final place."""
        source.rename(target)

    def flush_directory(self, directory: Path) -> None:
        """Return when the names in the directory are on the disk."""
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
