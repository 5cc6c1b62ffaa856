"""Encoding requests, with the marks that say how far the server should cache."""

from collections.abc import Mapping, Sequence

from agentslot._json import JsonValue, dumps, replace_lone_surrogates
from agentslot.model.contract import ModelRequest
from agentslot.model.wire import WireRequest
from agentslot.model.wires.anthropic_messages.messages import (
    CALL_ID,
    Ending,
    MessageEncoder,
    user_message,
)
from agentslot.model.wires.anthropic_messages.settings import AnthropicSettings, ThinkingStyle
from agentslot.model.wires.attachments import Attachments, Media, attachments_in
from agentslot.model.wires.caching import CacheRetention
from agentslot.model.wires.callids import CallIds
from agentslot.model.wires.outputschema import (
    anthropic_format,
    anthropic_parameters,
    native_output,
    output_tool,
)
from agentslot.model.wires.prefix import EncodedPrefix, MarkedTools, PerConversation
from agentslot.model.wires.reading import JsonObject, as_object
from agentslot.session import AttachmentPart, ModelConfig, Reasoning, Role, ToolDefinition

_MARKS = {
    CacheRetention.NONE: "",
    CacheRetention.SHORT: ',"cache_control":{"type":"ephemeral"}',
    CacheRetention.LONG: ',"cache_control":{"type":"ephemeral","ttl":"1h"}',
}
_LAST_BLOCK_END = "}]},"
_PATH = "/v1/messages"
_MIN_BUDGET = 1_024


class RequestEncoder:
    """Encodes requests for one server.

    Three marks end what is cached: behind the tools that every request has, the system prompt and
    the last block of the conversation. The third one moves on with each request, so that the next
    finds all before it cached; it is put behind bytes that stay the same.
    """

    def __init__(self, settings: AnthropicSettings, max_output: Mapping[str, int]) -> None:
        """Take the settings, and the largest output of each model that has a known one."""
        self._settings = settings
        self._max_output = max_output
        self._mark = _MARKS[settings.cache]
        self._conversations = PerConversation(_Conversation)
        write = _strict_tool if settings.strict_tools else _tool
        self._tools = MarkedTools(write, self._mark)
        self._headers = {"anthropic-version": settings.api_version}
        if settings.betas:
            self._headers["anthropic-beta"] = ",".join(settings.betas)

    def encode(self, request: ModelRequest, media: Media) -> WireRequest:
        """Build the request.

        Args:
            request: what to ask.
            media: what attachments can be shown of it; see Wire.
        """
        config, known = request.config, self._conversations.of(request)
        attachments = Attachments(media)
        encoder = MessageEncoder(config.provider, config.model, attachments, known.ids)
        turns = known.prefix.extend(request.inputs, encoder.encode, attachments.fill)
        end = f"{self._mark}{_LAST_BLOCK_END[:-1]}]}}".encode()
        limit = self._output_limit(config)
        head = self._head(request, limit, turns.state)
        if turns.state.last is Role.USER:
            body = turns.join(head, end, cut=len(_LAST_BLOCK_END))
            stable = len(body) - len(end)
        else:
            # Models refuse to go on with their own message, so someone must speak last.
            last = user_message("Continue.").removesuffix(_LAST_BLOCK_END).encode()
            body = turns.join(head, last + end, cut=0)
            stable = len(body) - len(last + end)
        seconds = self._settings.cache.seconds
        return WireRequest(_PATH, body, stable, self._headers, limit, turns.digests, seconds)

    def new_attachments(self, request: ModelRequest) -> Sequence[AttachmentPart]:
        """The attachments that encoding the request would show; see Wire."""
        return attachments_in(self._conversations.of(request).prefix.fresh(request.inputs))

    def _output_limit(self, config: ModelConfig) -> int:
        limit = config.max_tokens or self._settings.output_limit(config.model)
        return min(limit, self._max_output.get(config.model) or limit)

    def _head(self, request: ModelRequest, limit: int, ending: Ending) -> bytes:
        config = request.config
        head: JsonObject = {"model": config.model, "max_tokens": limit, "stream": True}
        thinking = self._thinking(config, limit, ending)
        if config.temperature is not None and self._settings.takes_temperature and not thinking:
            head["temperature"] = config.temperature
        if config.stop_sequences:
            head["stop_sequences"] = list[JsonValue](config.stop_sequences)
        head.update(thinking)
        if self._settings.service_tier:
            head["service_tier"] = self._settings.service_tier
        if output := native_output(request):
            asked = as_object(head.get("output_config"))
            head["output_config"] = {**asked, "format": anthropic_format(output)}
        elif output_tool(request) and not thinking:  # a model that thinks may not be forced
            head["tool_choice"] = {"type": "any"}
        text = dumps(head)[:-1]
        if request.tools:
            text += f',"tools":{self._tools.of(request)}'
        if request.system_prompt and request.system_prompt.strip():
            prompt = dumps({"type": "text", "text": replace_lone_surrogates(request.system_prompt)})
            text += f',"system":[{prompt[:-1]}{self._mark}}}]'
        return f'{text},"messages":['.encode()

    def _thinking(self, config: ModelConfig, limit: int, ending: Ending) -> JsonObject:
        """The members that ask for thinking; none if nothing is asked for."""
        settings, effort = self._settings, config.reasoning
        style = settings.thinking_style(config.model)
        options: JsonObject = {}
        if settings.thinking_display:
            options["display"] = settings.thinking_display
        if settings.prefix_mismatch:
            options["block_binding"] = {"prefix_mismatch_behavior": settings.prefix_mismatch}
        if style is ThinkingStyle.EFFORT and (options or effort is not Reasoning.DEFAULT):
            asked: JsonObject = {"thinking": {"type": "adaptive", **options}}
            if effort is not Reasoning.DEFAULT:
                asked["output_config"] = {"effort": effort.value}
            return asked
        if style is ThinkingStyle.BUDGET and effort in settings.thinking_budgets:
            if limit <= _MIN_BUDGET or ending.bars_thinking:
                return {}  # no room, since the budget must be less than the limit; or no place
            budget = max(_MIN_BUDGET, min(settings.thinking_budgets[effort], limit // 2))
            return {"thinking": {"type": "enabled", "budget_tokens": budget, **options}}
        return {}


class _Conversation:
    def __init__(self) -> None:
        self.ids = CallIds(CALL_ID)
        self.prefix = EncodedPrefix(Ending())


def _tool(tool: ToolDefinition) -> dict[str, object]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": dict(tool.input_schema),
    }


def _strict_tool(tool: ToolDefinition) -> dict[str, object]:
    schema = anthropic_parameters(tool)
    return {**_tool(tool), "input_schema": schema, "strict": True} if schema else _tool(tool)
