"""Images in requests: shown if the content of the artifact is at hand, else named in a line."""

import hashlib
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agentslot.model.rendering import render_attachment, render_result
from agentslot.model.transcript import Input
from agentslot.session import AttachmentPart, Message, ToolResult

PICTURES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""Media types of the images that most providers read."""

_MARK = f"image-{secrets.token_hex(16)}-"
"""Begins what stands for the content of an image while its message is encoded. Nobody can guess it,
so no text of a message holds it."""
_MARKED = re.compile(rb"%s[0-9a-f]{32}" % _MARK.encode())


@dataclass(frozen=True, slots=True)
class Pictures:
    """The images that a request can show.

    Attributes:
        content: image artifacts in base64, by id; None if the model reads no images.
        types: media types that the provider reads.
    """

    content: Mapping[str, bytes] | None
    types: frozenset[str] = PICTURES

    def shows(self, part: object) -> bool:
        """Whether a part is an image that can be shown."""
        return (
            isinstance(part, AttachmentPart)
            and self.content is not None
            and part.media_type in self.types
            and part.artifact_id in self.content
        )

    def base64(self, part: AttachmentPart) -> str:
        """What stands for the content of a shown image until `fill` has put that in.

        Images are large: their content is copied into what is encoded, and never encoded itself.
        """
        return _mark(part.artifact_id)

    def fill(self, encoded: bytes) -> bytes:
        """An encoded message with the content of its images."""
        if not self.content:
            return encoded
        by_mark = {_mark(artifact_id).encode(): data for artifact_id, data in self.content.items()}
        return _MARKED.sub(lambda found: by_mark[found[0]], encoded)

    def of_result(self, result: ToolResult | None) -> Sequence[AttachmentPart]:
        """The images that a tool made."""
        return [part for part in _made(result) if self.shows(part)]

    def in_place_of(self, part: AttachmentPart) -> str:
        """The text that stands for an attachment which is not shown."""
        return render_attachment(part, self._why_omitted(part))

    def result_text(self, result: ToolResult | None) -> str:
        """The text of a result, which also says why an image that belongs to it is not shown."""
        hidden = [part for part in _made(result) if not self.shows(part)]
        return render_result(result, {part.artifact_id: self._why_omitted(part) for part in hidden})

    def _why_omitted(self, part: AttachmentPart) -> str:
        """In brackets behind what names the attachment; empty if it is no image."""
        if not part.media_type.startswith("image/"):
            return ""
        if self.content is None:
            return " (image omitted: model does not support images)"
        if part.media_type not in self.types:
            return f" (image omitted: model does not support {part.media_type})"
        return " (image omitted: it is not stored any more, or too large to send)"


def images_in(inputs: Iterable[Input], types: frozenset[str] = PICTURES) -> list[AttachmentPart]:
    """The images of messages and results that have one of the media types."""
    found: list[AttachmentPart] = []
    for each in inputs:
        if isinstance(each, Message):
            found += [part for part in each.parts if isinstance(part, AttachmentPart)]
        elif isinstance(each, ToolResult):
            found += _made(each)
    return [part for part in found if part.media_type in types]


def _made(result: ToolResult | None) -> list[AttachmentPart]:
    artifacts = () if result is None else result.artifacts
    return [AttachmentPart(made.id, made.media_type, made.name) for made in artifacts]


def _mark(artifact_id: str) -> str:
    digest = hashlib.blake2b(artifact_id.encode(errors="replace"), digest_size=16)
    return _MARK + digest.hexdigest()
