"""Encoding requests of the Responses API. The server keeps nothing: each one tells it all."""

from collections.abc import Sequence

from agentslot._json import dumps, replace_lone_surrogates
from agentslot.model.contract import ModelRequest
from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.model.wire import WireRequest
from agentslot.model.wires.attachments import Attachments, Media, attachments_in
from agentslot.model.wires.caching import CacheRetention
from agentslot.model.wires.callids import CallIds
from agentslot.model.wires.openai_responses.messages import CALL_ID, ItemEncoder
from agentslot.model.wires.openai_responses.settings import ResponsesSettings
from agentslot.model.wires.outputschema import (
    native_output,
    openai_format,
    openai_parameters,
    output_tool,
)
from agentslot.model.wires.prefix import EncodedPrefix, PerConversation, ToolsText
from agentslot.model.wires.reading import JsonObject
from agentslot.session import AttachmentPart, ModelConfig, Reasoning, ToolDefinition

_MAX_CACHE_KEY = 64
_NOTHING_SAID = b'{"role":"user","content":[{"type":"input_text","text":"Continue."}]},'
_END = b"]}"


class RequestEncoder:
    """Encodes requests for one server."""

    def __init__(self, settings: ResponsesSettings) -> None:
        self._settings = settings
        self._conversations = PerConversation(_Conversation)
        self._tools = ToolsText(_tool)

    def encode(self, request: ModelRequest, media: Media) -> WireRequest:
        """Build the request.

        Args:
            request: what to ask.
            media: what attachments can be shown of it; see Wire.

        Raises:
            ModelError: it asks for stop sequences, which the API does not know
                (`request_rejected`).
        """
        config, known = request.config, self._conversations.of(request)
        if config.stop_sequences:
            raise _no_stop_sequences()
        attachments = Attachments(media)
        encoder = ItemEncoder(config.provider, config.model, attachments, known.ids)
        turns = known.prefix.extend(request.inputs, encoder.encode, attachments.fill)
        head = self._head(request)
        body = turns.join(head, _END) if turns else head + _NOTHING_SAID[:-1] + _END
        return WireRequest(
            "/responses",
            body,
            stable=len(body) - len(_END) if turns else len(head),
            turns=turns.digests,
            cache_seconds=self._settings.cache.seconds,
        )

    def new_attachments(self, request: ModelRequest) -> Sequence[AttachmentPart]:
        """The attachments that encoding the request would show; see Wire."""
        return attachments_in(self._conversations.of(request).prefix.fresh(request.inputs))

    def _head(self, request: ModelRequest) -> bytes:
        config, settings = request.config, self._settings
        head: JsonObject = {"model": config.model, "stream": True, "store": False}
        if settings.reasons(config.model):
            head.update(self._reasoning(config))
        if config.max_tokens is not None:
            head["max_output_tokens"] = config.max_tokens
        if config.temperature is not None:
            head["temperature"] = config.temperature
        if settings.service_tier:
            head["service_tier"] = settings.service_tier
        if settings.cache is not CacheRetention.NONE:
            head["prompt_cache_key"] = request.session_id[:_MAX_CACHE_KEY]
        if settings.cache is CacheRetention.LONG:
            head["prompt_cache_retention"] = "24h"
        if output := native_output(request):
            head["text"] = {"format": {"type": "json_schema", **openai_format(output)}}
        elif output_tool(request):
            head["tool_choice"] = "required"
        if request.system_prompt and request.system_prompt.strip():
            head["instructions"] = replace_lone_surrogates(request.system_prompt)
        tools = f',"tools":{self._tools.of(request.tools)}' if request.tools else ""
        return f'{dumps(head)[:-1]}{tools},"input":['.encode()

    def _reasoning(self, config: ModelConfig) -> JsonObject:
        asked: JsonObject = {}
        if config.reasoning is not Reasoning.DEFAULT:
            asked["effort"] = config.reasoning.value
        if self._settings.summary:
            asked["summary"] = self._settings.summary
        wanted_back: JsonObject = {"include": ["reasoning.encrypted_content"]}
        return {**wanted_back, "reasoning": asked} if asked else wanted_back


class _Conversation:
    def __init__(self) -> None:
        self.ids = CallIds(CALL_ID)
        self.prefix: EncodedPrefix[None] = EncodedPrefix(None)


def _no_stop_sequences() -> ModelError:
    return ModelError(
        ModelErrorCode.REQUEST_REJECTED,
        "the Responses API knows no stop sequences: take them out of the ModelConfig, or ask the"
        " model through OpenAICompatibleModule",
    )


def _tool(tool: ToolDefinition) -> dict[str, object]:
    strict = openai_parameters(tool)
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": strict or dict(tool.input_schema),
        "strict": strict is not None,  # the default is true, which allows only some schemas
    }
