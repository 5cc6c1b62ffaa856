"""Images and audio in requests: shown if their content is at hand, else named in a line."""

import hashlib
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from agentslot.model.rendering import render_attachment, render_result
from agentslot.model.transcript import Input
from agentslot.session import AttachmentPart, Message, Modality, ToolResult

PICTURES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""Media types of the images that most providers read."""

_MODALITIES = {"image": Modality.IMAGE, "audio": Modality.AUDIO}
_PLURALS = {Modality.IMAGE: "images", Modality.AUDIO: "audio"}
_MARK = f"content-{secrets.token_hex(16)}-"
"""Begins what stands for the content of an attachment while its message is encoded. Nobody can
guess it, so no text of a message holds it."""
_MARKED = re.compile(rb"%s[0-9a-f]{32}" % _MARK.encode())


def modality_of(media_type: str) -> Modality | None:
    """What a model must read to be shown content of that type; None if no model is shown any."""
    return _MODALITIES.get(media_type.partition("/")[0])


@dataclass(frozen=True, slots=True)
class Media:
    """What can be shown of the attachments in a request; nothing by default.

    Attributes:
        content: artifacts in base64, by id.
        reads: what the model reads.
    """

    content: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    reads: Set[Modality] = frozenset()


NO_MEDIA = Media()
"""Nothing is shown."""


@dataclass(frozen=True, slots=True)
class Attachments:
    """The attachments that a request can show.

    Attributes:
        media: their content.
        types: media types that the provider reads.
    """

    media: Media
    types: Set[str] = PICTURES

    def shows(self, part: object) -> bool:
        """Whether a part is an attachment that can be shown."""
        return (
            isinstance(part, AttachmentPart)
            and part.media_type in self.types
            and modality_of(part.media_type) in self.media.reads
            and part.artifact_id in self.media.content
        )

    def base64(self, part: AttachmentPart) -> str:
        """What stands for the content of a shown attachment until `fill` has put that in.

        Content is large: it is copied into what is encoded, and never encoded itself.
        """
        return _mark(part.artifact_id)

    def fill(self, encoded: bytes) -> bytes:
        """An encoded message with the content of its attachments."""
        content = self.media.content
        if not content:
            return encoded
        by_mark = {_mark(artifact_id).encode(): data for artifact_id, data in content.items()}
        return _MARKED.sub(lambda found: by_mark[found[0]], encoded)

    def of_result(self, result: ToolResult | None) -> Sequence[AttachmentPart]:
        """What a tool made that can be shown."""
        return [part for part in _made(result) if self.shows(part)]

    def in_place_of(self, part: AttachmentPart) -> str:
        """The text that stands for an attachment which is not shown."""
        return render_attachment(part, self._why_omitted(part))

    def result_text(self, result: ToolResult | None) -> str:
        """The text of a result, which also says why what belongs to it is not shown."""
        hidden = [part for part in _made(result) if not self.shows(part)]
        return render_result(result, {part.artifact_id: self._why_omitted(part) for part in hidden})

    def _why_omitted(self, part: AttachmentPart) -> str:
        """In brackets behind what names the attachment; empty if no model is shown such a thing."""
        modality = modality_of(part.media_type)
        if modality is None:
            return ""
        if modality not in self.media.reads:
            why = f"model does not support {_PLURALS[modality]}"
        elif part.media_type not in self.types:
            why = f"model does not support {part.media_type}"
        else:
            why = "it is not stored any more, or too large to send"
        return f" ({modality} omitted: {why})"


def attachments_in(inputs: Iterable[Input], types: Set[str] = PICTURES) -> list[AttachmentPart]:
    """The attachments of messages and results that have one of the media types."""
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
