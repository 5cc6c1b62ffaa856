"""What most wires have in common."""

from collections.abc import Mapping, Sequence, Set
from typing import Protocol

from agentslot.model.contract import ModelRequest
from agentslot.model.errors import ModelError
from agentslot.model.wire import WireRequest
from agentslot.model.wires.attachments import NO_MEDIA, PICTURES, Media
from agentslot.model.wires.failure import explain_status
from agentslot.session import AttachmentPart


class Encoder(Protocol):
    """The half of a wire that leads to the provider."""

    def encode(self, request: ModelRequest, media: Media) -> WireRequest:
        """Build the request; see Wire."""
        ...

    def new_attachments(self, request: ModelRequest) -> Sequence[AttachmentPart]:
        """The attachments that encoding the request would show; see Wire."""
        ...


class UsualWire:
    """All of a wire but its decoder; see `agentslot.model.wire.Wire`."""

    media_types: Set[str] = PICTURES

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def encode(self, request: ModelRequest, media: Media = NO_MEDIA) -> WireRequest:
        """Build the request; see Wire."""
        return self._encoder.encode(request, media)

    def new_attachments(self, request: ModelRequest) -> Sequence[AttachmentPart]:
        """The attachments that encoding the request would show; see Wire."""
        return self._encoder.new_attachments(request)

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        """Explain an answer whose status is not 200."""
        return explain_status(status, headers, body)

    def authorization(self, secret: str) -> Mapping[str, str]:
        """The bearer token."""
        return {"authorization": f"Bearer {secret}"}
