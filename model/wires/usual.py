"""What most wires have in common."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from agentslot.model.contract import ModelRequest
from agentslot.model.errors import ModelError
from agentslot.model.wire import WireRequest
from agentslot.model.wires.failure import explain_status
from agentslot.session import AttachmentPart


class Encoder(Protocol):
    """The half of a wire that leads to the provider."""

    def encode(self, request: ModelRequest, images: Mapping[str, bytes] | None) -> WireRequest:
        """Build the request; see Wire."""
        ...

    def new_images(self, request: ModelRequest) -> Sequence[AttachmentPart]:
        """The images that encoding the request would show; see Wire."""
        ...


class UsualWire:
    """All of a wire but its decoder; see `agentslot.model.wire.Wire`."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def encode(
        self, request: ModelRequest, images: Mapping[str, bytes] | None = None
    ) -> WireRequest:
        """Build the request; `images` holds images in base64; see Wire."""
        return self._encoder.encode(request, images)

    def new_images(self, request: ModelRequest) -> Sequence[AttachmentPart]:
        """The images that encoding the request would show; see Wire."""
        return self._encoder.new_images(request)

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        """Explain an answer whose status is not 200."""
        return explain_status(status, headers, body)

    def authorization(self, secret: str) -> Mapping[str, str]:
        """The bearer token."""
        return {"authorization": f"Bearer {secret}"}
