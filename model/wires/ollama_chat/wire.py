"""Both halves of Ollama's wire, as the executor uses them."""

from collections.abc import Mapping

from agentslot.model.wires.ollama_chat.decode import OllamaChatDecoder
from agentslot.model.wires.ollama_chat.encode import RequestEncoder
from agentslot.model.wires.ollama_chat.messages import PICTURES
from agentslot.model.wires.ollama_chat.settings import OllamaSettings
from agentslot.model.wires.usual import UsualWire
from agentslot.session import AttemptId


class OllamaChatWire(UsualWire):
    """Both halves of the wire for one server; see `agentslot.model.wire.Wire`."""

    media_types = PICTURES

    def __init__(
        self,
        settings: OllamaSettings | None = None,
        windows: Mapping[str, int] | None = None,
    ) -> None:
        """Take the settings, and the context window in tokens of models where it is known."""
        super().__init__(RequestEncoder(settings or OllamaSettings(), windows or {}))

    def decoder(self, attempt_id: AttemptId) -> OllamaChatDecoder:
        """Make a decoder for the answer to one attempt."""
        return OllamaChatDecoder(attempt_id)
