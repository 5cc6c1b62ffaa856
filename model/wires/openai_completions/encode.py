"""Encoding requests: only what is new in a conversation is encoded, the rest is bytes already."""

from collections.abc import Sequence

from agentslot._json import dumps
from agentslot.model.contract import ModelRequest
from agentslot.model.wire import WireRequest
from agentslot.model.wires.attachments import Attachments, Media, attachments_in
from agentslot.model.wires.caching import CacheRetention
from agentslot.model.wires.openai_completions.effort import asked_thinking
from agentslot.model.wires.openai_completions.messages import MEDIA_TYPES, Ending, MessageEncoder
from agentslot.model.wires.openai_completions.profile import CompatibilityProfile
from agentslot.model.wires.outputschema import (
    native_output,
    openai_format,
    openai_parameters,
    output_tool,
)
from agentslot.model.wires.prefix import EncodedPrefix, MarkedTools, PerConversation
from agentslot.model.wires.reading import JsonObject
from agentslot.session import AttachmentPart, ToolDefinition

_MAX_CACHE_KEY = 64
_CONTINUE = '{"role":"user","content":"Continue."}'
_CONTINUE_MARKED = '{"role":"user","content":[{"type":"text","text":"Continue."'
_CACHE_MARKS: dict[CacheRetention, JsonObject] = {
    CacheRetention.SHORT: {"type": "ephemeral"},
    CacheRetention.LONG: {"type": "ephemeral", "ttl": "1h"},
}
_END = "]}"
_BLOCK_END = "}]},"
_PATH = "/chat/completions"


class RequestEncoder:
    """Encodes requests for one server and one profile.

    Where the profile has marks, three of them end what is cached: behind the tools that every
    request has, the system prompt and the last text of the conversation, with which it moves on.
    """

    def __init__(
        self,
        profile: CompatibilityProfile,
        service_tier: str | None = None,
        cache: CacheRetention = CacheRetention.SHORT,
    ) -> None:
        self._cache = profile.retention(cache)
        self._cache_mark = _CACHE_MARKS.get(self._cache) if profile.cache_control else None
        self._mark = f',"cache_control":{dumps(self._cache_mark)}' if self._cache_mark else ""
        self._profile = profile
        self._last = ("user", "tool", *(["assistant"] if profile.assistant_last else []))
        self._service_tier = service_tier
        self._prefixes = PerConversation(lambda: EncodedPrefix(Ending()))
        self._tools = MarkedTools(_strict_tool if profile.strict_tools else _tool, self._mark)

    def encode(self, request: ModelRequest, media: Media) -> WireRequest:
        """Build the request.

        Args:
            request: what to ask.
            media: what attachments can be shown of it; see Wire.
        """
        config = request.config
        attachments = Attachments(media, MEDIA_TYPES)
        encoder = MessageEncoder(
            self._profile, config.provider, config.model, attachments, bool(self._mark)
        )
        turns = self._prefixes.of(request).extend(request.inputs, encoder.encode, attachments.fill)
        head = self._head(request) + encoder.system(request.system_prompt, self._cache_mark)
        last, cut = self._end(turns.state)
        body = turns.join(head, last, cut=cut)
        return WireRequest(
            _PATH,
            body,
            stable=len(body) - len(last),
            turns=turns.digests,
            cache_seconds=self._cache.seconds,
        )

    def new_attachments(self, request: ModelRequest) -> Sequence[AttachmentPart]:
        """The attachments that encoding the request would show; see Wire."""
        new = self._prefixes.of(request).fresh(request.inputs)
        return attachments_in(new, MEDIA_TYPES)

    def _end(self, ending: Ending) -> tuple[bytes, int]:
        """What stands behind the turns, and how many of their last bytes it takes the place of."""
        marked = f"{self._mark}{_BLOCK_END[:-1]}{_END}"
        if ending.role not in self._last:
            words = _CONTINUE_MARKED + marked if self._mark else _CONTINUE + _END
            return words.encode(), 0
        if self._mark and ending.markable:
            return marked.encode(), len(_BLOCK_END)
        return _END.encode(), 1

    def _head(self, request: ModelRequest) -> bytes:
        config, profile = request.config, self._profile
        head: dict[str, object] = {"model": config.model, "stream": True}
        if profile.stream_options:
            head["stream_options"] = {"include_usage": True}
        if config.max_tokens is not None:
            head[profile.max_tokens_field] = config.max_tokens
        if config.temperature is not None:
            head["temperature"] = config.temperature
        if config.stop_sequences:
            head["stop"] = list(config.stop_sequences)
        head.update(asked_thinking(profile, config))
        if self._service_tier:
            head["service_tier"] = self._service_tier
        if profile.store:
            head["store"] = False
        if profile.prompt_cache_key and self._cache is not CacheRetention.NONE:
            head["prompt_cache_key"] = request.session_id[:_MAX_CACHE_KEY]
        if output := native_output(request):
            head["response_format"] = {"type": "json_schema", "json_schema": openai_format(output)}
        elif profile.forced_calls and output_tool(request):
            head["tool_choice"] = "required"
        tools = f',"tools":{self._tools.of(request)}' if request.tools else ""
        return f'{dumps(head)[:-1]}{tools},"messages":['.encode()


def _tool(tool: ToolDefinition, strict: JsonObject | None = None) -> dict[str, object]:
    function: dict[str, object] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": strict or dict(tool.input_schema),
    }
    if strict:
        function["strict"] = True
    return {"type": "function", "function": function}


def _strict_tool(tool: ToolDefinition) -> dict[str, object]:
    return _tool(tool, openai_parameters(tool))
