"""Both halves of the wire of Gemini models, as the executor uses them."""

from collections.abc import Mapping, Sequence

from agentslot.model.contract import ModelRequest
from agentslot.model.errors import ModelError
from agentslot.model.wire import WireRequest
from agentslot.model.wires.google_generative_ai.decode import GoogleGenerativeAIDecoder
from agentslot.model.wires.google_generative_ai.encode import RequestEncoder
from agentslot.model.wires.google_generative_ai.failure import explain_status
from agentslot.model.wires.google_generative_ai.place import VertexProject
from agentslot.model.wires.google_generative_ai.settings import GoogleSettings
from agentslot.session import AttachmentPart, AttemptId


class GoogleGenerativeAIWire:
    """Both halves of the wire for one server; see `agentslot.model.wire.Wire`."""

    def __init__(
        self, settings: GoogleSettings | None = None, vertex: VertexProject | None = None
    ) -> None:
        """Take the settings, and the project in Google Cloud; None asks AI Studio."""
        self._vertex = vertex
        self._encoder = RequestEncoder(settings or GoogleSettings(), vertex)

    def encode(
        self, request: ModelRequest, images: Mapping[str, bytes] | None = None
    ) -> WireRequest:
        """Build the request; `images` holds images in base64; see Wire."""
        return self._encoder.encode(request, images)

    def new_images(self, request: ModelRequest) -> Sequence[AttachmentPart]:
        """The images that encoding the request would show; see Wire."""
        return self._encoder.new_images(request)

    def decoder(self, attempt_id: AttemptId) -> GoogleGenerativeAIDecoder:
        """Make a decoder for the answer to one attempt."""
        return GoogleGenerativeAIDecoder(attempt_id)

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        """Explain an answer whose status is not 200."""
        return explain_status(status, headers, body)

    def authorization(self, secret: str) -> Mapping[str, str]:
        """The key of AI Studio, or the access token of Google Cloud."""
        if self._vertex is not None:
            return {"authorization": f"Bearer {secret}"}
        return {"x-goog-api-key": secret}
