"""Both halves of the Responses wire, as the executor uses them."""

from collections.abc import Mapping, Sequence

from agentslot.model.contract import ModelRequest
from agentslot.model.errors import ModelError
from agentslot.model.wire import WireRequest
from agentslot.model.wires.failure import explain_status
from agentslot.model.wires.openai_responses.decode import OpenAIResponsesDecoder
from agentslot.model.wires.openai_responses.encode import RequestEncoder
from agentslot.model.wires.openai_responses.settings import ResponsesSettings
from agentslot.session import AttachmentPart, AttemptId


class OpenAIResponsesWire:
    """Both halves of the wire for one server; see `agentslot.model.wire.Wire`."""

    def __init__(self, settings: ResponsesSettings | None = None) -> None:
        self._encoder = RequestEncoder(settings or ResponsesSettings())

    def encode(
        self, request: ModelRequest, images: Mapping[str, bytes] | None = None
    ) -> WireRequest:
        """Build the request; `images` holds images in base64; see Wire."""
        return self._encoder.encode(request, images)

    def new_images(self, request: ModelRequest) -> Sequence[AttachmentPart]:
        """The images that encoding the request would show; see Wire."""
        return self._encoder.new_images(request)

    def decoder(self, attempt_id: AttemptId) -> OpenAIResponsesDecoder:
        """Make a decoder for the answer to one attempt."""
        return OpenAIResponsesDecoder(attempt_id)

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        """Explain an answer whose status is not 200."""
        return explain_status(status, headers, body)

    def authorization(self, secret: str) -> Mapping[str, str]:
        """The bearer token."""
        return {"authorization": f"Bearer {secret}"}
