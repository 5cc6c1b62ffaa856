"""Both halves of the Messages wire, as the executor uses them."""

from collections.abc import Mapping, Sequence

from agentslot.model.contract import ModelRequest
from agentslot.model.errors import ModelError
from agentslot.model.wire import WireRequest
from agentslot.model.wires.anthropic_messages.decode import AnthropicMessagesDecoder
from agentslot.model.wires.anthropic_messages.encode import RequestEncoder
from agentslot.model.wires.anthropic_messages.settings import AnthropicSettings, KeyHeader
from agentslot.model.wires.failure import explain_status
from agentslot.session import AttachmentPart, AttemptId


class AnthropicMessagesWire:
    """Both halves of the wire for one server; see `agentslot.model.wire.Wire`."""

    def __init__(
        self,
        settings: AnthropicSettings | None = None,
        max_output: Mapping[str, int] | None = None,
    ) -> None:
        """Take the settings, and the largest output in tokens of models where it is known."""
        self._settings = settings or AnthropicSettings()
        self._encoder = RequestEncoder(self._settings, max_output or {})

    def encode(
        self, request: ModelRequest, images: Mapping[str, bytes] | None = None
    ) -> WireRequest:
        """Build the request; `images` holds images in base64; see Wire."""
        return self._encoder.encode(request, images)

    def new_images(self, request: ModelRequest) -> Sequence[AttachmentPart]:
        """The images that encoding the request would show; see Wire."""
        return self._encoder.new_images(request)

    def decoder(self, attempt_id: AttemptId) -> AnthropicMessagesDecoder:
        """Make a decoder for the answer to one attempt."""
        return AnthropicMessagesDecoder(attempt_id)

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        """Explain an answer whose status is not 200."""
        return explain_status(status, headers, body)

    def authorization(self, secret: str) -> Mapping[str, str]:
        """The key, in the header field of the settings."""
        if self._settings.key_header is KeyHeader.X_API_KEY:
            return {"x-api-key": secret}
        return {"authorization": f"Bearer {secret}"}
