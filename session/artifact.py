"""Artifacts: large or binary content that History only refers to."""

import hashlib
import re
from dataclasses import dataclass
from typing import Protocol

from agentslot import One
from agentslot.session.errors import ClassifiedError, ErrorKind
from agentslot.session.text import is_safe_line
from agentslot.session.toolcall import ArtifactMetadata

MAX_NAME_BYTES = 255

_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}")


@dataclass(frozen=True, slots=True)
class Artifact:
    """One artifact with its content."""

    metadata: ArtifactMetadata
    body: bytes


class ArtifactStore(Protocol):
    """Keeps artifacts. They never change, and nothing tells where they lie."""

    async def write(self, media_type: str, name: str, body: bytes) -> ArtifactMetadata:
        """Keep content; it is durable when this returns.

        The same content under the same name and type is one artifact.

        Args:
            media_type: what it is, in lower case and without parameters: `image/png`.
            name: how to call it when it is shown: one line, or empty.
            body: the content.

        Raises:
            ClassifiedError: `invalid_input/invalid_artifact` for a malformed type or name,
                `unavailable/artifacts_unavailable` if it cannot be stored.
        """
        ...

    async def open(self, artifact_id: str) -> Artifact:
        """Read an artifact.

        Raises:
            ClassifiedError: `not_found/artifact_not_found`, or `internal/artifact_damaged` if what
                is stored is not what was written.
        """
        ...


ARTIFACT_STORE = One[ArtifactStore]("artifact.store", filled_by="FileArtifactsModule(directory)")


def is_media_type(text: str) -> bool:
    """Whether that is a media type in lower case and without parameters."""
    return _MEDIA_TYPE.fullmatch(text) is not None


def describe_artifact(media_type: str, name: str, body: bytes) -> ArtifactMetadata:
    """What is known of content: its id is a digest of type, name and content.

    Raises:
        ClassifiedError: `invalid_input/invalid_artifact`.
    """
    if not is_media_type(media_type):
        raise _invalid(f"{media_type!r} is no media type like 'image/png'")
    if not is_safe_line(name, MAX_NAME_BYTES):
        raise _invalid(f"the name {name!r} is not one short line")
    digest = hashlib.sha256(b"\0".join((media_type.encode(), name.encode(), body)))
    return ArtifactMetadata(digest.hexdigest(), media_type, name, len(body))


def artifact_not_found(artifact_id: str) -> ClassifiedError:
    """The refusal of an id that nobody wrote."""
    message = f"there is no artifact {artifact_id[:80]!r}: take the id from the result that has it"
    return ClassifiedError(ErrorKind.NOT_FOUND, "artifact_not_found", message)


def _invalid(reason: str) -> ClassifiedError:
    return ClassifiedError(
        ErrorKind.INVALID_INPUT, "invalid_artifact", f"the artifact cannot be kept: {reason}"
    )
