"""Both halves of the wire of Gemini models, as the executor uses them."""

from collections.abc import Mapping

from agentslot.model.errors import ModelError
from agentslot.model.wires.google_generative_ai.contents import MEDIA_TYPES
from agentslot.model.wires.google_generative_ai.decode import GoogleGenerativeAIDecoder
from agentslot.model.wires.google_generative_ai.encode import RequestEncoder
from agentslot.model.wires.google_generative_ai.failure import explain_status
from agentslot.model.wires.google_generative_ai.place import VertexProject
from agentslot.model.wires.google_generative_ai.settings import GoogleSettings
from agentslot.model.wires.usual import UsualWire
from agentslot.session import AttemptId


class GoogleGenerativeAIWire(UsualWire):
    """Both halves of the wire for one server; see `agentslot.model.wire.Wire`."""

    media_types = MEDIA_TYPES

    def __init__(
        self, settings: GoogleSettings | None = None, vertex: VertexProject | None = None
    ) -> None:
        """Take the settings, and the project in Google Cloud; None asks AI Studio."""
        self._vertex = vertex
        super().__init__(RequestEncoder(settings or GoogleSettings(), vertex))

    def decoder(self, attempt_id: AttemptId) -> GoogleGenerativeAIDecoder:
        """Make a decoder for the answer to one attempt."""
        return GoogleGenerativeAIDecoder(attempt_id)

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        """Explain an answer whose status is not 200."""
        return explain_status(status, headers, body)

    def authorization(self, secret: str) -> Mapping[str, str]:
        """The key of AI Studio, or the access token of Google Cloud."""
        if self._vertex is not None:
            return super().authorization(secret)
        return {"x-goog-api-key": secret}
