"""Artifacts in memory and in files."""

import os
import re
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import anyio.to_thread

from agentslot import Module
from agentslot._json import JsonError, dumps, loads
from agentslot.session.artifact import (
    ARTIFACT_STORE,
    Artifact,
    artifact_not_found,
    describe_artifact,
)
from agentslot.session.errors import ClassifiedError, ErrorKind
from agentslot.session.fileoperations import FileOperations
from agentslot.session.toolcall import ArtifactMetadata

FORMAT = "agentslot.artifact-file/v1"
MAX_HEADER_BYTES = 64 * 1024

_ID = re.compile(r"[0-9a-f]{64}")


class MemoryArtifacts:
    """Keeps artifacts in memory: gone when the process ends."""

    def __init__(self) -> None:
        self._artifacts: dict[str, Artifact] = {}

    async def write(self, media_type: str, name: str, body: bytes) -> ArtifactMetadata:
        """Keep content."""
        metadata = describe_artifact(media_type, name, body)
        self._artifacts.setdefault(metadata.id, Artifact(metadata, bytes(body)))
        return metadata

    async def open(self, artifact_id: str) -> Artifact:
        """Read an artifact."""
        try:
            return self._artifacts[artifact_id]
        except KeyError:
            raise artifact_not_found(artifact_id) from None


class FileArtifacts:
    """Keeps each artifact as a file in one folder: a line of JSON, then the content.

    Several processes may use one folder: files are put in place whole, and never change.

    Args:
        directory: where the files lie; made with the first one.
        operations: the system calls; others in tests.
    """

    def __init__(self, directory: str | Path, operations: FileOperations | None = None) -> None:
        self._directory = Path(directory).absolute()
        self._operations = operations or FileOperations()

    async def write(self, media_type: str, name: str, body: bytes) -> ArtifactMetadata:
        """Keep content."""
        return await anyio.to_thread.run_sync(self._write, media_type, name, bytes(body))

    async def open(self, artifact_id: str) -> Artifact:
        """Read an artifact."""
        return await anyio.to_thread.run_sync(self._read, artifact_id)

    def _write(self, media_type: str, name: str, body: bytes) -> ArtifactMetadata:
        metadata = describe_artifact(media_type, name, body)
        if self._path(metadata.id).exists():
            return self._read(metadata.id).metadata
        try:
            self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._put(self._path(metadata.id), _header(metadata) + body)
        except OSError as error:
            message = f"the artifact was not stored: {error.strerror} in {self._directory}"
            raise ClassifiedError(
                ErrorKind.UNAVAILABLE, "artifacts_unavailable", message
            ) from error
        return metadata

    def _put(self, path: Path, content: bytes) -> None:
        staged = path.with_name(f".{uuid4().hex}.tmp")
        descriptor = self._operations.create(staged)
        try:
            try:
                written = 0
                while written < len(content):
                    rest = memoryview(content)[written:]
                    written += self._operations.write(descriptor, rest, written)
                self._operations.flush(descriptor)
            finally:
                self._operations.close(descriptor)
            self._operations.rename(staged, path)
            self._operations.flush_directory(self._directory)
        except BaseException:
            with suppress(OSError):
                staged.unlink()
            raise

    def _read(self, artifact_id: str) -> Artifact:
        if not _ID.fullmatch(artifact_id):
            raise artifact_not_found(artifact_id)
        path = self._path(artifact_id)
        try:
            with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
                header = file.readline(MAX_HEADER_BYTES)
                body = file.read()
        except FileNotFoundError:
            raise artifact_not_found(artifact_id) from None
        except OSError as error:
            message = f"{path} cannot be read: {error.strerror}"
            raise ClassifiedError(
                ErrorKind.UNAVAILABLE, "artifacts_unavailable", message
            ) from error
        metadata = _described(header, body)
        if metadata is None or metadata.id != artifact_id:
            message = f"{path} is not what was written there: restore it from a copy, or delete it"
            raise ClassifiedError(ErrorKind.INTERNAL, "artifact_damaged", message)
        return Artifact(metadata, body)

    def _path(self, artifact_id: str) -> Path:
        return self._directory / f"{artifact_id}.artifact"


def _header(metadata: ArtifactMetadata) -> bytes:
    fields = {
        "format": FORMAT,
        "id": metadata.id,
        "media_type": metadata.media_type,
        "name": metadata.name,
        "size": metadata.size,
    }
    return dumps(fields).encode() + b"\n"


def _described(header: bytes, body: bytes) -> ArtifactMetadata | None:
    """The metadata that header and content agree on; None if they do not."""
    try:
        fields = loads(header.decode())
        if not isinstance(fields, dict):
            return None
        metadata = describe_artifact(str(fields.get("media_type")), str(fields.get("name")), body)
    except (JsonError, UnicodeError, ClassifiedError):
        return None
    return metadata if _header(metadata) == header else None


class MemoryArtifactsModule(Module):
    """Artifacts in memory."""

    def __init__(self) -> None:
        super().__init__("artifact.memory", ARTIFACT_STORE.set(MemoryArtifacts()))


class FileArtifactsModule(Module):
    """Artifacts as files in one folder."""

    def __init__(self, directory: str | Path) -> None:
        """Declare the store; the folder is made with the first artifact."""
        super().__init__("artifact.file", ARTIFACT_STORE.set(FileArtifacts(directory)))
