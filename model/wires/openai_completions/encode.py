"""Encoding requests: only what is new in a conversation is encoded, the rest is bytes already."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

from agentslot._json import dumps
from agentslot.model.contract import ModelRequest
from agentslot.model.transcript import Ledger, Transcript
from agentslot.model.turns import read_turns
from agentslot.model.wires.openai_completions.messages import MessageEncoder
from agentslot.model.wires.openai_completions.profile import CompatibilityProfile
from agentslot.session import Reasoning, ToolDefinition

_MAX_CACHE_KEY = 64


class _Prefix:
    """The encoded messages of the finished turns of one conversation, each with a comma behind."""

    __slots__ = ("_after_tool", "_ends", "_inputs", "data")

    def __init__(self) -> None:
        self.data = bytearray()
        self._inputs = [0]  # inputs used up, per finished turn
        self._ends = [0]  # length of `data`, per finished turn
        self._after_tool = [False]

    def extend(self, inputs: Transcript, encoder: MessageEncoder) -> tuple[int, bytes]:
        """Bring the prefix up to `inputs`: how much of it they use, and the bytes behind it."""
        known = bisect_right(self._inputs, len(inputs)) - 1
        newest = known == len(self._inputs) - 1
        size, after_tool = self._ends[known], self._after_tool[known]
        tail = bytearray()
        for turn in read_turns(inputs, self._inputs[known]):
            encoded, after_tool = encoder.encode(turn, after_tool=after_tool)
            if newest and turn.final and not tail:
                self.data += encoded
                self._inputs.append(turn.end)
                self._ends.append(len(self.data))
                self._after_tool.append(after_tool)
                size = len(self.data)
            else:
                tail += encoded
        return size, bytes(tail)


class RequestEncoder:
    """Encodes requests for one server and one profile."""

    def __init__(self, profile: CompatibilityProfile) -> None:
        self._profile = profile
        self._prefixes: WeakKeyDictionary[Ledger, dict[tuple[str, str], _Prefix]] = (
            WeakKeyDictionary()
        )
        self._tools: tuple[Sequence[ToolDefinition], str] = ((), "")

    def encode(self, request: ModelRequest, images: Mapping[str, bytes]) -> bytes:
        """The exact body of a request.

        Args:
            request: what to ask.
            images: content of image artifacts by id; others appear as a line of text.
        """
        config = request.config
        models = self._prefixes.setdefault(request.inputs.ledger, {})
        prefix = models.setdefault((config.provider, config.model), _Prefix())
        encoder = MessageEncoder(self._profile, config.provider, config.model, images)
        size, tail = prefix.extend(request.inputs, encoder)
        head = self._head(request) + encoder.system(request.system_prompt)
        with memoryview(prefix.data) as data:
            # Every message has a comma behind it, and the last one must not. Copied only once.
            if tail:
                return b"".join((head, data[:size], tail[:-1], b"]}"))
            if size:
                return b"".join((head, data[: size - 1], b"]}"))
        return head.removesuffix(b",") + b"]}"

    def _head(self, request: ModelRequest) -> bytes:
        config, profile = request.config, self._profile
        head: dict[str, object] = {"model": config.model, "stream": True}
        if profile.stream_options:
            head["stream_options"] = {"include_usage": True}
        if config.max_tokens is not None:
            head[profile.max_tokens_field] = config.max_tokens
        if config.temperature is not None:
            head["temperature"] = config.temperature
        if config.reasoning is not Reasoning.DEFAULT and profile.reasoning_effort:
            head["reasoning_effort"] = config.reasoning.value
        if profile.store:
            head["store"] = False
        if profile.prompt_cache_key:
            head["prompt_cache_key"] = request.session_id[:_MAX_CACHE_KEY]
        tools = f',"tools":{self._tools_text(request.tools)}' if request.tools else ""
        return f'{dumps(head)[:-1]}{tools},"messages":['.encode()

    def _tools_text(self, tools: Sequence[ToolDefinition]) -> str:
        """Tool definitions as JSON; the same ones are written once."""
        known, text = self._tools
        if len(known) != len(tools) or any(
            a is not b and a != b for a, b in zip(known, tools, strict=True)
        ):
            text = dumps([_tool(tool) for tool in tools])
        self._tools = (tools, text)
        return text


def _tool(tool: ToolDefinition) -> dict[str, object]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.input_schema),
    }
    return {"type": "function", "function": function}
