"""Both halves of the Messages wire, as the executor uses them."""

from collections.abc import Mapping

from agentslot.model.wires.anthropic_messages.decode import AnthropicMessagesDecoder
from agentslot.model.wires.anthropic_messages.encode import RequestEncoder
from agentslot.model.wires.anthropic_messages.settings import AnthropicSettings, KeyHeader
from agentslot.model.wires.usual import UsualWire
from agentslot.session import AttemptId


class AnthropicMessagesWire(UsualWire):
    """Both halves of the wire for one server; see `agentslot.model.wire.Wire`."""

    def __init__(
        self,
        settings: AnthropicSettings | None = None,
        max_output: Mapping[str, int] | None = None,
    ) -> None:
        """Take the settings, and the largest output in tokens of models where it is known."""
        self._settings = settings or AnthropicSettings()
        super().__init__(RequestEncoder(self._settings, max_output or {}))

    def decoder(self, attempt_id: AttemptId) -> AnthropicMessagesDecoder:
        """Make a decoder for the answer to one attempt."""
        return AnthropicMessagesDecoder(attempt_id)

    def authorization(self, secret: str) -> Mapping[str, str]:
        """The key, in the header field of the settings."""
        if self._settings.key_header is KeyHeader.X_API_KEY:
            return {"x-api-key": secret}
        return super().authorization(secret)
