"""Both halves of Ollama's wire, as the executor uses them."""

from collections.abc import Mapping, Sequence

from agentslot.model.contract import ModelRequest
from agentslot.model.errors import ModelError
from agentslot.model.wire import WireRequest
from agentslot.model.wires.failure import explain_status
from agentslot.model.wires.ollama_chat.decode import OllamaChatDecoder
from agentslot.model.wires.ollama_chat.encode import RequestEncoder
from agentslot.model.wires.ollama_chat.settings import OllamaSettings
from agentslot.session import AttachmentPart, AttemptId


class OllamaChatWire:
    """Both halves of the wire for one server; see `agentslot.model.wire.Wire`."""

    def __init__(
        self,
        settings: OllamaSettings | None = None,
        windows: Mapping[str, int] | None = None,
    ) -> None:
        """Take the settings, and the context window in tokens of models where it is known."""
        self._encoder = RequestEncoder(settings or OllamaSettings(), windows or {})

    def encode(
        self, request: ModelRequest, images: Mapping[str, bytes] | None = None
    ) -> WireRequest:
        """Build the request; `images` holds images in base64; see Wire."""
        return self._encoder.encode(request, images)

    def new_images(self, request: ModelRequest) -> Sequence[AttachmentPart]:
        """The images that encoding the request would show; see Wire."""
        return self._encoder.new_images(request)

    def decoder(self, attempt_id: AttemptId) -> OllamaChatDecoder:
        """Make a decoder for the answer to one attempt."""
        return OllamaChatDecoder(attempt_id)

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        """Explain an answer whose status is not 200."""
        return explain_status(status, headers, body)

    def authorization(self, secret: str) -> Mapping[str, str]:
        """A bearer token, for a server behind a gateway; Ollama itself asks for none."""
        return {"authorization": f"Bearer {secret}"}
