"""The wire as a whole: both halves for one server."""

from collections.abc import Sequence

from agentslot.model.contract import ModelRequest
from agentslot.model.wire import WireRequest
from agentslot.model.wires.attachments import Media
from agentslot.model.wires.caching import CacheRetention
from agentslot.model.wires.openai_completions.decode import OpenAICompletionsDecoder
from agentslot.model.wires.openai_completions.encode import RequestEncoder
from agentslot.model.wires.openai_completions.messages import MEDIA_TYPES
from agentslot.model.wires.openai_completions.profile import CompatibilityProfile, profile_for
from agentslot.model.wires.usual import UsualWire
from agentslot.session import AttachmentPart, AttemptId


class _EncodersByProfile:
    """Encodes each request as the server of its model wants it."""

    def __init__(
        self,
        base_url: str,
        profile: CompatibilityProfile | None,
        service_tier: str | None,
        cache: CacheRetention,
    ) -> None:
        self._base_url = base_url
        self._profile = profile
        self._service_tier = service_tier
        self._cache = cache
        self._encoders: dict[CompatibilityProfile, RequestEncoder] = {}

    def encode(self, request: ModelRequest, media: Media) -> WireRequest:
        return self._of(request).encode(request, media)

    def new_attachments(self, request: ModelRequest) -> Sequence[AttachmentPart]:
        return self._of(request).new_attachments(request)

    def _of(self, request: ModelRequest) -> RequestEncoder:
        profile = self._profile_of(request.config.model)
        if profile not in self._encoders:
            self._encoders[profile] = RequestEncoder(profile, self._service_tier, self._cache)
        return self._encoders[profile]

    def hour_of_cache(self, model: str) -> bool:
        """Whether that model is asked to keep for an hour what it writes to its cache."""
        if self._cache is not CacheRetention.LONG:
            return False
        return self._profile_of(model).retention(self._cache) is CacheRetention.LONG

    def _profile_of(self, model: str) -> CompatibilityProfile:
        return self._profile or profile_for(self._base_url, model)


class OpenAICompletionsWire(UsualWire):
    """Both halves of the wire for one server; see `agentslot.model.wire.Wire`."""

    media_types = MEDIA_TYPES

    def __init__(
        self,
        base_url: str,
        profile: CompatibilityProfile | None = None,
        service_tier: str | None = None,
        cache: CacheRetention = CacheRetention.SHORT,
    ) -> None:
        self._by_profile = _EncodersByProfile(base_url, profile, service_tier, cache)
        super().__init__(self._by_profile)

    def decoder(self, attempt_id: AttemptId) -> OpenAICompletionsDecoder:
        """Make a decoder for the answer to one attempt."""
        return OpenAICompletionsDecoder(attempt_id, hour_of_cache=self._by_profile.hour_of_cache)
