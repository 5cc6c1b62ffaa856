"""Images in requests: shown if the content of the artifact is at hand, else named in a line."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentslot.session import AttachmentPart, ToolResult

_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})


@dataclass(frozen=True, slots=True)
class Pictures:
    """The images that a request can show.

    Attributes:
        content: bytes of image artifacts by id.
        types: media types that the provider reads.
    """

    content: Mapping[str, bytes]
    types: frozenset[str] = _TYPES

    def shows(self, part: object) -> bool:
        """Whether a part is an image that can be shown."""
        return (
            isinstance(part, AttachmentPart)
            and part.media_type in self.types
            and part.artifact_id in self.content
        )

    def base64(self, part: AttachmentPart) -> str:
        """The content of a shown image, as it stands in JSON."""
        return base64.b64encode(self.content[part.artifact_id]).decode()

    def of_result(self, result: ToolResult | None) -> Sequence[AttachmentPart]:
        """The images that a tool made."""
        artifacts = () if result is None else result.artifacts
        parts = [AttachmentPart(made.id, made.media_type, made.name) for made in artifacts]
        return [part for part in parts if self.shows(part)]
