"""Both halves of the Responses wire, as the executor uses them."""

from agentslot.model.wires.openai_responses.decode import OpenAIResponsesDecoder
from agentslot.model.wires.openai_responses.encode import RequestEncoder
from agentslot.model.wires.openai_responses.settings import ResponsesSettings
from agentslot.model.wires.usual import UsualWire
from agentslot.session import AttemptId


class OpenAIResponsesWire(UsualWire):
    """Both halves of the wire for one server; see `agentslot.model.wire.Wire`."""

    def __init__(self, settings: ResponsesSettings | None = None) -> None:
        super().__init__(RequestEncoder(settings or ResponsesSettings()))

    def decoder(self, attempt_id: AttemptId) -> OpenAIResponsesDecoder:
        """Make a decoder for the answer to one attempt."""
        return OpenAIResponsesDecoder(attempt_id)
