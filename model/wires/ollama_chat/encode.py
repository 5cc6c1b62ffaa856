"""Encoding requests: only what is new in a conversation is encoded, the rest is bytes already."""

from collections.abc import Mapping, Sequence

from agentslot._json import JsonValue, dumps, replace_lone_surrogates
from agentslot.model.contract import ModelRequest
from agentslot.model.wire import WireRequest
from agentslot.model.wires.attachments import Attachments, Media, attachments_in
from agentslot.model.wires.ollama_chat.messages import PICTURES, MessageEncoder, user_message
from agentslot.model.wires.ollama_chat.settings import OllamaSettings
from agentslot.model.wires.outputschema import native_output, schema_of
from agentslot.model.wires.prefix import EncodedPrefix, PerConversation, ToolsText
from agentslot.model.wires.reading import JsonObject
from agentslot.session import AttachmentPart, Reasoning, Role, ToolDefinition

_END = b"]}"
_PATH = "/api/chat"
_EFFORTS = {
    Reasoning.LOW: "low",
    Reasoning.MEDIUM: "medium",
    Reasoning.HIGH: "high",
    Reasoning.XHIGH: "high",
    Reasoning.MAX: "high",
}


class RequestEncoder:
    """Encodes requests for one server."""

    def __init__(self, settings: OllamaSettings, windows: Mapping[str, int]) -> None:
        """Take the settings, and the context window of each model that has a known one."""
        self._settings = settings
        self._windows = windows
        self._prefixes: PerConversation[EncodedPrefix[Role | None]] = PerConversation(
            lambda: EncodedPrefix(None)
        )
        self._tools = ToolsText(_tool)

    def encode(self, request: ModelRequest, media: Media) -> WireRequest:
        """Build the request.

        Args:
            request: what to ask.
            media: what attachments can be shown of it; see Wire.
        """
        config = request.config
        attachments = Attachments(media, PICTURES)
        encoder = MessageEncoder(config.provider, config.model, attachments)
        turns = self._prefixes.of(request).extend(request.inputs, encoder.encode, attachments.fill)
        head = self._head(request)
        if turns.state is Role.USER:
            body = turns.join(head, _END)
            return WireRequest(_PATH, body, stable=len(body) - len(_END), turns=turns.digests)
        # Without a user's message the server only loads the model, or goes on with the last one.
        last = user_message("Continue.").encode()[:-1] + _END
        body = turns.join(head, last, cut=0)
        return WireRequest(_PATH, body, stable=len(body) - len(last), turns=turns.digests)

    def new_attachments(self, request: ModelRequest) -> Sequence[AttachmentPart]:
        """The attachments that encoding the request would show; see Wire."""
        return attachments_in(self._prefixes.of(request).fresh(request.inputs), PICTURES)

    def _head(self, request: ModelRequest) -> bytes:
        config, settings = request.config, self._settings
        window = self._windows.get(config.model) or settings.context_window_tokens
        options: JsonObject = {"num_ctx": window}
        if config.max_tokens is not None:
            options["num_predict"] = config.max_tokens
        if config.temperature is not None:
            options["temperature"] = config.temperature
        if config.stop_sequences:
            options["stop"] = list[JsonValue](config.stop_sequences)
        head: JsonObject = {"model": config.model, "stream": True, "options": options}
        if config.reasoning in _EFFORTS:
            head["think"] = _EFFORTS[config.reasoning]
        if settings.keep_alive is not None:
            head["keep_alive"] = settings.keep_alive
        if output := native_output(request):
            head["format"] = schema_of(output)
        tools = f',"tools":{self._tools.of(request.tools)}' if request.tools else ""
        text = f'{dumps(head)[:-1]}{tools},"messages":['
        if request.system_prompt and request.system_prompt.strip():
            prompt = replace_lone_surrogates(request.system_prompt)
            text += f"{dumps({'role': 'system', 'content': prompt})},"
        return text.encode()


def _tool(tool: ToolDefinition) -> dict[str, object]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.input_schema),
    }
    return {"type": "function", "function": function}
