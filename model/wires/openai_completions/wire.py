"""The wire as a whole: both halves for one server."""

from collections.abc import Mapping, Sequence

from agentslot.model.contract import ModelRequest
from agentslot.model.errors import ModelError
from agentslot.model.wire import WireRequest
from agentslot.model.wires.failure import explain_status
from agentslot.model.wires.openai_completions.decode import OpenAICompletionsDecoder
from agentslot.model.wires.openai_completions.encode import RequestEncoder
from agentslot.model.wires.openai_completions.profile import CompatibilityProfile, profile_for
from agentslot.session import AttachmentPart, AttemptId


class OpenAICompletionsWire:
    """Both halves of the wire for one server; see `agentslot.model.wire.Wire`."""

    def __init__(self, base_url: str, profile: CompatibilityProfile | None = None) -> None:
        self._base_url = base_url
        self._profile = profile
        self._encoders: dict[CompatibilityProfile, RequestEncoder] = {}

    def encode(
        self, request: ModelRequest, images: Mapping[str, bytes] | None = None
    ) -> WireRequest:
        """Build the request; `images` holds images in base64; see Wire."""
        return self._encoder(request).encode(request, images)

    def new_images(self, request: ModelRequest) -> Sequence[AttachmentPart]:
        """The images that encoding the request would show; see Wire."""
        return self._encoder(request).new_images(request)

    def _encoder(self, request: ModelRequest) -> RequestEncoder:
        profile = self._profile or profile_for(self._base_url, request.config.model)
        return self._encoders.setdefault(profile, RequestEncoder(profile))

    def decoder(self, attempt_id: AttemptId) -> OpenAICompletionsDecoder:
        """Make a decoder for the answer to one attempt."""
        return OpenAICompletionsDecoder(attempt_id)

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        """Explain an answer whose status is not 200."""
        return explain_status(status, headers, body)

    def authorization(self, secret: str) -> Mapping[str, str]:
        """The bearer token."""
        return {"authorization": f"Bearer {secret}"}
