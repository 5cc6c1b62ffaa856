"""Encoding requests: only what is new in a conversation is encoded, the rest is bytes already."""

from collections.abc import Sequence

from agentslot._json import JsonValue, dumps, replace_lone_surrogates
from agentslot.model.contract import ModelRequest
from agentslot.model.wire import WireRequest
from agentslot.model.wires.attachments import Attachments, Media, attachments_in
from agentslot.model.wires.google_generative_ai.contents import (
    MEDIA_TYPES,
    ContentEncoder,
    user_content,
)
from agentslot.model.wires.google_generative_ai.names import function_name
from agentslot.model.wires.google_generative_ai.place import VertexProject, path_of
from agentslot.model.wires.google_generative_ai.schema import translate
from agentslot.model.wires.google_generative_ai.settings import GoogleSettings
from agentslot.model.wires.outputschema import native_output, output_tool, schema_of
from agentslot.model.wires.prefix import EncodedPrefix, PerConversation, ToolsText
from agentslot.model.wires.reading import JsonObject
from agentslot.session import AttachmentPart, Role, ToolDefinition

_END = b"]}"


class RequestEncoder:
    """Encodes requests for one server. The contents come last, so that all before them repeats."""

    def __init__(self, settings: GoogleSettings, vertex: VertexProject | None) -> None:
        self._settings = settings
        self._vertex = vertex
        self._prefixes: PerConversation[EncodedPrefix[Role | None]] = PerConversation(
            lambda: EncodedPrefix(None)
        )
        self._tools = ToolsText(_declaration)

    def encode(self, request: ModelRequest, media: Media) -> WireRequest:
        """Build the request.

        Args:
            request: what to ask.
            media: what attachments can be shown of it; see Wire.
        """
        config, settings = request.config, self._settings
        signed = settings.family_of(config.model).signed_calls
        attachments = Attachments(media, MEDIA_TYPES)
        encoder = ContentEncoder(
            config.provider,
            config.model,
            attachments,
            settings.unsigned_call if signed else "",
        )
        turns = self._prefixes.of(request).extend(request.inputs, encoder.encode, attachments.fill)
        path = path_of(config.model, settings.api_version, self._vertex)
        kept = self._kept(request)
        before = b"".join((kept, self._settings_of(request), b'"contents":['))
        if turns.state is Role.USER:
            end, cut = _END, 1
        else:
            # Models refuse to go on with their own content, so someone must speak last.
            end, cut = user_content("Continue.").encode()[:-1] + _END, 0
        body = turns.join(before, end, cut=cut)
        stable, head = len(body) - len(end), len(kept)
        return WireRequest(path, body, stable=stable, turns=turns.digests, head=head)

    def new_attachments(self, request: ModelRequest) -> Sequence[AttachmentPart]:
        """The attachments that encoding the request would show; see Wire."""
        return attachments_in(self._prefixes.of(request).fresh(request.inputs), MEDIA_TYPES)

    def _kept(self, request: ModelRequest) -> bytes:
        """The beginning of the body: what the server can also keep under a name."""
        members = list[str]()
        if request.system_prompt and request.system_prompt.strip():
            parts = [{"text": replace_lone_surrogates(request.system_prompt)}]
            members.append(f'"systemInstruction":{dumps({"parts": parts})}')
        if request.tools:
            declarations = self._tools.of(request.tools)
            members.append(f'"tools":[{{"functionDeclarations":{declarations}}}]')
        if output_tool(request):
            members.append('"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}')
        return f"{{{_written(members)}".encode()

    def _settings_of(self, request: ModelRequest) -> bytes:
        config, members = request.config, list[str]()
        generation: JsonObject = {}
        if config.max_tokens is not None:
            generation["maxOutputTokens"] = config.max_tokens
        if config.temperature is not None:
            generation["temperature"] = config.temperature
        if config.stop_sequences:
            generation["stopSequences"] = list[JsonValue](config.stop_sequences)
        family = self._settings.family_of(config.model)
        if thinking := family.thinking(config.reasoning, show=self._settings.show_thoughts):
            generation["thinkingConfig"] = thinking
        if output := native_output(request):
            generation["responseMimeType"] = "application/json"
            generation["responseJsonSchema"] = translate(schema_of(output))
        if self._settings.service_tier:
            members.append(f'"serviceTier":{dumps(self._settings.service_tier)}')
        if generation:
            members.append(f'"generationConfig":{dumps(generation)}')
        return _written(members).encode()


def _written(members: list[str]) -> str:
    return "".join(f"{member}," for member in members)


def _declaration(tool: ToolDefinition) -> dict[str, object]:
    return {
        "name": function_name(tool.name),
        "description": tool.description,
        "parametersJsonSchema": translate(tool.input_schema),
    }
